/* SPDX-License-Identifier: MIT
 *
 * chain_export.h - a session in every other tool's format; what is a folder of files goes below `folder`.
 */
#ifndef PT_TESTS_CHAIN_EXPORT_H
#define PT_TESTS_CHAIN_EXPORT_H

#include "model/session.h"

void chain_export_all(struct pt_session *session, const char *folder);
/* Any number chooses one of them, with or without what is off CPU. */
void chain_export_one(struct pt_session *session, const char *folder, pt_u32 which);

#endif

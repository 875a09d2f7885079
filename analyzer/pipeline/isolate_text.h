/* SPDX-License-Identifier: MIT
 *
 * isolate_text.h - the document that the stages get: the user's with a few values replaced, byte for byte otherwise.
 */
#ifndef PT_PIPELINE_ISOLATE_TEXT_H
#define PT_PIPELINE_ISOLATE_TEXT_H

#include "config.h"

int pt_isolate_text(const struct pt_config *config, struct pt_str *out, struct pt_error *err);

#endif

/* SPDX-License-Identifier: MIT
 *
 * resources.h - the table of sampled resources by stage.
 */
#ifndef PT_REPORT_BUILD_RESOURCES_H
#define PT_REPORT_BUILD_RESOURCES_H

#include "state.h"

void pt_build_resources(const struct pt_build *b);

#endif

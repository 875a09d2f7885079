/* SPDX-License-Identifier: MIT
 *
 * junit.h - the result of a check as JUnit XML: what is worse fails, what nobody can tell is skipped.
 */
#ifndef PT_REGRESSION_JUNIT_H
#define PT_REGRESSION_JUNIT_H

#include "report/doc/doc.h"
#include "util/str.h"

void pt_check_junit(const struct pt_doc *doc, struct pt_str *out);

#endif

/* SPDX-License-Identifier: MIT
 *
 * show_check.h - the result of a check in each of its forms, and that of a pipeline that checks itself.
 */
#ifndef PT_CMD_COMPARISON_SHOW_CHECK_H
#define PT_CMD_COMPARISON_SHOW_CHECK_H

#include "regression/check.h"
#include "util/error.h"
#include "util/str.h"

/* In the order of --format. */
enum pt_check_form { PT_CHECK_TEXT, PT_CHECK_JSON, PT_CHECK_MD, PT_CHECK_GITHUB, PT_CHECK_JUNIT };

/* Of a result with its document. `output` is where it goes: NULL = stdout. */
void pt_show_check(const struct pt_checked *checked, enum pt_check_form form, const char *output, struct pt_str *out);

/* A run against a baseline. Zeroed = empty. */
struct pt_self_check {
    int result;                     /* an exit code */
    struct pt_str verdict, md, all; /* one line; for a page; for stdout */
};

/* `baseline` is as pt_baseline_read returns it. -1: nothing is known, with its exit code. */
int pt_self_check(const cJSON *baseline, const char *run, bool for_github, struct pt_self_check *ret,
                  struct pt_error *err);
void pt_self_check_fini(struct pt_self_check *check);

#endif

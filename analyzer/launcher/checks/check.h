/* SPDX-License-Identifier: MIT
 *
 * checks/check.h - can this machine, this place and this command be traced? One row per question.
 */
#ifndef PT_LAUNCHER_CHECKS_CHECK_H
#define PT_LAUNCHER_CHECKS_CHECK_H

#include <stddef.h>

enum pt_check_status { PT_CHECK_OK, PT_CHECK_WARN, PT_CHECK_FAIL };

struct pt_check {
    const char *name;
    enum pt_check_status status;
    char detail[600];
    char remedy[300]; /* "" = nothing to do */
};

enum { PT_CHECKS_MAX = 24 };

struct pt_checks {
    struct pt_check list[PT_CHECKS_MAX];
    size_t n;
};

/* A new row that says OK; the caller fills the detail. */
struct pt_check *pt_check_add(struct pt_checks *checks, const char *name);
__attribute__((format(printf, 3, 4))) void pt_check_detail(struct pt_check *check, enum pt_check_status status,
                                                           const char *format, ...);

#endif

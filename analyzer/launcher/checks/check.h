/* SPDX-License-Identifier: MIT
 *
 * checks/check.h - can this machine, this place and this command be traced? One row per question.
 */
#ifndef PT_LAUNCHER_CHECKS_CHECK_H
#define PT_LAUNCHER_CHECKS_CHECK_H

#include <stddef.h>

enum pt_doctor_status { PT_DOCTOR_OK, PT_DOCTOR_WARN, PT_DOCTOR_FAIL };

struct pt_doctor_check {
    const char *name;
    enum pt_doctor_status status;
    char detail[600];
    char remedy[300]; /* "" = nothing to do */
};

enum { PT_DOCTOR_CHECKS_MAX = 24 };

struct pt_doctor_checks {
    struct pt_doctor_check list[PT_DOCTOR_CHECKS_MAX];
    size_t n;
};

/* A new row that says OK; the caller fills the detail. */
struct pt_doctor_check *pt_doctor_add(struct pt_doctor_checks *checks, const char *name);
__attribute__((format(printf, 3, 4))) void pt_doctor_detail(struct pt_doctor_check *check, enum pt_doctor_status status,
                                                            const char *format, ...);

#endif

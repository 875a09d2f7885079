/* SPDX-License-Identifier: MIT
 *
 * checks/check.c - Owns: the list of checks. Threads: main only. Never: grows beyond its size: one too many replaces
 * the last.
 */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>

struct pt_doctor_check *pt_doctor_add(struct pt_doctor_checks *checks, const char *name)
{
    struct pt_doctor_check *check =
        &checks->list[checks->n < PT_DOCTOR_CHECKS_MAX ? checks->n++ : PT_DOCTOR_CHECKS_MAX - 1];
    *check = (struct pt_doctor_check){.name = name};
    return check;
}

void pt_doctor_detail(struct pt_doctor_check *check, enum pt_doctor_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(check->detail, sizeof check->detail, format, arguments);
    va_end(arguments);
    check->status = status;
}

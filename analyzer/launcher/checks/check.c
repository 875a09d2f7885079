/* SPDX-License-Identifier: MIT
 *
 * checks/check.c - Owns: the list of checks. Threads: main only. Never: grows beyond its size: one too many replaces
 * the last.
 */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>

struct pt_check *pt_check_add(struct pt_checks *checks, const char *name)
{
    struct pt_check *check = &checks->list[checks->n < PT_CHECKS_MAX ? checks->n++ : PT_CHECKS_MAX - 1];
    *check = (struct pt_check){.name = name};
    return check;
}

void pt_check_detail(struct pt_check *check, enum pt_check_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(check->detail, sizeof check->detail, format, arguments);
    va_end(arguments);
    check->status = status;
}

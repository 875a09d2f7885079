/* SPDX-License-Identifier: MIT
 *
 * error.c - Owns: nothing; fills the caller's struct pt_error. Threads: any, each with its own error. Never: allocates,
 * exits.
 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 0))) static void set_text(struct pt_error *err, const char *format, va_list arguments)
{
    if (err)
        vsnprintf(err->text, sizeof err->text, format, arguments);
}

int pt_fail(struct pt_error *err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_text(err, format, arguments);
    va_end(arguments);
    return -1;
}

int pt_fail_code(struct pt_error *err, int exit_code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_text(err, format, arguments);
    va_end(arguments);
    if (err)
        err->exit_code = exit_code;
    return -1;
}

int pt_error_context(struct pt_error *err, const char *format, ...)
{
    if (!err)
        return -1;
    struct pt_error cause = *err;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    const size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, ": %s", cause.text);
    return -1;
}

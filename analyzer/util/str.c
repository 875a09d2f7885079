/* SPDX-License-Identifier: MIT
 *
 * str.c - Owns: the text's memory. Threads: one per text. Never: leaves it without its NUL.
 */
#include "str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

static void reserve(struct pt_str *str, size_t more)
{
    if (str->capacity - str->n > more)
        return;
    while (str->capacity - str->n <= more)
        str->capacity = str->capacity ? str->capacity * 2 : 64;
    str->text = pt_realloc(str->text, str->capacity);
}

void pt_str_bytes(struct pt_str *str, const char *bytes, size_t n)
{
    reserve(str, n);
    if (n)
        memcpy(str->text + str->n, bytes, n);
    str->n += n;
    str->text[str->n] = 0;
}

void pt_str_add(struct pt_str *str, const char *text)
{
    pt_str_bytes(str, text, strlen(text));
}

void pt_str_char(struct pt_str *str, char character)
{
    pt_str_bytes(str, &character, 1);
}

void pt_str_printf(struct pt_str *str, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (n > 0) {
        reserve(str, (size_t)n);
        vsnprintf(str->text + str->n, (size_t)n + 1, format, again);
        str->n += (size_t)n;
    }
    va_end(again);
}

void pt_str_clear(struct pt_str *str)
{
    str->n = 0;
    if (str->text)
        str->text[0] = 0;
}

void pt_str_fini(struct pt_str *str)
{
    free(str->text);
    *str = (struct pt_str){0};
}

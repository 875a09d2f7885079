/* SPDX-License-Identifier: MIT
 *
 * str.h - a growing text, always NUL-terminated once something was added. Zero-initialised = empty;
 * `PT_AUTO(pt_str_fini)`.
 */
#ifndef PT_UTIL_STR_H
#define PT_UTIL_STR_H

#include <stddef.h>

struct pt_str {
    char *text; /* NULL while empty: pt_str_text() never is */
    size_t n, capacity;
};

void pt_str_bytes(struct pt_str *str, const char *bytes, size_t n);
void pt_str_add(struct pt_str *str, const char *text);
void pt_str_char(struct pt_str *str, char character);
__attribute__((format(printf, 2, 3))) void pt_str_printf(struct pt_str *str, const char *format, ...);
void pt_str_clear(struct pt_str *str);
void pt_str_fini(struct pt_str *str);

static inline const char *pt_str_text(const struct pt_str *str)
{
    return str->text ? str->text : "";
}

#endif

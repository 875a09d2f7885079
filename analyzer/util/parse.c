/* SPDX-License-Identifier: MIT
 *
 * parse.c - Owns: how a typed value is read. Threads: any. Never: accepts a value that is followed by other text.
 */
#include "parse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int pt_parse_count(const char *text, pt_u64 *ret_count, struct pt_error *err)
{
    char *end;
    if (*text < '0' || *text > '9')
        return pt_fail_code(err, 2, "'%s' is not a number", text);
    const unsigned long long value = strtoull(text, &end, 10);
    if (*end || value == ~0ull)
        return pt_fail_code(err, 2, "'%s' is not a number", text);
    *ret_count = value;
    return 0;
}

/* A decimal number and its suffix; -1 where there is no number or it is negative. */
static int split_number(const char *text, double *ret_value, const char **ret_suffix)
{
    char *end;
    if ((*text < '0' || *text > '9') && *text != '.')
        return -1;
    *ret_value = strtod(text, &end);
    *ret_suffix = end;
    return end == text || !isfinite(*ret_value) ? -1 : 0;
}

int pt_parse_size(const char *text, pt_u64 *ret_bytes, struct pt_error *err)
{
    static const char letters[] = "KMGT";
    double value;
    const char *suffix;
    if (split_number(text, &value, &suffix) < 0)
        return pt_fail_code(err, 2, "'%s' is not a size (like 4096, 64K, 10MiB)", text);
    const char letter = *suffix >= 'a' && *suffix <= 'z' ? (char)(*suffix - 32) : *suffix;
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (found) {
        for (const char *step = letters; step <= found; step++)
            value *= 1024;
        suffix++;
        if (*suffix == 'i')
            suffix++;
    }
    if (*suffix == 'B' || *suffix == 'b')
        suffix++;
    if (*suffix || value >= 9.2e18)
        return pt_fail_code(err, 2, "'%s' is not a size (like 4096, 64K, 10MiB)", text);
    *ret_bytes = (pt_u64)value;
    return 0;
}

/* A number without a unit is so many of `plain_ns`. */
static int parse_time(const char *text, double plain_ns, const char *like, pt_i64 *ret_ns, struct pt_error *err)
{
    const struct {
        const char *suffix;
        double ns;
    } scales[] = {{"", plain_ns}, {"s", 1e9},    {"ms", 1e6},   {"us", 1e3},   {"ns", 1},
                  {"m", 60e9},    {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9}};
    double value;
    const char *suffix;
    if (split_number(text, &value, &suffix) == 0)
        for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++)
            if (!strcmp(suffix, scales[i].suffix) && value * scales[i].ns < 9.2e18) {
                *ret_ns = (pt_i64)llround(value * scales[i].ns);
                return 0;
            }
    return pt_fail_code(err, 2, "'%s' is not a duration (like %s)", text, like);
}

int pt_parse_duration(const char *text, pt_i64 *ret_ns, struct pt_error *err)
{
    return parse_time(text, 1e9, "1.5s, 20ms, 7us, 2m", ret_ns, err);
}

int pt_parse_milliseconds(const char *text, pt_i64 *ret_ns, struct pt_error *err)
{
    return parse_time(text, 1e6, "500, 12.5, 20ms, 2s", ret_ns, err);
}

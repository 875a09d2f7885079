/* SPDX-License-Identifier: MIT
 *
 * fmt.c - Owns: how units look to people. Threads: any. Never: used for what machines read: they get raw numbers.
 */
#include "fmt.h"

#include <inttypes.h>
#include <stdio.h>

/* Three significant digits: 1.23, 12.3, 123. */
static void three_digits(struct pt_fmt *out, double value, const char *unit)
{
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(out->text, sizeof out->text, "%.*f %s", decimals, value, unit);
}

struct pt_fmt pt_fmt_bytes(uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct pt_fmt out;
    if (bytes < 1024) {
        snprintf(out.text, sizeof out.text, "%" PRIu64 " B", bytes);
        return out;
    }
    double value = (double)bytes;
    int unit = 0;
    while (value >= 1023.5 && unit < 6) {
        value /= 1024;
        unit++;
    }
    three_digits(&out, value, units[unit]);
    return out;
}

struct pt_fmt pt_fmt_duration(int64_t ns)
{
    struct pt_fmt out;
    if (ns < 0) {
        const struct pt_fmt positive = pt_fmt_duration(ns == INT64_MIN ? INT64_MAX : -ns);
        snprintf(out.text, sizeof out.text, "-%.38s", positive.text);
        return out;
    }
    const int64_t half = 500000000, seconds = ns > INT64_MAX - half ? INT64_MAX / 1000000000 : (ns + half) / 1000000000;
    if (ns < 1000)
        snprintf(out.text, sizeof out.text, "%" PRId64 " ns", ns);
    else if (ns < 999500)
        three_digits(&out, (double)ns / 1e3, "us");
    else if (ns < 999500000)
        three_digits(&out, (double)ns / 1e6, "ms");
    else if (ns < 99500000000)
        three_digits(&out, (double)ns / 1e9, "s");
    else if (ns > INT64_MAX - half)
        three_digits(&out, (double)ns / 3600e9, "h");
    else if (seconds < 3600)
        snprintf(out.text, sizeof out.text, "%" PRId64 " m %02" PRId64 " s", seconds / 60, seconds % 60);
    else
        snprintf(out.text, sizeof out.text, "%" PRId64 " h %02" PRId64 " m", seconds / 3600, seconds / 60 % 60);
    return out;
}

struct pt_fmt pt_fmt_seconds(int64_t ns)
{
    struct pt_fmt out;
    const uint64_t absolute = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    snprintf(out.text, sizeof out.text, "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "", absolute / 1000000000,
             absolute % 1000000000);
    return out;
}

struct pt_fmt pt_fmt_count(uint64_t count)
{
    struct pt_fmt out;
    char digits[24];
    const int n = snprintf(digits, sizeof digits, "%" PRIu64, count);
    char *to = out.text;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return out;
}

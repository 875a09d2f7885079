/* SPDX-License-Identifier: MIT
 *
 * fmt.h - numbers for people: `printf("%s\n", pt_fmt_bytes(n).text)`. The text lives to the end of the full expression.
 */
#ifndef PT_UTIL_TEXT_FMT_H
#define PT_UTIL_TEXT_FMT_H

#include <stdint.h>

struct pt_fmt {
    char text[40];
};

struct pt_fmt pt_fmt_bytes(uint64_t bytes); /* 512 B, 1.50 KiB, 23.4 MiB */
struct pt_fmt pt_fmt_duration(int64_t ns);  /* 17 ns, 4.20 us, 3.50 ms, 1.25 s, 2 m 05 s, 1 h 02 m */
struct pt_fmt pt_fmt_seconds(int64_t ns);   /* 0.001234567: exact, as dump prints instants */
struct pt_fmt pt_fmt_count(uint64_t count); /* 1,234,567 */

#endif

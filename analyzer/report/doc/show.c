/* SPDX-License-Identifier: MIT
 *
 * Owns: how values look to people. Threads: any. Never: sanitises (that depends on the medium), changes a raw value.
 */
#include "show.h"

#include <math.h>
#include <stdio.h>

#include "util/whole.h"

#define MIB (1024.0 * 1024.0)

/* The reports of this family write MB and GB for binary units. */
static void compact_bytes(struct pt_str *out, double bytes)
{
    if (bytes >= 1024 * MIB)
        pt_str_printf(out, "%.1fGB", bytes / (1024 * MIB));
    else if (bytes >= MIB)
        pt_str_printf(out, "%.0fMB", bytes / MIB);
    else if (bytes >= 1024)
        pt_str_printf(out, "%.0fKB", bytes / 1024);
    else
        pt_str_printf(out, "%.0fB", bytes);
}

static void show_bytes(struct pt_str *out, double bytes, enum pt_show_style style)
{
    if (style == PT_STYLE_COMPACT)
        compact_bytes(out, bytes);
    else
        pt_str_add(out, pt_fmt_bytes(bytes > 0 ? pt_whole(bytes) : 0).text);
}

static void show_seconds(struct pt_str *out, double seconds, enum pt_show_style style)
{
    if (style == PT_STYLE_COMPACT && fabs(seconds) >= 1)
        pt_str_printf(out, "%.1fs", seconds);
    else
        pt_str_add(out, pt_fmt_duration((int64_t)llround(seconds * 1e9)).text);
}

static void show_percent(struct pt_str *out, double percent, enum pt_show_style style)
{
    if (style == PT_STYLE_COMPACT)
        pt_str_printf(out, "%.0f%%", percent);
    else
        pt_str_printf(out, percent < 10 ? "%.1f %%" : "%.0f %%", percent);
}

static void show_mib(struct pt_str *out, double mib, enum pt_show_style style)
{
    show_bytes(out, mib * MIB, style);
}

static void show_bytes_per_second(struct pt_str *out, double bytes, enum pt_show_style style)
{
    show_bytes(out, bytes, style);
    pt_str_add(out, "/s");
}

static void show_count(struct pt_str *out, double count, enum pt_show_style style)
{
    (void)style;
    pt_str_add(out, pt_fmt_count(count > 0 ? (uint64_t)llround(count) : 0).text);
}

/* A rate that "%g" would write as "5e-05". */
static void show_small(struct pt_str *out, double number)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%.9f", number);
    while (n > 2 && text[n - 1] == '0')
        n--;
    pt_str_bytes(out, text, (size_t)(text[n - 1] == '.' ? n - 1 : n));
}

/* Four digits are enough to read; JSON has all of them. An exponent is for who computes. */
static void show_plain(struct pt_str *out, double number, enum pt_show_style style)
{
    (void)style;
    const double size = fabs(number);
    if (size >= 1e-9 && size < 1e-4)
        show_small(out, number);
    else
        pt_str_printf(out, size < 9999.5 ? "%.4g" : "%.0f", number);
}

/* A slow training makes less than a step in a second. */
static void show_per_second(struct pt_str *out, double count, enum pt_show_style style)
{
    if (count < 100)
        show_plain(out, count, style);
    else
        show_count(out, count, style);
    pt_str_add(out, "/s");
}

static void show_number(struct pt_str *out, struct pt_cell cell, enum pt_show_style style)
{
    static void (*const shows[])(struct pt_str * out, double number, enum pt_show_style style) = {
        [PT_SHOW_COUNT] = show_count,
        [PT_SHOW_BYTES] = show_bytes,
        [PT_SHOW_SECONDS] = show_seconds,
        [PT_SHOW_PERCENT] = show_percent,
        [PT_SHOW_PER_SECOND] = show_per_second,
        [PT_SHOW_BYTES_PER_SECOND] = show_bytes_per_second,
        [PT_SHOW_NUMBER] = show_plain,
        [PT_SHOW_MIB] = show_mib,
        [PT_SHOW_TEXT] = show_plain,
        [PT_SHOW_BOOL] = show_plain,
    };
    const double number = pt_value_number(cell.value);
    const bool is_whole = cell.value.type == PT_VALUE_INTEGER;
    if (is_whole && shows[cell.show] == show_plain)
        pt_str_printf(out, "%.0f", number); /* a number of something: a pid */
    else if (cell.show == PT_SHOW_COUNT && (number < 0 || (!is_whole && number < 1e4)))
        show_plain(out, number, style); /* a mean, or a difference, of counts */
    else
        shows[cell.show](out, number, style);
}

void pt_show_value(struct pt_str *out, struct pt_cell cell, enum pt_show_style style)
{
    switch (cell.value.type) {
    case PT_VALUE_UNKNOWN:
        pt_str_add(out, style == PT_STYLE_COMPACT ? "n/a" : "-");
        break;
    case PT_VALUE_TEXT:
        pt_str_add(out, pt_value_label(cell.value));
        break;
    case PT_VALUE_BOOL:
        pt_str_add(out, cell.value.integer ? "yes" : "no");
        break;
    case PT_VALUE_INTEGER:
    case PT_VALUE_REAL:
        show_number(out, cell, style);
        break;
    }
}

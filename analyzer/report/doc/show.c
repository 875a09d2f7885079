/* SPDX-License-Identifier: MIT
 *
 * Owns: how values look to people. Threads: any. Never: sanitises (that depends on the medium), changes a raw value.
 */
#include "show.h"

#include <math.h>

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
        pt_str_add(out, pt_fmt_bytes(bytes > 0 ? (uint64_t)bytes : 0).text);
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

static void show_number(struct pt_str *out, const struct pt_node *node, enum pt_show_style style)
{
    const double number = pt_value_number(node->value);
    switch (node->show) {
    case PT_SHOW_BYTES:
        show_bytes(out, number, style);
        break;
    case PT_SHOW_MIB:
        show_bytes(out, number * MIB, style);
        break;
    case PT_SHOW_SECONDS:
        show_seconds(out, number, style);
        break;
    case PT_SHOW_PERCENT:
        show_percent(out, number, style);
        break;
    case PT_SHOW_BYTES_PER_SECOND:
        show_bytes(out, number, style);
        pt_str_add(out, "/s");
        break;
    case PT_SHOW_PER_SECOND:
        pt_str_printf(out, "%s/s", pt_fmt_count(number > 0 ? (uint64_t)llround(number) : 0).text);
        break;
    case PT_SHOW_COUNT:
        if (node->value.type == PT_VALUE_INTEGER && node->value.integer >= 0) {
            pt_str_add(out, pt_fmt_count((uint64_t)node->value.integer).text);
            break;
        }
        pt_str_printf(out, "%.6g", number);
        break;
    case PT_SHOW_NUMBER:
    case PT_SHOW_TEXT:
    case PT_SHOW_BOOL:
        /* JSON has all digits; nobody reads more than four. */
        pt_str_printf(out, node->value.type != PT_VALUE_REAL ? "%.10g" : fabs(number) < 1e4 ? "%.4g" : "%.0f", number);
        break;
    }
}

void pt_show_value(struct pt_str *out, const struct pt_node *node, enum pt_show_style style)
{
    switch (node->value.type) {
    case PT_VALUE_UNKNOWN:
        pt_str_add(out, style == PT_STYLE_COMPACT ? "n/a" : "-");
        break;
    case PT_VALUE_TEXT:
        pt_str_add(out, node->value.text);
        break;
    case PT_VALUE_BOOL:
        pt_str_add(out, node->value.integer ? "yes" : "no");
        break;
    case PT_VALUE_INTEGER:
    case PT_VALUE_REAL:
        show_number(out, node, style);
        break;
    }
}

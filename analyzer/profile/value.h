/* SPDX-License-Identifier: MIT
 *
 * value.h - one value of a report: known, or unknown with the reason; and what it is about.
 */
#ifndef PT_PROFILE_VALUE_H
#define PT_PROFILE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proftrace/types.h"

/* How a value is shown to people; the raw value is always in the base unit (seconds, bytes, plain counts). */
enum pt_show {
    PT_SHOW_COUNT,
    PT_SHOW_BYTES,
    PT_SHOW_SECONDS,
    PT_SHOW_PERCENT,
    PT_SHOW_PER_SECOND,
    PT_SHOW_BYTES_PER_SECOND,
    PT_SHOW_NUMBER,
    PT_SHOW_MIB,  /* raw value in MiB, as the report's *_mb_* keys carry it */
    PT_SHOW_TEXT, /* a name: may be hostile, renderers sanitise */
    PT_SHOW_CODE, /* a line of a source file: hostile, too; its indentation counts */
    PT_SHOW_BOOL,
    PT_SHOW_NOWHERE, /* of a column: for rules and for what builds reports; in none of them */
};

enum pt_value_type { PT_VALUE_UNKNOWN, PT_VALUE_INTEGER, PT_VALUE_REAL, PT_VALUE_TEXT, PT_VALUE_BOOL };

struct pt_value {
    enum pt_value_type type;
    union {
        pt_i64 integer; /* also BOOL */
        double real;
        const char *text; /* lives as long as the metrics or the session */
    };
    union {
        const char *reason; /* UNKNOWN: why; NULL = the absence says all */
        const char *label;  /* TEXT: how people read it; NULL = as it is */
    };
};

static inline struct pt_value pt_integer(pt_u64 integer)
{
    const pt_u64 largest = INT64_MAX;
    return (struct pt_value){.type = PT_VALUE_INTEGER, .integer = (pt_i64)(integer > largest ? largest : integer)};
}

static inline struct pt_value pt_unknown(const char *reason)
{
    return (struct pt_value){.type = PT_VALUE_UNKNOWN, .reason = reason};
}

/* Not a number and infinities become unknown: no report carries them. */
static inline struct pt_value pt_real(double real)
{
    if (!__builtin_isfinite(real))
        return pt_unknown("not a number");
    return (struct pt_value){.type = PT_VALUE_REAL, .real = real};
}

static inline struct pt_value pt_seconds(pt_i64 ns)
{
    return pt_real((double)ns / 1e9);
}

static inline struct pt_value pt_text(const char *text)
{
    return text ? (struct pt_value){.type = PT_VALUE_TEXT, .text = text} : pt_unknown(NULL);
}

/* A word of ours: an id for report.json, and a label for people. */
static inline struct pt_value pt_named(const char *id, const char *label)
{
    return (struct pt_value){.type = PT_VALUE_TEXT, .text = id, .label = label};
}

/* A text as people read it. */
static inline const char *pt_value_label(struct pt_value value)
{
    return value.label ? value.label : value.text;
}

static inline struct pt_value pt_bool(bool truth)
{
    return (struct pt_value){.type = PT_VALUE_BOOL, .integer = truth};
}

/* As a number; 0 when unknown or text. */
static inline double pt_value_number(struct pt_value value)
{
    if (value.type == PT_VALUE_REAL)
        return value.real;
    return value.type == PT_VALUE_INTEGER || value.type == PT_VALUE_BOOL ? (double)value.integer : 0;
}

struct pt_scope {
    enum pt_scope_kind { PT_SCOPE_RUN, PT_SCOPE_STAGE, PT_SCOPE_PROCESS } kind;
    pt_u32 index;
};

static inline struct pt_scope pt_scope_run(void)
{
    return (struct pt_scope){PT_SCOPE_RUN, 0};
}

static inline struct pt_scope pt_scope_stage(pt_u32 index)
{
    return (struct pt_scope){PT_SCOPE_STAGE, index};
}

static inline struct pt_scope pt_scope_process(pt_u32 index)
{
    return (struct pt_scope){PT_SCOPE_PROCESS, index};
}

#endif

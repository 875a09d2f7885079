/* SPDX-License-Identifier: MIT
 *
 * Owns: the units of figures. Threads: any.
 */
#include "show_figure.h"

#include <math.h>

#include "util/text/fmt.h"

static const char *text_of(struct pt_doc *doc, enum pt_figure_kind kind, double value)
{
    if (pt_figure_is_time(kind))
        return pt_doc_text(doc, pt_fmt_duration((int64_t)llround(value * 1e9)).text);
    if (kind == PT_FIGURE_BYTES)
        return pt_doc_text(doc, pt_fmt_bytes((uint64_t)value).text);
    return pt_doc_text(doc, pt_fmt_count((uint64_t)value).text);
}

struct pt_value pt_show_figure(struct pt_doc *doc, enum pt_figure_kind kind, double value)
{
    return (struct pt_value){.type = PT_VALUE_TEXT, .text = text_of(doc, kind, value)};
}

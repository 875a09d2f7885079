/* SPDX-License-Identifier: MIT
 *
 * Owns: the table of stages on the first screen, one line for each. Threads: any. Never: grows with the run: of very
 * many stages the longest are shown; wider than the line.
 */
#include "stages.h"

#include <math.h>
#include <stdlib.h>

#include "util/auto.h"
#include "util/mem.h"
#include "util/text/width.h"
#include "bar.h"
#include "cut.h"

enum { MOST_STAGES = 20, WIDEST_NAME = 24, NARROWEST_PARTS = 12, BAR = 14, MARGIN = 2 };

/* How wide each column is; 0 = it is not there. */
struct columns {
    pt_u32 name, time, share, bar, parts, peak, status;
};

/* "failed: exit 1"; the caller frees it. */
static char *whole_status(const struct pt_doc_stage *stage)
{
    const char *reason = pt_cell_text(stage->reason);
    return pt_asprintf("%s%s%s", stage->status, reason ? ": " : "", reason ? reason : "");
}

/* How much wider the last column has to be for the longest status that fits into `spare`. */
static pt_u32 wanted_by_status(const struct pt_doc *doc, pt_u32 width, pt_u32 spare)
{
    pt_u32 wanted = 0;
    for (size_t i = 0; i < doc->stages.n; i++) {
        PT_AUTO(pt_freep) char *status = whole_status(doc->stages.items[i]);
        const pt_u32 here = pt_text_width(status);
        if (!doc->stages.items[i]->was_skipped && here > width + wanted && here <= width + spare)
            wanted = here - width;
    }
    return wanted;
}

static struct columns columns_of(const struct pt_text_out *t, const struct pt_doc *doc)
{
    struct columns c = {.name = 5, .time = 8, .share = 5, .parts = 16, .peak = 8, .status = 8};
    for (size_t i = 0; i < doc->stages.n; i++) {
        const pt_u32 here = pt_text_width(doc->stages.items[i]->name);
        c.name = here > c.name ? here : c.name;
    }
    c.name = c.name > WIDEST_NAME ? WIDEST_NAME : c.name;
    const pt_u32 fixed = MARGIN + c.name + 2 + c.time + 2 + c.share + 2 + 2 + c.peak + 2 + c.status;
    if (fixed + c.parts > pt_text_line_width(t))
        c.parts = pt_text_line_width(t) > fixed + NARROWEST_PARTS ? pt_text_line_width(t) - fixed : NARROWEST_PARTS;
    pt_u32 spare = pt_text_line_width(t) > fixed + c.parts ? pt_text_line_width(t) - fixed - c.parts : 0;
    if (t->options->is_terminal && spare >= BAR + 2) {
        c.bar = BAR;
        spare -= BAR + 2;
    }
    const pt_u32 wanted = wanted_by_status(doc, c.status, spare);
    c.status += wanted;
    spare -= wanted;
    c.parts += spare > 20 ? 20 : spare;
    return c;
}

/* The last column: it has what is left of the line, and its own width where that is less. */
static void put_status(const struct pt_text_out *t, const char *status, pt_u32 used, const struct columns *c)
{
    pt_text_cut(t, status, pt_text_line_width(t) > used + c->status ? pt_text_line_width(t) - used : c->status, false);
    pt_text_end_line(t);
}

static void put_stage(const struct pt_text_out *t, const struct pt_doc_stage *stage, const struct columns *c)
{
    PT_AUTO(pt_freep) char *status = whole_status(stage);
    pt_text_spaces(t, MARGIN);
    pt_text_cut(t, stage->name, c->name, false);
    pt_text_spaces(t, 2);
    if (stage->was_skipped) {
        pt_text_spaces(t, c->time + 2 + c->share + 2);
        put_status(t, status, MARGIN + c->name + 2 + c->time + 2 + c->share + 2, c);
        return;
    }
    pt_text_cut_cell(t, stage->duration, c->time);
    pt_text_spaces(t, 2);
    pt_text_cut_share(t, stage->share_percent, c->share);
    pt_text_spaces(t, 2);
    if (c->bar) {
        pt_text_bar(t, &stage->time, c->bar);
        pt_text_spaces(t, 2);
    }
    pt_text_parts(t, &stage->time, c->parts);
    pt_text_spaces(t, 2);
    pt_text_cut_cell(t, stage->rss_max, c->peak);
    pt_text_spaces(t, 2);
    const pt_u32 used =
        MARGIN + c->name + 2 + c->time + 2 + c->share + 2 + (c->bar ? c->bar + 2 : 0) + c->parts + 2 + c->peak + 2;
    /* A reason that does not fit is in the verdict and among the failures; "faile..." would be no status. */
    const bool fits = used + pt_text_width(status) <= pt_text_line_width(t) || pt_text_width(status) <= c->status;
    put_status(t, fits ? status : stage->status, used, c);
}

static int by_duration(const void *a, const void *b)
{
    const struct pt_doc_stage *x = *(const struct pt_doc_stage *const *)a, *y = *(const struct pt_doc_stage *const *)b;
    const double x_s = pt_cell_number(x->duration), y_s = pt_cell_number(y->duration);
    if (isnan(x_s) != isnan(y_s))
        return isnan(x_s) ? 1 : -1;
    return x_s != y_s ? (x_s < y_s ? 1 : -1) : (x->index > y->index) - (x->index < y->index);
}

static int by_index(const void *a, const void *b)
{
    const struct pt_doc_stage *x = *(const struct pt_doc_stage *const *)a, *y = *(const struct pt_doc_stage *const *)b;
    return (x->index > y->index) - (x->index < y->index);
}

void pt_text_stages(const struct pt_text_out *t, const struct pt_doc *doc)
{
    const struct columns c = columns_of(t, doc);
    const struct pt_doc_stage **shown = pt_calloc(doc->stages.n, sizeof *shown);
    const size_t n = doc->stages.n < MOST_STAGES ? doc->stages.n : MOST_STAGES;
    for (size_t i = 0; i < doc->stages.n; i++)
        shown[i] = doc->stages.items[i];
    qsort(shown, doc->stages.n, sizeof *shown, by_duration);
    qsort(shown, n, sizeof *shown, by_index);
    pt_str_char(t->out, '\n');
    pt_text_spaces(t, MARGIN);
    pt_text_cut(t, "stage", c.name + 2, false);
    pt_text_cut(t, "time", c.time, true);
    pt_text_cut(t, "  share", c.share + 2, true);
    pt_text_spaces(t, 2);
    pt_text_cut(t, "where its time went", (c.bar ? c.bar + 2 : 0) + c.parts + 2, false);
    pt_text_cut(t, "peak", c.peak, true);
    pt_str_add(t->out, "  status\n");
    for (size_t i = 0; i < n; i++)
        put_stage(t, shown[i], &c);
    if (n < doc->stages.n)
        pt_str_printf(t->out, "  ... and %zu shorter ones\n", doc->stages.n - n);
    free(shown);
}

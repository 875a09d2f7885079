/* SPDX-License-Identifier: MIT
 *
 * Owns: what a report shows of a training in one line, as a bar and as values. Threads: one. Never: shows what phases
 * did not tell.
 */
#include "training.h"

#include <string.h>

#include "report/doc/show.h"
#include "util/auto.h"

static const struct {
    const char *metric, *label;
} parts[] = {
    {"training.data_s", "Data"},           {"training.forward_s", "Forward"}, {"training.backward_s", "Backward"},
    {"training.optimizer_s", "Optimizer"}, {"training.other_s", "Other"},
};
enum { N_PARTS = sizeof parts / sizeof *parts };
#define LEAST_UNEVEN 2.0
#define LEAST_VALIDATION_PERCENT 5

static struct pt_bar bar_of(const struct pt_build *b, const struct pt_doc_stage *stage)
{
    struct pt_bar bar = {
        .name = stage->name,
        .whole = "training passes",
        .length = pt_cell(PT_SHOW_SECONDS, pt_build_metric(b, stage->index, "training.total_s")),
        .parts = pt_arena_alloc(&b->doc->arena, N_PARTS * sizeof *bar.parts),
    };
    for (pt_u32 i = 0; i < N_PARTS; i++) {
        const double seconds = pt_value_number(pt_build_metric(b, stage->index, parts[i].metric));
        if (seconds > 0)
            bar.parts[bar.n_parts++] = (struct pt_bar_part){parts[i].label, seconds, i + 1};
    }
    return bar;
}

/* `plural`: what the words end with there. */
static void add_fact(struct pt_str *line, struct pt_value value, enum pt_show show, const char *words,
                     const char *plural)
{
    if (value.type == PT_VALUE_UNKNOWN)
        return;
    pt_str_add(line, line->n ? ", " : "");
    pt_show_value(line, pt_cell(show, value), PT_STYLE_TERMINAL);
    pt_str_printf(line, " %s%s", words, show == PT_SHOW_COUNT && pt_value_number(value) != 1 ? plural : "");
}

/* Where few steps take most of the time, the samples per second would not fit the median alone. */
static void end_median(struct pt_str *line, const struct pt_build *b, pt_u32 stage)
{
    const struct pt_value median = pt_build_metric(b, stage, "steps.p50_s"),
                          mean = pt_build_metric(b, stage, "steps.mean_s");
    if (median.type == PT_VALUE_UNKNOWN)
        return;
    if (pt_value_number(mean) > LEAST_UNEVEN * pt_value_number(median)) {
        pt_str_add(line, "; mean ");
        pt_show_value(line, pt_cell(PT_SHOW_SECONDS, mean), PT_STYLE_TERMINAL);
    }
    pt_str_add(line, ")");
}

/* It is in none of the shares of the steps. */
static void add_validation(struct pt_str *line, const struct pt_build *b, pt_u32 stage)
{
    if (!(pt_value_number(pt_build_metric(b, stage, "training.validation_percent")) >= LEAST_VALIDATION_PERCENT))
        return;
    pt_str_add(line, "; validation ");
    pt_show_value(line, pt_cell(PT_SHOW_SECONDS, pt_build_metric(b, stage, "training.validation_s")),
                  PT_STYLE_TERMINAL);
}

static const char *beside(const struct pt_build *b, pt_u32 stage)
{
    const struct pt_finding *one = pt_findings_of_rule(b->findings, (pt_i64)stage, "beside_the_steps");
    return one && one->place.function ? one->place.text : NULL;
}

/* Several batches make an optimizer step: they are not called steps, too. */
static bool accumulates(const struct pt_build *b, pt_u32 stage)
{
    const double updates = pt_value_number(pt_build_metric(b, stage, "training.optimizer_steps.count")) +
                           pt_value_number(pt_build_metric(b, stage, "training.skipped_steps.count"));
    return pt_value_number(pt_build_metric(b, stage, "training.accumulation.count")) > 1 &&
           pt_value_number(pt_build_metric(b, stage, "steps.count")) > updates;
}

void pt_build_training_line(const struct pt_build *b, struct pt_doc_stage *stage)
{
    static const struct {
        const char *metric, *words, *plural, *of_batches, *plural_of_batches;
        enum pt_show show;
    } facts[] = {
        {"steps.count", "step", "s", "batch", "es", PT_SHOW_COUNT},
        {"epochs.count", "epoch", "s", "epoch", "s", PT_SHOW_COUNT},
        {"steps.p50_s", "a step (median", "", "a batch (median", "", PT_SHOW_SECONDS},
    };
    const bool of_batches = accumulates(b, stage->index);
    PT_AUTO(pt_str_fini) struct pt_str line = {0};
    if (!pt_metrics_has(&b->profile->metrics, pt_scope_stage(stage->index), "training.total_s"))
        return;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        add_fact(&line, pt_build_metric(b, stage->index, facts[i].metric), facts[i].show,
                 of_batches ? facts[i].of_batches : facts[i].words,
                 of_batches ? facts[i].plural_of_batches : facts[i].plural);
    end_median(&line, b, stage->index);
    add_fact(&line, pt_build_metric(b, stage->index, "training.samples_per_s"), PT_SHOW_NUMBER, "samples/s", "");
    add_validation(&line, b, stage->index);
    stage->training = pt_doc_format(b->doc, "%s", pt_str_text(&line));
    stage->training_bar = bar_of(b, stage);
    stage->beside = beside(b, stage->index);
}

static void add(struct pt_doc_stage *stage, struct pt_panel *panel)
{
    panel->section = PT_SECTION_TRAINING;
    panel->is_open = true;
    pt_vec_push(&stage->panels, panel);
}

void pt_build_training(const struct pt_build *b, struct pt_doc_stage *stage)
{
    if (!stage->training)
        return;
    struct pt_panel *bars = pt_doc_panel(b->doc, PT_PANEL_BARS, "training_bars", "Where its steps go");
    bars->note = "Time of the host in passes that train: what it launches on a GPU may run later.";
    pt_vec_push(&bars->bars, stage->training_bar);
    add(stage, bars);
    struct pt_panel *lines = pt_doc_panel(b->doc, PT_PANEL_LINES, "training", "Training");
    for (const struct pt_metric_view *view = pt_metric_views; view->key; view++) {
        const struct pt_value value = pt_build_metric(b, stage->index, view->metric);
        const bool is_shown = value.type != PT_VALUE_UNKNOWN && pt_value_number(value) > 0;
        if (view->group == PT_GROUP_TRAINING && *view->label && is_shown)
            pt_doc_line(&lines->lines, view->key, view->label, view->show, value);
    }
    add(stage, lines);
}

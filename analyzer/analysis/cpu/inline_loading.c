/* SPDX-License-Identifier: MIT
 *
 * Owns: what loading costs a training that has no workers. Threads: one. Never: counts Python's own files as data, or
 * an import of a framework as training.
 */
#include "inline_loading.h"

#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/mem.h"

/* Less than this share of the main thread's samples in a framework is its import. */
#define LEAST_TRAINING_SHARE 0.05

enum { IN_DECODER = 1, IN_FRAMEWORK = 2 };

struct share {
    double all, decoder, framework; /* samples of the main thread */
};

/* A frame inherits from what called it: malloc in a decoder is decoding. */
static struct share share_of(const struct pt_cpu_view *view, pt_u32 thread)
{
    const struct pt_cpu_data *data = view->data;
    struct share share = {0};
    PT_AUTO(pt_freep) pt_u8 *nodes = pt_calloc(data->n_nodes, 1);
    for (size_t i = 1; i < data->n_nodes; i++) {
        const enum pt_code_kind code = view->code_of[data->nodes[i].module];
        const pt_u8 is_in = code == PT_CODE_DECODER ? IN_DECODER : code == PT_CODE_FRAMEWORK ? IN_FRAMEWORK : 0;
        nodes[i] = nodes[data->nodes[i].parent] | is_in;
    }
    for (size_t i = 0; i < data->n_counts; i++) {
        const struct pt_cpu_count *count = &data->counts[i];
        if (count->thread != thread)
            continue;
        share.all += (double)count->samples;
        share.decoder += nodes[count->node] & IN_DECODER ? (double)count->samples : 0;
        share.framework += nodes[count->node] == IN_FRAMEWORK ? (double)count->samples : 0;
    }
    return share;
}

/* Of files that come in numbers: what a program is made of does not. */
static double files_s(const struct pt_metrics *metrics, pt_u32 stage)
{
    static const char *const code[] = {".py", ".so", "/lib/", "/usr/", "/proc/", "/sys/", "/dev/"};
    const struct pt_table *table = pt_view_table(metrics, stage, PT_VIEW_file_groups);
    double s = 0;
    for (size_t i = 0; table && i < table->n_rows; i++) {
        const struct pt_value path = pt_table_cell(table, i, "path_group");
        bool is_data = path.type == PT_VALUE_TEXT;
        for (size_t j = 0; is_data && j < sizeof code / sizeof *code; j++)
            is_data = !strstr(path.text, code[j]);
        s += is_data ? pt_value_number(pt_table_cell(table, i, "total_s")) : 0;
    }
    return s;
}

void pt_loading(struct pt_profile *profile, pt_u32 stage, const struct pt_cpu_view *view, pt_u32 main_thread)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct share share = share_of(view, main_thread);
    const double wall_s = (double)pt_profile_stage_wall_ns(profile, stage) / 1e9;
    if (!main_thread || share.framework < LEAST_TRAINING_SHARE * share.all || share.all <= 0 || wall_s <= 0 ||
        pt_value_number(pt_metrics_get(metrics, scope, "helpers.workers.count")) > 0)
        return;
    const double decode_s = share.decoder * view->sample_s[main_thread], read_s = files_s(metrics, stage);
    pt_metrics_set(metrics, scope, "load.in_main.decode_s", pt_real(decode_s));
    pt_metrics_set(metrics, scope, "load.in_main.files_s", pt_real(read_s));
    pt_metrics_set(metrics, scope, "load.in_main.cost_s", pt_real(decode_s + read_s));
    pt_metrics_set(metrics, scope, "load.in_main.percent", pt_real(100 * (decode_s + read_s) / wall_s));
}

/* SPDX-License-Identifier: MIT
 *
 * Owns: which figures of a report are compared. Threads: any.
 */
#include "figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/run_document.h"

enum pt_figure_kind pt_figure_kind_of(const char *name)
{
    const size_t n = strlen(name);
    if (!strcmp(name, "wall_s"))
        return PT_FIGURE_WALL;
    if (!strcmp(name, "cpu_s"))
        return PT_FIGURE_CPU;
    if (!strcmp(name, "benchmark_s"))
        return PT_FIGURE_BENCHMARK;
    return n > 6 && !strcmp(name + n - 6, ".bytes") ? PT_FIGURE_BYTES : PT_FIGURE_COUNT;
}

static void add(cJSON *figures, const char *of, const char *what, double value)
{
    char name[100];
    snprintf(name, sizeof name, "%s%s", of, what);
    if (isfinite(value) && value >= 0 && !cJSON_GetObjectItemCaseSensitive(figures, name))
        cJSON_AddNumberToObject(figures, name, value);
}

static bool depends_on_time(const char *call)
{
    static const char *const begins[] = {"lock_", "wait_", "("};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (!strncmp(call, begins[i], strlen(begins[i])))
            return true;
    return false;
}

/* What arrives over a network arrives in as many pieces as somebody was late; how many bytes is the program's. */
static bool is_in_pieces(const char *call)
{
    return !strcmp(call, "net_receive");
}

/* The sum of a member over the rows of a table. */
static double sum(const cJSON *rows, const char *key)
{
    double all = 0;
    const cJSON *row;
    cJSON_ArrayForEach(row, rows)
    {
        const double value = pt_member_number(row, key);
        all += isfinite(value) ? value : 0;
    }
    return all;
}

static double count_processes(const cJSON *document, const char *stage)
{
    double n = 0;
    const cJSON *process;
    cJSON_ArrayForEach(process, cJSON_GetObjectItemCaseSensitive(document, "processes"))
    {
        const char *of = pt_member_text(process, "stage");
        n += of && stage && !strcmp(of, stage);
    }
    return n;
}

static void add_gpu(cJSON *figures, const cJSON *stage)
{
    const cJSON *gpu = cJSON_GetObjectItemCaseSensitive(stage, "gpu"), *device;
    double kernels = 0;
    cJSON_ArrayForEach(device, cJSON_GetObjectItemCaseSensitive(gpu, "devices"))
    {
        kernels += sum(cJSON_GetObjectItemCaseSensitive(device, "kernels"), "calls");
    }
    if (gpu)
        add(figures, "gpu.", "kernels", kernels);
}

cJSON *pt_figures_of(const cJSON *document, const cJSON *stage)
{
    cJSON *figures = cJSON_CreateObject();
    const cJSON *heap = cJSON_GetObjectItemCaseSensitive(stage, "heap"), *call;
    const cJSON *training = cJSON_GetObjectItemCaseSensitive(stage, "training");
    add(figures, "wall", "_s", pt_member_number(stage, "duration_s"));
    add(figures, "cpu", "_s", pt_member_number(stage, "cpu_s"));
    if (cJSON_GetObjectItemCaseSensitive(document, "processes"))
        add(figures, "", "processes", count_processes(document, pt_member_text(stage, "stage")));
    add(figures, "heap.", "allocations", pt_member_number(heap, "allocs"));
    add(figures, "heap.", "bytes", pt_member_number(heap, "bytes"));
    add(figures, "training.", "steps", pt_member_number(training, "steps"));
    if (training)
        add(figures, "training.", "samples", sum(cJSON_GetObjectItemCaseSensitive(training, "per_epoch"), "samples"));
    add_gpu(figures, stage);
    add(figures, "benchmark", "_s", pt_member_number(stage, "benchmark_s"));
    cJSON_ArrayForEach(call, cJSON_GetObjectItemCaseSensitive(stage, "calls"))
    {
        const char *name = pt_member_text(call, "call");
        if (!name || depends_on_time(name))
            continue;
        if (!is_in_pieces(name))
            add(figures, name, ".calls", pt_member_number(call, "calls"));
        if (pt_member_number(call, "bytes") > 0)
            add(figures, name, ".bytes", pt_member_number(call, "bytes"));
    }
    return figures;
}

/* SPDX-License-Identifier: MIT
 *
 * Owns: which figures of a report are compared. Threads: any.
 */
#include "figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "facts/call_class.h"
#include "model/layers.h"
#include "proftrace/events.h"
#include "report/run_document.h"
#include "util/text/path.h"

enum pt_figure_kind pt_figure_kind_of(const char *name)
{
    if (!strcmp(name, "wall_s"))
        return PT_FIGURE_WALL;
    if (!strcmp(name, "cpu_s"))
        return PT_FIGURE_CPU;
    if (!strcmp(name, "benchmark_s"))
        return PT_FIGURE_BENCHMARK;
    return pt_ends_with(name, ".bytes") ? PT_FIGURE_BYTES : PT_FIGURE_COUNT;
}

/* A call takes microseconds, a process that is started milliseconds. */
double pt_figure_floor(const char *name)
{
    switch (pt_figure_kind_of(name)) {
    case PT_FIGURE_COUNT:
        break;
    case PT_FIGURE_BYTES:
        return 65536;
    case PT_FIGURE_WALL:
    case PT_FIGURE_CPU:
        return 0.1;
    case PT_FIGURE_BENCHMARK:
        return 0; /* it was measured as often as its tool thought fit */
    }
    return strcmp(name, "processes") ? 10 : 2;
}

/* What is found of a stage. */
struct found {
    cJSON *figures, *unknown;
};

static void add(struct found *found, const char *of, const char *what, double value)
{
    char name[100];
    snprintf(name, sizeof name, "%s%s", of, what);
    if (isfinite(value) && value >= 0 && !cJSON_GetObjectItemCaseSensitive(found->figures, name))
        cJSON_AddNumberToObject(found->figures, name, value);
}

/* A member of a report, which is null where it is not known. A report without the object, or without the member, has
 * none: it did not train, use a GPU, or open files. */
static void add_member(struct found *found, const char *name, const cJSON *object, const char *key)
{
    char reason_key[100];
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, key);
    snprintf(reason_key, sizeof reason_key, "%s_reason", key);
    const char *reason = pt_member_text(object, reason_key);
    if (cJSON_IsNull(member))
        cJSON_AddStringToObject(found->unknown, name, reason ? reason : "the report does not know it");
    else
        add(found, name, "", pt_member_number(object, key));
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

/* Why the sum over the epochs that a report has is not that of the training; NULL = it is. */
static const char *why_no_samples(const cJSON *training, const cJSON *epochs)
{
    const cJSON *epoch;
    if (pt_member_number(training, "per_epoch_left_out") > 0)
        return "the report has no room for all epochs";
    if (!cJSON_GetArraySize(epochs) && pt_member_number(training, "steps") > 0)
        return "no epochs were seen";
    cJSON_ArrayForEach(epoch, epochs)
    {
        const char *reason = pt_member_text(epoch, "samples_reason");
        if (!isfinite(pt_member_number(epoch, "samples")))
            return reason ? reason : "an epoch does not know its samples";
    }
    return NULL;
}

static void add_samples(struct found *found, const cJSON *training)
{
    const cJSON *epochs = cJSON_GetObjectItemCaseSensitive(training, "per_epoch"), *epoch;
    const char *reason = why_no_samples(training, epochs);
    double all = 0;
    if (reason) {
        cJSON_AddStringToObject(found->unknown, "training.samples", reason);
        return;
    }
    cJSON_ArrayForEach(epoch, epochs)
    {
        all += pt_member_number(epoch, "samples");
    }
    add(found, "training.", "samples", all);
}

static double count_processes(const cJSON *document, const char *stage)
{
    double n = 0;
    const cJSON *process;
    cJSON_ArrayForEach(process, cJSON_GetObjectItemCaseSensitive(document, "processes"))
    {
        const char *of = pt_member_text(process, "stage");
        const double times = pt_member_number(process, "times"); /* of a program that could not be traced */
        if (of && stage && !strcmp(of, stage))
            n += isfinite(times) ? times : 1;
    }
    return n;
}

/* Copies within a device, and what is set there, are none of the host's. */
static bool is_between(const char *kind)
{
    return !strcmp(kind, "HtoD") || !strcmp(kind, "DtoH");
}

static void add_to(cJSON *figures, const char *name, double value)
{
    cJSON *number = cJSON_GetObjectItemCaseSensitive(figures, name);
    if (!number)
        number = cJSON_AddNumberToObject(figures, name, 0);
    cJSON_SetNumberValue(number, number->valuedouble + (isfinite(value) ? value : 0));
}

static void add_copies(struct found *found, const cJSON *device)
{
    const cJSON *copy;
    cJSON_ArrayForEach(copy, cJSON_GetObjectItemCaseSensitive(device, "copies"))
    {
        const char *kind = pt_member_text(copy, "kind");
        const double calls = pt_member_number(copy, "calls"), bytes = pt_member_number(copy, "bytes");
        char name[100];
        if (!kind || !is_between(kind))
            continue;
        snprintf(name, sizeof name, "gpu.copies.%s.calls", kind);
        add_to(found->figures, name, calls);
        snprintf(name, sizeof name, "gpu.copies.%s.bytes", kind);
        add_to(found->figures, name, bytes);
    }
}

static void add_gpu(struct found *found, const cJSON *stage)
{
    const cJSON *gpu = cJSON_GetObjectItemCaseSensitive(stage, "gpu"), *device;
    const char *reason = pt_member_text(gpu, "reason");
    double kernels = 0;
    if (!gpu)
        return;
    if (!(pt_member_number(gpu, "completeness_percent") >= 100)) {
        static const char *const names[] = {"gpu.kernels", "gpu.copies.HtoD.calls", "gpu.copies.HtoD.bytes",
                                            "gpu.copies.DtoH.calls", "gpu.copies.DtoH.bytes"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            cJSON_AddStringToObject(found->unknown, names[i], reason ? reason : "not all work of the GPU was seen");
        return;
    }
    cJSON_ArrayForEach(device, cJSON_GetObjectItemCaseSensitive(gpu, "devices"))
    {
        kernels += pt_member_number(device, "kernels_calls"); /* its table of kernels may be cut */
        add_copies(found, device);
    }
    add(found, "gpu.", "kernels", kernels);
}

/* The figure of a call, as "read.calls" -> the layer that it was recorded with; NULL = always, or it is of no call. */
static const char *layer_of(const char *figure)
{
    const char *dot = strrchr(figure, '.');
    const size_t n = dot ? (size_t)(dot - figure) : strlen(figure);
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++) {
        const enum pt_layer layer = pt_layer_of_kind(kind);
        if (layer != PT_LAYER__COUNT && !strncmp(pt_call_name(kind), figure, n) && !pt_call_name(kind)[n])
            return pt_layer_name(layer);
    }
    return NULL;
}

/* A family of calls that was not recorded is unknown by its name: "io". */
static void add_not_recorded(struct found *found, const cJSON *stage)
{
    const cJSON *layer;
    cJSON_ArrayForEach(layer, cJSON_GetObjectItemCaseSensitive(stage, "not_recorded"))
    {
        if (cJSON_IsString(layer) && strcmp(layer->string, "locks") != 0 && strcmp(layer->string, "waits") != 0)
            cJSON_AddStringToObject(found->unknown, layer->string, layer->valuestring);
    }
}

static bool is_recorded(const struct found *found, const char *call)
{
    const char *layer = layer_of(call);
    return !layer || !cJSON_GetObjectItemCaseSensitive(found->unknown, layer);
}

static void add_calls(struct found *found, const cJSON *stage)
{
    const cJSON *call;
    add_not_recorded(found, stage);
    cJSON_ArrayForEach(call, cJSON_GetObjectItemCaseSensitive(stage, "calls"))
    {
        const char *name = pt_member_text(call, "call");
        if (!name || depends_on_time(name) || !is_recorded(found, name))
            continue;
        if (!is_in_pieces(name))
            add(found, name, ".calls", pt_member_number(call, "calls"));
        if (pt_member_number(call, "bytes") > 0)
            add(found, name, ".bytes", pt_member_number(call, "bytes"));
    }
}

/* Of what is made of events: files, requests, trainings, GPUs. Calls, bytes and the heap come from totals. */
static void add_made_of_events(struct found *found, const cJSON *stage)
{
    const cJSON *training = cJSON_GetObjectItemCaseSensitive(stage, "training");
    add_member(found, "files.opened", stage, "files_opened");
    add_member(found, "requests", stage, "requests");
    add_member(found, "training.steps", training, "steps");
    if (training)
        add_samples(found, training);
    add_gpu(found, stage);
}

/* A part of the events would be fewer files than in another run. */
static void forget_made_of_events(struct found *found, double lost)
{
    static const char *const begins[] = {"files.", "requests", "training.", "gpu."};
    char reason[100];
    snprintf(reason, sizeof reason, "%.0f events were lost", lost);
    cJSON *figure = found->figures->child;
    while (figure) {
        cJSON *next = figure->next;
        for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
            if (strncmp(figure->string, begins[i], strlen(begins[i])) != 0)
                continue;
            cJSON_AddStringToObject(found->unknown, figure->string, reason);
            cJSON_DeleteItemFromObjectCaseSensitive(found->figures, figure->string);
            break;
        }
        figure = next;
    }
}

cJSON *pt_figures_of(const cJSON *document, const cJSON *stage, cJSON **ret_unknown)
{
    struct found found = {cJSON_CreateObject(), cJSON_CreateObject()};
    const cJSON *heap = cJSON_GetObjectItemCaseSensitive(stage, "heap");
    add(&found, "wall", "_s", pt_member_number(stage, "duration_s"));
    add(&found, "cpu", "_s", pt_member_number(stage, "cpu_s"));
    if (cJSON_GetObjectItemCaseSensitive(document, "processes"))
        add(&found, "", "processes", count_processes(document, pt_member_text(stage, "stage")));
    add_member(&found, "heap.allocations", heap, "allocs");
    add_member(&found, "heap.bytes", heap, "bytes");
    add_made_of_events(&found, stage);
    if (pt_document_is_much(document, pt_document_lost(document).all))
        forget_made_of_events(&found, pt_document_lost(document).all);
    add(&found, "benchmark", "_s", pt_member_number(stage, "benchmark_s"));
    add_calls(&found, stage);
    *ret_unknown = found.unknown;
    return found.figures;
}

/* Only calls have a name of two parts that begins with none of these. */
static bool is_of_calls(const char *name)
{
    static const char *const others[] = {"heap.", "gpu.", "training.", "files."};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strncmp(name, others[i], strlen(others[i])))
            return false;
    return strchr(name, '.') != NULL;
}

double pt_figure_value(const cJSON *entry, const char *name)
{
    const double value = pt_member_number(cJSON_GetObjectItemCaseSensitive(entry, "figures"), name);
    const cJSON *unknown = cJSON_GetObjectItemCaseSensitive(entry, "unknown");
    if (isfinite(value) || pt_figure_is_time(pt_figure_kind_of(name)))
        return value;
    const char *layer = unknown && is_of_calls(name) ? layer_of(name) : NULL;
    if (cJSON_GetObjectItemCaseSensitive(unknown, name) || (layer && cJSON_GetObjectItemCaseSensitive(unknown, layer)))
        return NAN;
    /* An entry without "unknown" is of a form that had fewer figures. */
    return unknown || is_of_calls(name) ? 0 : NAN;
}

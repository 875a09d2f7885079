/* SPDX-License-Identifier: MIT
 *
 * What CUPTI recorded besides work: devices, synchronisation, overheads; how GPU work was observed, and when not; and
 * why there is no GPU timeline of a program that contains GPU code, or loads the CUDA driver by itself: with a runtime
 * that is linked statically, or none, nothing of CUDA is seen before the driver starts, and without a driver that never
 * happens.
 *
 * Threads: one. State: the last windows without observation. Never: counts missing records as idle time; says anything
 * about a program that does neither itself, whatever its libraries do: those that decode video search for a GPU in
 * every program.
 */
#include "info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "symbols/elf_image.h"
#include "util/map.h"
#include "util/text/path.h"
#include "calls.h"
#include "memory.h"

/* ---- devices ---- */

/* Where the value of a key begins in a flat JSON object; NULL = it has none. */
static const char *value_of(const char *properties, const char *key)
{
    const char *at = properties ? strstr(properties, key) : NULL;
    return at ? at + strlen(key) + strspn(at + strlen(key), " \t:") : NULL;
}

static pt_u64 number_of(const char *properties, const char *key)
{
    const char *at = value_of(properties, key);
    return at ? strtoull(at, NULL, 10) : 0;
}

/* False = it has none, or a longer one. */
static bool text_of(const char *properties, const char *key, char *text, size_t room)
{
    const char *at = value_of(properties, key);
    const size_t n = at && *at == '"' ? strcspn(at + 1, "\"\\") : 0;
    if (!n || n >= room)
        return false;
    memcpy(text, at + 1, n);
    text[n] = 0;
    return true;
}

/* Processes may count devices differently (CUDA_VISIBLE_DEVICES): the UUID says which are the same. */
static void note_device(struct pt_gpu *gpu, const struct pt_event *e)
{
    const struct pt_ev_gpu_device *properties = pt_event_as(e, gpu_device);
    const pt_u32 number = (pt_u32)e->tag;
    char uuid[64];
    const char *text = pt_process_string(e->process, properties->properties);
    const bool has_uuid = text_of(text, "\"uuid\"", uuid, sizeof uuid);
    struct pt_gpu_device *device = pt_gpu_device_named(gpu, e->process, number, has_uuid ? uuid : NULL);
    device->name = pt_gpu_string(gpu, e->process, e->aux, false);
    device->memory_bytes = properties->memory_bytes;
    device->compute_major = (pt_u32)number_of(text, "\"computeMajor\"");
}

/* A device is described once, when CUDA starts: of a long run that event is overwritten, but its properties are a
 * definition, which stays. Without them GPUs that processes see under the same number were one. */
static void describe_by_text(struct pt_gpu *gpu, const struct pt_process *process, const char *properties)
{
    static const char begin[] = "{\"computeMajor\":";
    char uuid[64], name[128];
    if (strncmp(properties, begin, sizeof begin - 1) != 0 || !value_of(properties, "\"id\"") ||
        !text_of(properties, "\"uuid\"", uuid, sizeof uuid))
        return;
    struct pt_gpu_device *device = pt_gpu_device_named(gpu, process, (pt_u32)number_of(properties, "\"id\""), uuid);
    if (text_of(properties, "\"name\"", name, sizeof name))
        device->name = pt_gpu_text(gpu, name);
    device->memory_bytes = number_of(properties, "\"totalGlobalMem\"");
    device->compute_major = (pt_u32)number_of(properties, "\"computeMajor\"");
}

void pt_gpu_info_begin(struct pt_gpu *gpu)
{
    const struct pt_session *session = gpu->profile->session;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        size_t at = 0;
        pt_i64 defined_ns;
        if (!pt_quality_lacks_events(&process->quality) || !gpu->stages[pt_gpu_stage_of(gpu, process)].is_used)
            continue;
        for (const char *text; (text = pt_process_next_string(process, &at, &defined_ns));)
            describe_by_text(gpu, process, text);
    }
}

/* ---- how it was seen ---- */

/* Kept in pieces: there may be as many of them as events, and metrics may not be written before the end. */
static void note(struct pt_gpu_stage *stage, const char *before, const char *reason, const char *after)
{
    for (pt_u32 i = 0; i < stage->n_notes; i++)
        if (!strcmp(stage->notes[i].before, before) && !strcmp(stage->notes[i].reason, reason))
            return;
    if (stage->n_notes < PT_GPU_MOST_NOTES)
        stage->notes[stage->n_notes++] = (struct pt_gpu_note){before, reason, after};
}

static void add_yield(struct pt_gpu_process *own, pt_i64 start_ns, pt_i64 end_ns, bool is_hole)
{
    if (own->n_yields == PT_GPU_MOST_YIELDS) {
        own->n_forgotten_yields += !own->yields[0].is_hole;
        memmove(own->yields, own->yields + 1, --own->n_yields * sizeof *own->yields);
    }
    own->yields[own->n_yields].start_ns = start_ns;
    own->yields[own->n_yields].end_ns = end_ns;
    own->yields[own->n_yields++].is_hole = is_hole;
}

static void end_yield(struct pt_gpu *gpu, const struct pt_process *process, pt_i64 at_ns)
{
    struct pt_gpu_process *own = gpu->processes[process->index];
    if (!own || own->yielded_ns < 0 || at_ns < own->yielded_ns)
        return;
    gpu->stages[pt_gpu_stage_of(gpu, process)].yielded_ns += at_ns - own->yielded_ns;
    add_yield(own, own->yielded_ns, at_ns, false);
    own->yielded_ns = -1;
}

void pt_gpu_not_seen(struct pt_gpu *gpu, const struct pt_process *process, const struct pt_hole *hole)
{
    add_yield(pt_gpu_process_of(gpu, process), hole->from_ns, hole->until_ns, true);
}

static void note_tracing(struct pt_gpu *gpu, const struct pt_event *e)
{
    struct pt_gpu_stage *stage = &gpu->stages[pt_gpu_stage_of(gpu, e->process)];
    const char *reason = pt_gpu_string(gpu, e->process, e->aux, false);
    const char *more = reason && *reason ? reason : "no reason was noted";
    end_yield(gpu, e->process, e->start_ns);
    pt_gpu_process_of(gpu, e->process)->is_recording = e->tag == PT_CUDA_TRACING_CUPTI;
    pt_gpu_process_of(gpu, e->process)->is_told = true;
    switch ((enum pt_cuda_tracing)e->tag) {
    case PT_CUDA_TRACING_CUPTI:
        stage->has_cupti = true;
        break;
    case PT_CUDA_TRACING_WRAPPED:
        note(stage, "calls of the CUDA runtime were seen, but not what GPUs did (", more,
             "): when kernels ran, how long they took and why GPUs were idle cannot be known");
        break;
    case PT_CUDA_TRACING_YIELDED:
        pt_gpu_process_of(gpu, e->process)->yielded_ns = e->start_ns;
        note(stage, "for a while the program used CUPTI itself (", more,
             "), which serves one at a time: what GPUs did then was not seen");
        break;
    case PT_CUDA_TRACING_OFF:
        note(stage, "GPU work was not recorded: ", more, "");
        break;
    case PT_CUDA_TRACING_ENDED:
        break;
    case PT_CUDA_TRACING_CUT:
        stage->is_cut = true;
        note(stage, "the last GPU work may be missing: ", more, "");
        break;
    }
}

static void note_lost(struct pt_gpu *gpu, const struct pt_event *e)
{
    struct pt_gpu_stage *stage = &gpu->stages[pt_gpu_stage_of(gpu, e->process)];
    const char *reason = pt_gpu_string(gpu, e->process, e->aux, false);
    stage->lost += pt_event_as(e, gpu_lost)->records;
    note(stage, "records were lost: ", reason && *reason ? reason : "no reason was noted", "");
}

void pt_gpu_info_event(struct pt_gpu *gpu, const struct pt_event *e)
{
    static const char *const syncs[] = {"other", "event", "stream waits for event", "stream", "context"};
    const pt_u32 stage = pt_gpu_stage_of(gpu, e->process);
    const pt_u32 kind = (pt_u32)e->tag;
    if (e->desc->kind <= PT_KIND_gpu_memory) {
        gpu->stages[stage].seen++;
        pt_gpu_process_of(gpu, e->process)->has_records = true;
    }
    switch (e->desc->kind) {
    case PT_KIND_gpu_device:
        note_device(gpu, e);
        break;
    case PT_KIND_gpu_memory:
    case PT_KIND_gpu_memory_pool:
        pt_gpu_memory_event(gpu, e);
        break;
    case PT_KIND_gpu_tracing:
        note_tracing(gpu, e);
        break;
    case PT_KIND_gpu_lost:
        note_lost(gpu, e);
        break;
    case PT_KIND_gpu_sync:
        pt_gpu_sum_add(
            gpu, (struct pt_gpu_summed){stage, PT_GPU_SUM_SYNC, syncs[kind <= PT_CUDA_SYNC_CONTEXT ? kind : 0], kind},
            e->duration_ns, false);
        break;
    case PT_KIND_gpu_overhead:
        pt_gpu_sum_add(gpu, (struct pt_gpu_summed){stage, PT_GPU_SUM_OVERHEAD, NULL, kind}, e->duration_ns, false);
        break;
    default:
        break;
    }
}

/* To its end. Of a long run the event that said so is overwritten, and an end of recording would be among the last. */
static bool was_recording(const struct pt_gpu_process *own, const struct pt_process *process)
{
    return own &&
           (own->is_recording || (own->has_records && !own->is_told && pt_quality_lacks_events(&process->quality)));
}

void pt_gpu_info_end(struct pt_gpu *gpu)
{
    const struct pt_session *session = gpu->profile->session;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        end_yield(gpu, process, process->end_ns);
        if (!was_recording(gpu->processes[process->index], process))
            continue;
        struct pt_gpu_stage *stage = &gpu->stages[pt_gpu_stage_of(gpu, process)];
        stage->is_cut = true;
        note(stage, "a process ended otherwise than by exit: GPU work of about its last second may be missing", "", "");
    }
}

struct yield_row {
    double at_s, seconds;
    pt_u32 pid;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct yield_row, at_s, SECONDS, "At"),
    PT_COLUMN(struct yield_row, seconds, SECONDS, "For"),
    PT_COLUMN(struct yield_row, pid, NUMBER, "PID"),
};
static const struct pt_table_kind not_seen = {PT_VIEW_gpu_not_seen, PT_COLUMNS(columns)};

/* When the program had CUPTI for itself. */
void pt_gpu_not_seen_table(struct pt_gpu *gpu, pt_u32 stage)
{
    const struct pt_session *session = gpu->profile->session;
    struct pt_rows rows = pt_rows(&gpu->profile->metrics, pt_scope_stage(stage), &not_seen);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_gpu_process *own = gpu->processes[i];
        if (!own || !own->n_yields || pt_gpu_stage_of(gpu, session->processes[i]) != stage)
            continue;
        for (pt_u32 j = 0; j < own->n_yields; j++)
            if (!own->yields[j].is_hole)
                pt_rows_add(
                    &rows,
                    &(struct yield_row){
                        .at_s = (double)(own->yields[j].start_ns - gpu->profile->stages.items[stage].start_ns) / 1e9,
                        .seconds = (double)(own->yields[j].end_ns - own->yields[j].start_ns) / 1e9,
                        .pid = session->processes[i]->pid,
                    });
        if (rows.table) /* of none but holes there is none */
            rows.table->rows_left_out += own->n_forgotten_yields;
    }
}

/* ---- why there is nothing to see ---- */

/* With the dot: this program must not find itself. */
static const char driver[] = "libcuda.so.";

/* What makes it one: what nvcc puts GPU code into, or the name that dlopen is given. NULL = nothing. */
static const char *why_gpu_program(const char *exe)
{
    struct pt_elf_image image = {0};
    const char *why = NULL;
    if (!pt_elf_image_open(&image, exe, NULL, PT_ELF_ANY_BUILD))
        return NULL;
    if (pt_elf_image_has_section(&image, ".nv_fatbin") || pt_elf_image_has_section(&image, ".nvFatBinSegment"))
        why = "holds GPU code";
    else if (pt_elf_image_names_library(&image, driver))
        why = "asks for libcuda.so by itself";
    pt_elf_image_close(&image);
    return why;
}

static bool has_driver(const struct pt_process *process)
{
    for (pt_u32 i = 0; i < process->n_modules; i++)
        if (process->modules[i].path && !strncmp(pt_base_name(process->modules[i].path), driver, sizeof driver - 2))
            return true;
    return false;
}

const char *pt_gpu_why_none(struct pt_gpu *gpu, pt_u32 stage)
{
    const struct pt_session *session = gpu->profile->session;
    const struct pt_process *found = NULL;
    const char *why = NULL;
    struct pt_map known = {0}; /* executables that were checked */
    for (pt_u32 i = 0; i < session->n_processes && !found; i++) {
        const struct pt_process *process = session->processes[i];
        if (pt_gpu_stage_of(gpu, process) != stage || !process->exe)
            continue;
        pt_u64 *slot = pt_map_at(&known, (uintptr_t)pt_intern_text(&gpu->texts, process->exe));
        if (!*slot && (why = why_gpu_program(process->exe)))
            found = process;
        *slot = 1;
    }
    pt_map_fini(&known);
    if (!found)
        return NULL;
    const char *name = pt_base_name(found->exe);
    return pt_metrics_format(&gpu->profile->metrics,
                             has_driver(found)
                                 ? "%s %s and loaded the CUDA driver, but that did not load what "
                                   "CUDA_INJECTION64_PATH names: nothing is known of its GPU work"
                                 : "%s %s, but never loaded the CUDA driver (libcuda.so.1): there is none "
                                   "here, or the program did not use CUDA",
                             name, why);
}

/* SPDX-License-Identifier: MIT
 *
 * text/process_lines.c - Owns: what each kind of line adds to a process that is being assembled. Threads: one. Never:
 * makes up what a line does not say, but for totals and heap counters, which follow from the events.
 */
#include "process_lines.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/codec.h"
#include "proftrace/heap_modes.h"
#include "decode/text.h"

#include "model/layers.h"
#include "model/python_seen.h"
#include "util/str.h"

/* CLOCK_MONOTONIC at instant 0 of an assembled session: any value that leaves room before it. */
#define EPOCH_NS 1000000000000ull
#define LATEST_NS (1ll << 50) /* 13 days: ticks of a file have 52 bits */

struct pt_text_process *pt_text_process_new(pt_u32 pid, pt_u32 number)
{
    struct pt_text_process *p = pt_calloc(1, sizeof *p);
    p->writer = pt_trace_writer_new();
    struct pt_file_header *h = pt_writer_header(p->writer);
    h->pid = pid;
    h->trace_id = number;
    return p;
}

void pt_text_process_free(struct pt_text_process *process)
{
    for (size_t i = 0; i < process->threads.n; i++)
        free(process->threads.items[i]);
    free(process->threads.items);
    pt_map_fini(&process->heaps);
    pt_trace_writer_free(process->writer);
    free(process->file_name);
    free(process);
}

struct pt_text_thread *pt_text_thread_new(struct pt_text_process *process, pt_u32 tid)
{
    struct pt_text_thread *thread = pt_calloc(1, sizeof *thread);
    thread->process = process;
    thread->slot = (pt_u32)process->threads.n;
    thread->life = 1;
    thread->tid = tid;
    thread->start_ns = INT64_MAX;
    thread->end_ns = INT64_MIN;
    pt_vec_push(&process->threads, thread);
    return thread;
}

static pt_u64 ticks_of(const struct pt_text_process *p, pt_i64 ns)
{
    return ns > p->start_ns ? (pt_u64)(ns - p->start_ns) : 0;
}

/* One of a few words; its index. */
static int choice(const struct pt_keys *keys, const char *key, const char *const *names, int n, int otherwise)
{
    const char *text = pt_keys_text(keys, key, NULL);
    for (int i = 0; i < n && text; i++)
        if (!strcmp(text, names[i]))
            return i;
    return otherwise;
}

static void set_texts(struct pt_text_process *p, const struct pt_keys *keys)
{
    enum { MAX_ARGS = 2048 };
    static const char *const names[] = {"exe", "cwd", "stage", "host", "comm"};
    const char *texts[PT_TEXT_ARGV + MAX_ARGS];
    struct pt_str args[MAX_ARGS];
    pt_u32 n = 0, n_args = 0;
    for (; n < PT_TEXT_ARGC; n++)
        texts[n] = pt_keys_text(keys, names[n], "");
    texts[n++] = NULL;
    const char *at = pt_keys_text(keys, "argv", "[]");
    at += *at == '[';
    while (at && *at == '"' && n_args < MAX_ARGS) {
        args[n_args] = (struct pt_str){0};
        at = pt_text_unquote(at, &args[n_args++]);
        at = at ? at + strspn(at, " ") : NULL;
    }
    char argc[16];
    snprintf(argc, sizeof argc, "%" PRIu32, n_args);
    texts[PT_TEXT_ARGC] = pt_keys_text(keys, "argc", argc);
    for (pt_u32 i = 0; i < n_args; i++)
        texts[n++] = pt_str_text(&args[i]);
    pt_writer_text(p->writer, texts, n);
    for (pt_u32 i = 0; i < n_args; i++)
        pt_str_fini(&args[i]);
    const char *comm = texts[PT_TEXT_COMM], *exe = strrchr(texts[PT_TEXT_EXE], '/');
    comm = *comm ? comm : exe ? exe + 1 : "process";
    const struct pt_file_header *h = pt_writer_header(p->writer);
    p->file_name = pt_asprintf("%.40s-%" PRIu32 "-%016" PRIx64 ".ptr", comm, h->pid, h->trace_id);
    for (char *c = p->file_name; *c; c++)
        if (*c == '/')
            *c = '_';
}

static pt_u32 options_of(const struct pt_keys *keys)
{
    static const char *const off = "off", *const yes = "yes";
    pt_u32 on = PT_OPTION_LAYERS | PT_OPTION_STACKS;
    for (int layer = 0; layer < PT_LAYER__COUNT; layer++)
        on |= choice(keys, pt_layer_name(layer), &off, 1, 1) == 0 ? 0 : pt_layer_option(layer);
    on |= choice(keys, "heap_hidden", &yes, 1, 1) == 0 ? PT_OPTION_HEAP_HIDDEN : 0;
    on |= choice(keys, "heap_too_late", &yes, 1, 1) == 0 ? PT_OPTION_HEAP_TOO_LATE : 0;
    on |= choice(keys, "heap_linked_in", &yes, 1, 1) == 0 ? PT_OPTION_HEAP_LINKED_IN : 0;
    return on;
}

/* Numbers of the header by their keys; a number without a key in the line is unchanged. */
static int set_numbers(struct pt_file_header *header, const struct pt_keys *keys, struct pt_error *err)
{
#define NUMBER(key, member)                                                                                            \
    {                                                                                                                  \
        key, offsetof(struct pt_file_header, member), sizeof header->member                                            \
    }
    static const struct {
        const char *key;
        size_t offset, bytes;
    } numbers[] = {NUMBER("ppid", ppid),
                   NUMBER("uid", uid),
                   NUMBER("trace_id", trace_id),
                   NUMBER("parent_trace_id", parent_trace_id),
                   NUMBER("exit_status", exit_status),
                   NUMBER("heap_sample_bytes", heap_sample_bytes),
                   NUMBER("cpu_ns", cpu_ns),
                   NUMBER("python_version", python.version),
                   NUMBER("max_rss_bytes", max_rss_bytes),
                   NUMBER("minute_ns", minute_ns)};
#undef NUMBER
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        pt_u64 number;
        if (!pt_keys_text(keys, numbers[i].key, NULL))
            continue;
        if (pt_keys_number(keys, numbers[i].key, 0, &number, err) < 0)
            return -1;
        memcpy((char *)header + numbers[i].offset, &number,
               numbers[i].bytes); /* the low bytes: x86-64 is little-endian */
    }
    return 0;
}

/* A value that the line does not give is unknown: 0 where a rank is stored plus 1. */
static int set_ranks(struct pt_file_header *header, const struct pt_keys *keys, struct pt_error *err)
{
    const struct {
        const char *key;
        pt_u32 *to, plus;
    } ranks[] = {{"rank", &header->rank_plus_1, 1},
                 {"local_rank", &header->local_rank_plus_1, 1},
                 {"world_size", &header->world_size, 0}};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        pt_u64 number;
        if (!pt_keys_text(keys, ranks[i].key, NULL))
            continue;
        if (pt_keys_number(keys, ranks[i].key, 0, &number, err) < 0)
            return -1;
        if (number >= INT32_MAX)
            return pt_fail_code(err, 3, "%s=%" PRIu64 " is too large", ranks[i].key, number);
        *ranks[i].to = (pt_u32)number + ranks[i].plus;
    }
    return 0;
}

/* The clock of an assembled file is CLOCK_MONOTONIC, 1 tick = 1 ns. */
static void set_clock(struct pt_file_header *header, pt_i64 start_ns, pt_i64 end_ns, pt_u64 start_realtime_ns)
{
    const pt_u64 start = EPOCH_NS + (pt_u64)start_ns, end = EPOCH_NS + (pt_u64)end_ns;
    header->clock_base = start;
    header->clock_first = (struct pt_clock_pair){start, start};
    header->clock_last[1] = (struct pt_clock_pair){end, end};
    header->clock_index = 1;
    header->realtime_ns = start_realtime_ns ? start_realtime_ns + (pt_u64)start_ns : 0;
    header->end_counter = header->state == PT_PROCESS_LIVE ? 0 : end;
}

int pt_text_process_header(struct pt_text_process *p, const struct pt_keys *keys, pt_u64 start_realtime_ns,
                           struct pt_error *err)
{
    static const char *const states[] = {"live", "exited", "execed"};
    struct pt_file_header *h = pt_writer_header(p->writer);
    pt_i64 end_ns;
    h->ppid = 1;
    if (set_numbers(h, keys, err) < 0 || set_ranks(h, keys, err) < 0 ||
        pt_keys_seconds(keys, "start", 0, &p->start_ns, err) < 0 ||
        pt_keys_seconds(keys, "end", p->start_ns, &end_ns, err) < 0)
        return -1;
    if (p->start_ns < 0 || p->start_ns > LATEST_NS || end_ns < p->start_ns || end_ns > LATEST_NS)
        return pt_fail_code(err, 3, "start and end are not in order, or beyond 13 days");
    h->state = 1u + (pt_u32)choice(keys, "state", states, 3, 0);
    h->heap_mode = (pt_u32)choice(keys, "heap", pt_heap_modes, 3, PT_HEAP_SAMPLED);
    h->options = options_of(keys);
    strncpy(h->boot_id, pt_keys_text(keys, "boot", "assembled"), sizeof h->boot_id - 1);
    h->python.state = (pt_u32)choice(keys, "python", pt_python_states, PT_PYTHON_STATES, PT_PYTHON_NONE);
    strncpy(h->python.note, pt_keys_text(keys, "python_note", ""), sizeof h->python.note - 1);
    strncpy(h->ignored_options, pt_keys_text(keys, "ignored_options", ""), sizeof h->ignored_options - 1);
    set_clock(h, p->start_ns, end_ns, start_realtime_ns);
    set_texts(p, keys);
    return 0;
}

int pt_text_thread_line(struct pt_text_thread *thread, const struct pt_keys *keys, struct pt_error *err)
{
    pt_u64 slot, life;
    if (pt_keys_number(keys, "slot", thread->slot, &slot, err) < 0 || pt_keys_number(keys, "life", 1, &life, err) < 0 ||
        pt_keys_seconds(keys, "start", thread->start_ns, &thread->start_ns, err) < 0 ||
        pt_keys_seconds(keys, "end", thread->end_ns, &thread->end_ns, err) < 0 ||
        pt_keys_number(keys, "allocs", 0, &thread->allocs, err) < 0 ||
        pt_keys_number(keys, "bytes", 0, &thread->bytes, err) < 0 ||
        pt_keys_number(keys, "frees", 0, &thread->frees, err) < 0)
        return -1;
    if (slot > 65535)
        return pt_fail_code(err, 3, "slot=%llu is above 65535", (unsigned long long)slot);
    thread->slot = (pt_u32)slot;
    thread->life = (pt_u32)life;
    return 0;
}

int pt_text_module(struct pt_text_process *p, const struct pt_keys *keys, struct pt_error *err)
{
    struct pt_def_module module = {0};
    pt_i64 since;
    pt_u8 build_id[64];
    if (pt_keys_number(keys, "start", 0, &module.start, err) < 0 ||
        pt_keys_number(keys, "end", 0, &module.end, err) < 0 ||
        pt_keys_number(keys, "bias", 0, &module.load_bias, err) < 0 ||
        pt_keys_seconds(keys, "since", p->start_ns, &since, err) < 0)
        return -1;
    const char *hex = pt_keys_text(keys, "build_id", "");
    for (unsigned byte; module.build_id_bytes < sizeof build_id && sscanf(hex, "%2x", &byte) == 1; hex += 2) {
        build_id[module.build_id_bytes++] = (pt_u8)byte;
        if (!hex[1])
            return pt_fail_code(err, 3, "build_id has an odd number of digits");
    }
    pt_writer_module(p->writer, &module, ticks_of(p, since), build_id, pt_keys_text(keys, "path", ""));
    return 0;
}

int pt_text_untraced(struct pt_text_process *p, const struct pt_keys *keys, struct pt_error *err)
{
    pt_i64 at;
    if (pt_keys_seconds(keys, "at", p->start_ns, &at, err) < 0)
        return -1;
    const char *path = pt_keys_text(keys, "path", ""), *reason = pt_keys_text(keys, "reason", "");
    const pt_u32 id = pt_writer_string(p->writer, path, (pt_u32)strlen(path));
    pt_writer_define(p->writer, PT_DEF_UNTRACED, id, ticks_of(p, at), reason, (pt_u32)strlen(reason));
    return 0;
}

int pt_text_lost(struct pt_text_process *p, const struct pt_keys *keys, struct pt_error *err)
{
    static const char *const names[] = {
#define DROP(name, doc) #name,
#include "proftrace/drops.def"
#include "proftrace/events.h"
#undef DROP
    };
    for (int d = 0; d < PT_DROP__COUNT; d++)
        if (pt_keys_number(keys, names[d], 0, &pt_writer_header(p->writer)->drops[d], err) < 0)
            return -1;
    return pt_keys_number(keys, "overwritten", 0, &p->overwritten, err);
}

int pt_text_heap(struct pt_text_process *p, const struct pt_keys *keys, struct pt_error *err)
{
    pt_u64 slot;
    if (pt_keys_number(keys, "slot", 0, &slot, err) < 0)
        return -1;
    if (slot > 65535)
        return pt_fail_code(err, 3, "slot=%llu is above 65535", (unsigned long long)slot);
    struct pt_thread_area *area = pt_writer_area(p->writer, (pt_u32)slot);
    *pt_map_at(&p->heaps, slot) = 1;
    memset(area->heap_spilled, 0, sizeof area->heap_spilled);
    if (pt_keys_number(keys, "frees", 0, &area->heap_frees, err) < 0 ||
        pt_keys_number(keys, "failures", 0, &area->heap_failures, err) < 0)
        return -1;
    const char *at = pt_keys_text(keys, "classes", "[]");
    at += *at == '[';
    while (*at >= '0' && *at <= '9') {
        unsigned class;
        pt_u64 count, bytes;
        int n;
        if (sscanf(at, "%u:%" SCNu64 ":%" SCNu64 "%n", &class, &count, &bytes, &n) != 3 || class >= PT_HEAP_CLASSES)
            return pt_fail_code(err, 3, "classes are [class:count:bytes ...], classes below %d", PT_HEAP_CLASSES);
        area->heap_spilled[class] = (struct pt_heap_class){count, bytes};
        at += n;
        at += strspn(at, " ");
    }
    return 0;
}

int pt_text_totals(struct pt_text_thread *thread, const struct pt_event_desc *desc, const struct pt_keys *keys,
                   struct pt_error *err)
{
    struct pt_totals *t = &thread->given[desc->kind];
    thread->is_given[desc->kind] = true;
    return pt_keys_number(keys, "calls", 0, &t->calls, err) < 0 ||
                   pt_keys_number(keys, "errors", 0, &t->errors, err) < 0 ||
                   pt_keys_number(keys, "bytes", 0, &t->bytes, err) < 0 ||
                   pt_keys_number(keys, "ns", 0, &t->ticks, err) < 0
               ? -1
               : 0;
}

/* A minute begins where CLOCK_MONOTONIC says so: what came from another clock goes to the nearest. */
int pt_text_minute(struct pt_text_thread *thread, const struct pt_event_desc *desc, const struct pt_keys *keys,
                   struct pt_error *err)
{
    pt_i64 from, length;
    struct pt_totals t;
    const pt_u64 minute_ns = pt_writer_header(thread->process->writer)->minute_ns;
    if (pt_keys_seconds(keys, "from", 0, &from, err) < 0 || pt_keys_seconds(keys, "for", 0, &length, err) < 0 ||
        pt_keys_number(keys, "calls", 0, &t.calls, err) < 0 || pt_keys_number(keys, "errors", 0, &t.errors, err) < 0 ||
        pt_keys_number(keys, "bytes", 0, &t.bytes, err) < 0 || pt_keys_number(keys, "ns", 0, &t.ticks, err) < 0)
        return -1;
    if (!minute_ns || from < 0 || from > LATEST_NS || length < 0 || length > LATEST_NS)
        return pt_fail_code(err, 3, "a minute needs minute_ns of its process, from and for");
    struct pt_minutes_entry entry = {.first = (EPOCH_NS + (pt_u64)from) / minute_ns,
                                     .n = ((pt_u64)length + minute_ns / 2) / minute_ns,
                                     .has_counters = !desc,
                                     .n_kinds = desc != NULL};
    entry.n += !entry.n;
    if (desc) {
        entry.kinds[0] = (struct pt_minutes_kind){desc->kind, t};
    } else {
        entry.allocs = t.calls;
        entry.bytes = t.bytes;
        entry.frees = t.errors;
    }
    pt_writer_minutes(thread->process->writer, thread->slot, &entry);
    return 0;
}

/* ---- events ---- */

static void count_heap(struct pt_text_thread *thread, const struct pt_event *event)
{
    struct pt_thread_area *area = pt_writer_area(thread->process->writer, thread->slot);
    if (pt_map_find(&thread->process->heaps, thread->slot))
        return;
    if (!pt_unit_has_size(event->desc->id)) {
        area->heap_frees++;
        return;
    }
    struct pt_heap_class *class = &area->heap_spilled[pt_heap_class_of(event->words[1])];
    class->count++;
    class->bytes += event->words[1];
}

int pt_text_process_event(struct pt_text_thread *thread, const struct pt_event *event, struct pt_error *err)
{
    struct pt_text_process *p = thread->process;
    const struct pt_event_desc *desc = event->desc;
    if (event->start_ns < p->start_ns || event->start_ns > LATEST_NS || event->duration_ns < 0)
        return pt_fail_code(err, 3, "the event begins before its process, or beyond 13 days");
    const pt_u64 ticks = ticks_of(p, event->start_ns);
    thread->start_ns = event->start_ns < thread->start_ns ? event->start_ns : thread->start_ns;
    if (desc->role == PT_ROLE_UNIT) {
        if (event->words[0] >> 48)
            return pt_fail_code(err, 3, "the address has more than 48 bits");
        count_heap(thread, event);
        const struct pt_unit16 unit = {event->words[0] << 16 | (pt_u64)desc->id << PT_GENERATION_BITS, event->words[1]};
        pt_writer_unit(p->writer, thread->slot, thread->life, thread->tid, ticks, unit);
        return 0;
    }
    struct pt_record record = {
        .stamp = ticks << PT_GENERATION_BITS,
        .aux = desc->role == PT_ROLE_SPAN ? pt_duration_pack((pt_u64)event->duration_ns) : event->aux,
        .tag_kind = (pt_u32)event->tag << 8 | desc->id,
    };
    memcpy(record.payload, event->payload, sizeof record.payload);
    pt_totals_add(&thread->counted[desc->kind], desc, event->payload, (pt_u64)event->duration_ns);
    pt_writer_record(p->writer, thread->slot, thread->life, thread->tid, &record);
    return 0;
}

/* ---- the file ---- */

static int by_slot_and_life(const void *a, const void *b)
{
    const struct pt_text_thread *x = *(struct pt_text_thread *const *)a, *y = *(struct pt_text_thread *const *)b;
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    return x->life < y->life ? -1 : x->life > y->life;
}

/* A life that has ended: the slot's counters so far, cumulative. */
static void write_end(const struct pt_text_thread *thread, const struct pt_thread_area *area, const pt_u64 *heap)
{
    struct {
        struct pt_def_thread_end end;
        struct pt_def_thread_row rows[PT_KIND__COUNT];
    } payload = {.end = {thread->slot, thread->life, thread->tid, 0, heap[0], heap[1], heap[2],
                         ticks_of(thread->process, thread->end_ns > INT64_MIN ? thread->end_ns : thread->start_ns)}};
    for (pt_u32 r = 0; r < PT_KIND__COUNT; r++)
        if (area->totals[0][r].calls || area->totals[0][r].bytes)
            payload.rows[payload.end.rows++] = (struct pt_def_thread_row){r, area->totals[0][r]};
    pt_writer_define(thread->process->writer, PT_DEF_THREAD_END, 0, payload.end.last_ticks, &payload,
                     (pt_u32)(sizeof payload.end + payload.end.rows * sizeof payload.rows[0]));
}

static void write_threads(struct pt_text_process *p)
{
    pt_u64 heap[3] = {0};
    if (p->threads.n)
        qsort(p->threads.items, p->threads.n, sizeof *p->threads.items, by_slot_and_life);
    for (size_t i = 0; i < p->threads.n; i++) {
        const struct pt_text_thread *thread = p->threads.items[i];
        struct pt_thread_area *area = pt_writer_area(p->writer, thread->slot);
        if (!i || thread->slot != p->threads.items[i - 1]->slot)
            memset(heap, 0, sizeof heap);
        for (int r = 0; r < PT_KIND__COUNT; r++) {
            const struct pt_totals *t = thread->is_given[r] ? &thread->given[r] : &thread->counted[r];
            struct pt_totals *sum = &area->totals[0][r];
            *sum = (struct pt_totals){sum->calls + t->calls, sum->errors + t->errors, sum->bytes + t->bytes,
                                      sum->ticks + t->ticks};
        }
        heap[0] += thread->allocs;
        heap[1] += thread->bytes;
        heap[2] += thread->frees;
        area->tid = thread->tid;
        area->life = thread->life;
        area->start_ticks = ticks_of(p, thread->start_ns < INT64_MAX ? thread->start_ns : p->start_ns);
        if (i + 1 < p->threads.n && p->threads.items[i + 1]->slot == thread->slot)
            write_end(thread, area, heap);
    }
    if (p->threads.n)
        pt_writer_area(p->writer, p->threads.items[0]->slot)->raw[PT_BUFFER_RECORDS].flushed_events = p->overwritten;
}

int pt_text_process_save(struct pt_text_process *p, const char *path, struct pt_error *err)
{
    write_threads(p);
    return pt_writer_save(p->writer, path, err);
}

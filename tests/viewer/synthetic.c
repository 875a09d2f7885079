/* SPDX-License-Identifier: MIT
 *
 * synthetic.c - exports runs that no program would make on purpose, without trace files in between.
 *
 *     synthetic SCENARIO FILE [N]
 *
 * It stands in for the session and the event feed below the exporter (so it must not link what reads trace files),
 * writes FILE (a Perfetto trace where ".pftrace" is in its name, else a Chrome trace) and prints the exporter's summary
 * as JSON. Scenarios are the rows at the end of this file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proftrace/events.h"
#include "export/export.h"

#define MAX_PROCESSES 64
#define MAX_THREADS 40
#define MAX_STRINGS 300

static struct pt_session session;
static struct pt_process processes[MAX_PROCESSES], *process_list[MAX_PROCESSES];
static char *strings[MAX_STRINGS];
static struct pt_event *events;
static size_t n_events, events_capacity, next_event;
static pt_u64 n_big;  /* events of the "big" scenario, made on the fly */
static pt_u64 number; /* the N of the command line */

const char *pt_process_string(const struct pt_process *process, pt_u32 id)
{
    (void)process;
    return id < MAX_STRINGS ? strings[id] : NULL;
}

/* ---- the feed ---- */

static int event_order(const void *a, const void *b)
{
    const struct pt_event *x = a, *y = b;
    const pt_i64 d = pt_event_end_ns(x) - pt_event_end_ns(y);
    return d ? (d > 0) - (d < 0) : (x->aux > y->aux) - (x->aux < y->aux);
}

static int feed_next(struct pt_feed *self, struct pt_event *ret_event, struct pt_error *err)
{
    (void)self, (void)err;
    if (next_event < n_events) {
        *ret_event = events[next_event++];
        return 1;
    }
    const pt_u64 made = next_event++ - n_events;
    if (made >= n_big)
        return 0;
    *ret_event = (struct pt_event){.start_ns = 1000 + (pt_i64)made * 1000,
                                   .duration_ns = 700 + (pt_i64)(made % 300),
                                   .desc = pt_event_desc_by_id(PT_EV_io_read),
                                   .process = &processes[0],
                                   .thread = &processes[0].threads[made % 4],
                                   .tag = 3,
                                   .words = {1ull << 32 | 4096, 4096 + made % 7}};
    return 1;
}

static void feed_close(struct pt_feed *self)
{
    (void)self;
}

struct pt_feed *pt_session_feed(struct pt_session *of, const struct pt_filter *filter, struct pt_error *err)
{
    static struct pt_feed feed = {feed_next, feed_close};
    (void)of, (void)filter, (void)err;
    if (n_events)
        qsort(events, n_events, sizeof *events, event_order);
    return &feed;
}

/* ---- building blocks ---- */

static struct pt_process *add_process(pt_u32 pid, const char *host, pt_i64 start_ns, pt_i64 end_ns, pt_u32 n_threads)
{
    static const char *argv[] = {"python3", "train.py", "--epochs", "3"};
    const pt_u32 index = session.n_processes++;
    struct pt_process *process = &processes[index];
    *process = (struct pt_process){.session = &session,
                                   .index = index,
                                   .pid = pid,
                                   .ppid = 1,
                                   .host = host,
                                   .exe = "/usr/bin/python3",
                                   .cwd = "/home/user",
                                   .comm = "python3",
                                   .stage = "train",
                                   .argv = argv,
                                   .argc = 4,
                                   .state = PT_PROCESS_EXITED,
                                   .start_ns = start_ns,
                                   .end_ns = end_ns,
                                   .heap_mode = PT_HEAP_SAMPLED,
                                   .heap_sample_bytes = 512 * 1024,
                                   .n_threads = n_threads};
    process->threads = calloc(n_threads + 1, sizeof *process->threads);
    for (pt_u32 i = 0; i < n_threads; i++)
        process->threads[i] = (struct pt_thread){
            .process = process, .slot = i, .index = i, .tid = pid + i, .start_ns = start_ns, .end_ns = end_ns};
    process_list[index] = process;
    session.processes = process_list;
    session.duration_ns = end_ns > session.duration_ns ? end_ns : session.duration_ns;
    return process;
}

static struct pt_event *add_event(struct pt_thread *thread, pt_u8 id, pt_i64 start_ns, pt_i64 end_ns, pt_u64 word0,
                                  pt_u64 word1)
{
    if (n_events == events_capacity) {
        events_capacity = events_capacity ? 2 * events_capacity : 1024;
        events = realloc(events, events_capacity * sizeof *events);
    }
    events[n_events] = (struct pt_event){.start_ns = start_ns,
                                         .duration_ns = end_ns - start_ns,
                                         .desc = pt_event_desc_by_id(id),
                                         .process = thread->process,
                                         .thread = thread,
                                         .aux = (pt_u32)n_events,
                                         .tag = 3,
                                         .words = {word0, word1}};
    return &events[n_events++];
}

static void add_read(struct pt_process *process, pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns)
{
    add_event(&process->threads[thread], PT_EV_io_read, start_ns, end_ns, 1ull << 32 | 4096, 4096);
}

static void add_value(struct pt_process *process, pt_i64 at_ns, double value)
{
    pt_u64 bits;
    memcpy(&bits, &value, sizeof bits);
    add_event(&process->threads[0], PT_EV_counter, at_ns, at_ns, 2, bits);
}

/* ---- scenarios ---- */

static void make_empty(void)
{
}

/* A process that recorded nothing. */
static void make_idle(void)
{
    add_process(100, "h1", 0, 5000, 0);
}

static void make_nested(void)
{
    struct pt_process *process = add_process(100, "h1", 0, 100000, 2);
    add_event(&process->threads[0], PT_EV_range_begin, 1000, 1000, 2, 0);
    add_event(&process->threads[0], PT_EV_range_begin, 1000, 1000, 3, 0);
    add_read(process, 0, 1000, 2000);
    add_read(process, 0, 1999, 3000); /* one nanosecond too early: rounding */
    add_event(&process->threads[0], PT_EV_range_end, 3000, 3000, 0, 0);
    add_event(&process->threads[0], PT_EV_range_begin, 3000, 3000, 3, 0); /* its end is missing */
    add_event(&process->threads[0], PT_EV_mark, 3500, 3500, 2, 0);
    add_read(process, 0, 4000, 9000);
    add_read(process, 0, 5000, 6000);
    add_read(process, 0, 5000, 5000);
    add_event(&process->threads[0], PT_EV_range_end, 7, 7, 0, 0); /* its beginning is missing */
    add_event(&process->threads[1], PT_EV_epoch, 1000, 1000, 0, 0);
    for (pt_u64 step = 0; step < 5; step++)
        add_event(&process->threads[1], PT_EV_step, 2000 + (pt_i64)step * 1000, 2000 + (pt_i64)step * 1000, step, 0);
    add_event(&process->threads[1], PT_EV_epoch, 8500, 8500, 1, 0);
    add_value(process, 100, 0.1);
    add_value(process, 200, -1e300);
    add_value(process, 300, 0.0 / 0.0);
    add_value(process, 400, 1.0 / 0.0);
    add_event(&process->threads[0], PT_EV_heap_sample, 500, 500, 0x1000, 100);
    add_event(&process->threads[0], PT_EV_heap_sample, 40500, 40500, 0x2000, 8 << 20);
    add_event(&process->threads[0], PT_EV_heap_sample_free, 90500, 90500, 0x2000, 0);
}

/* Calls that a signal handler left by longjmp, events before the start and after the end. */
static void make_overlap(void)
{
    struct pt_process *process = add_process(100, "h1", 1000, 100000, 1);
    add_read(process, 0, 10000, 20000);
    add_read(process, 0, 15000, 25000);
    add_read(process, 0, 18000, 30000);
    add_read(process, 0, 19000, 40000);
    add_event(&process->threads[0], PT_EV_range_begin, 50000, 50000, 2, 0);
    add_read(process, 0, 45000, 55000);
    add_event(&process->threads[0], PT_EV_range_end, 60000, 60000, 0, 0);
    add_read(process, 0, 0, 2000);
    add_read(process, 0, 99000, 120000);
    for (pt_i64 i = 0; i < 8; i++)
        add_read(process, 0, 70000 + i * 10, 80000 + i * 100);
}

static void make_hostile(void)
{
    struct pt_process *process = add_process(0xffffffff, "h\"1\n\x01\xff", 0, 1000000, 3);
    process->threads[1].tid = 0;
    process->exe = "/tmp/\xff\xfe\"\\\n";
    process->stage = "\xed\xa0\x80lone";
    process->cwd = NULL;
    process->argc = 0;
    add_process(0xffffffff, NULL, 0, 1000, 1)->comm = NULL;
    for (pt_u32 i = 0; i < 256; i++) {
        const pt_i64 at = 1000 + i * 1000;
        const pt_u32 name = 10 + i;
        if (i == 255)
            memset(strings[name] = calloc(1, 100001), '"', 100000);
        else if (asprintf(&strings[name], "%c%c<\xf0\x9f\x98\x80>\xc0\xaf", (int)i, (int)(255 - i)) < 0)
            abort();
        add_event(&process->threads[0], PT_EV_range_begin, at, at, name, 0);
        add_event(&process->threads[0], PT_EV_io_open, at, at + 500, (pt_u64)name << 32 | 0xfffffffe, 0);
        add_event(&process->threads[0], PT_EV_range_end, at + 600, at + 600, 0, 0);
    }
    add_event(&process->threads[0], PT_EV_range_begin, 300000, 300000, 9999, 0);
    add_event(&process->threads[1], PT_EV_mark, 300000, 300000, 65, 0);
    add_read(process, 2, 400000, 300000); /* ends before it begins */
}

/* fork, exec, a pid used again, the same pid on another host, a vfork'ed child's exec seen in the parent. */
static void make_forks(void)
{
    struct pt_process *parent = add_process(100, "h1", 0, 100000, 2);
    add_event(&parent->threads[0], PT_EV_proc_fork, 1000, 1500, 101, 0);
    struct pt_process *child = add_process(101, "h1", 1200, 5000, 1);
    child->parent = parent;
    child->state = PT_PROCESS_EXECED;
    add_event(&child->threads[0], PT_EV_proc_exec, 1900, 1900, 3, 0);
    add_event(&child->threads[0], PT_EV_proc_exec_failed, 2000, 2000, 3ull << 32 | 0xfffffffe, 0);
    add_event(&child->threads[0], PT_EV_proc_exec, 4000, 4000, 3, 0);
    struct pt_process *image = add_process(101, "h1", 5100, 9000, 1);
    image->previous_image = child;
    image->parent = parent;
    add_event(&parent->threads[1], PT_EV_proc_spawn, 20000, 20500, 3ull << 32 | 101, 0);
    add_process(101, "h1", 20300, 30000, 1)->parent = parent;
    add_process(101, "h2", 20300, 30000, 1);
    add_event(&parent->threads[0], PT_EV_proc_exec, 40000, 40000, 3, 0);
    add_process(102, "h1", 40100, 50000, 1)->parent = parent;
    add_read(parent, 0, 41000, 42000);
    add_event(&parent->threads[0], PT_EV_proc_fork, 60000, 60100, 0xfffffff5, 0);
}

/* Anything at all: whatever comes, the file must be whole. */
static void make_random(void)
{
    srandom((unsigned)number);
    for (pt_u32 p = 0; p < 4; p++)
        add_process(100 + p % 3, p == 3 ? "h2" : "h1", p * 1000, 100000, 1 + (pt_u32)random() % 4);
    static const pt_u8 ids[] = {PT_EV_io_read,   PT_EV_io_open,    PT_EV_range_begin, PT_EV_range_end,
                                PT_EV_step,      PT_EV_epoch,      PT_EV_mark,        PT_EV_proc_exec,
                                PT_EV_proc_fork, PT_EV_meta_stat,  PT_EV_stage,       PT_EV_proc_exec_failed,
                                PT_EV_map_anon,  PT_EV_heap_sample};
    for (int i = 0; i < 5000; i++) {
        struct pt_process *process = process_list[random() % 4];
        const pt_u8 id = ids[(size_t)random() % (random() % 2 ? 2 : sizeof ids)];
        const pt_i64 start = random() % 100000;
        const bool is_span = pt_event_desc_by_id(id)->role == PT_ROLE_SPAN;
        const pt_i64 length = !is_span ? 0 : random() % (random() % 10 ? 40 : 30000);
        const pt_u32 thread = (pt_u32)random() % process->n_threads;
        const pt_u64 child = 100 + (pt_u64)random() % 3, value = (pt_u64)random();
        add_event(&process->threads[thread], id, start, start + length, id == PT_EV_proc_fork ? child : 2, value);
    }
}

static void make_big(void)
{
    n_big = number;
    add_process(100, "h1", 0, 2000 + (pt_i64)number * 1000, 4);
}

static const struct {
    const char *name;
    void (*make)(void);
} scenarios[] = {{"empty", make_empty},     {"idle", make_idle},   {"nested", make_nested}, {"overlap", make_overlap},
                 {"hostile", make_hostile}, {"forks", make_forks}, {"random", make_random}, {"big", make_big}};

static int export_to(const char *path)
{
    struct pt_error err = {0};
    struct pt_export_summary summary;
    struct pt_sink_result file;
    struct timespec before, after;
    const struct pt_export_options options = {0};
    const size_t length = strlen(path);
    clock_gettime(CLOCK_MONOTONIC, &before);
    const struct pt_out_place place = pt_place_of_user(path);
    struct pt_sink *sink =
        pt_sink_open(&place, length > 3 && !strcmp(path + length - 3, ".gz") ? PT_SINK_PACKED : PT_SINK_PLAIN, 0, &err);
    __typeof__(&pt_export_chrome) const write = strstr(path, ".pftrace") ? pt_export_perfetto : pt_export_chrome;
    if (!sink || write(&session, &options, sink, &summary, &err) < 0 || pt_sink_close(sink, &file, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    clock_gettime(CLOCK_MONOTONIC, &after);
    printf("{\"slices\": %llu, \"instants\": %llu, \"counters\": %llu, \"flows\": %llu, \"processes\": %llu, "
           "\"tracks\": %llu, "
           "\"moved\": %llu, \"left_out\": %llu, \"bytes\": %llu, \"seconds\": %.3f}\n",
           (unsigned long long)summary.slices, (unsigned long long)summary.instants,
           (unsigned long long)summary.counters, (unsigned long long)summary.flows,
           (unsigned long long)summary.processes, (unsigned long long)summary.tracks, (unsigned long long)summary.moved,
           (unsigned long long)summary.left_out, (unsigned long long)file.bytes,
           (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9);
    return 0;
}

int main(int argc, char **argv)
{
    static char directory[] = ".", name[] = "synthetic";
    session.path = directory;
    session.name = name;
    session.start_realtime_ns = 1763640000000000123;
    strings[0] = strdup("");
    strings[2] = strdup("forward");
    strings[3] = strdup("/bin/ls");
    number = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    for (size_t i = 0; argc > 2 && i < sizeof scenarios / sizeof *scenarios; i++)
        if (!strcmp(argv[1], scenarios[i].name)) {
            scenarios[i].make();
            return export_to(argv[2]);
        }
    fprintf(stderr, "usage: synthetic SCENARIO FILE [N]\n");
    return 2;
}

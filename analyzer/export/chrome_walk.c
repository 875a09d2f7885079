/* SPDX-License-Identifier: MIT
 *
 * chrome_walk.c - the frame of a Chrome trace: header, processes with their lives, rows, arrows, names.
 *
 * Owns: the per-process and per-thread state of the walk. One thread. Never: reads events. */
#include "chrome_walk.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../util/mem.h"

#define FIRST_ARGUMENT_CHARS 40

pt_i64 pt_chrome_shown_ns(const struct pt_chrome *chrome)
{
    const pt_i64 from_ns = chrome->from_ns > 0 ? chrome->from_ns : 0;
    const pt_i64 until_ns =
        chrome->until_ns < chrome->session->duration_ns ? chrome->until_ns : chrome->session->duration_ns;
    return until_ns > from_ns ? until_ns - from_ns : 0;
}

/* ---- processes ---- */

static bool process_is_wanted(const struct pt_process *process, const struct pt_filter *filter)
{
    if (filter->pid && process->pid != filter->pid)
        return false;
    return !filter->stage || (process->stage && !strcmp(process->stage, filter->stage));
}

static void process_bounds(struct pt_chrome *chrome, struct pt_chrome_process *process)
{
    const struct pt_process *from = process->process;
    pt_i64 start = from->start_ns, end = from->end_ns;
    for (pt_u32 i = 0; i < from->n_threads; i++) {
        start = from->threads[i].start_ns < start ? from->threads[i].start_ns : start;
        end = from->threads[i].end_ns > end ? from->threads[i].end_ns : end;
    }
    process->start_ns = start;
    process->end_ns = end < start ? start : end;
    process->from_ns = start < chrome->from_ns ? chrome->from_ns : start;
    process->until_ns = process->end_ns > chrome->until_ns ? chrome->until_ns : process->end_ns;
    process->is_shown &= process->from_ns <= process->until_ns;
}

static const char *last_component(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash && slash[1] ? slash + 1 : path ? path : "";
}

/* "python3 train.py": the program and what it was given first, unless that is an option. */
static void process_title(char *title, size_t room, const struct pt_process *process)
{
    const char *program = last_component(process->exe && *process->exe ? process->exe : process->comm);
    const char *first = process->argc > 1 && process->argv[1] ? process->argv[1] : "";
    const char *fork = process->parent_trace_id && !process->previous_image ? " (fork)" : "";
    if (*first == '-' || !*first)
        snprintf(title, room, "%s%s", *program ? program : "process", fork);
    else
        snprintf(title, room, "%s %.*s%s", program, FIRST_ARGUMENT_CHARS, last_component(first), fork);
}

static void process_labels(char *labels, size_t room, const struct pt_chrome_process *process)
{
    const struct pt_process *from = process->process;
    int used = snprintf(labels, room, "%s", from->stage && *from->stage ? from->stage : "");
    if (process->pid != from->pid && (size_t)used < room)
        snprintf(labels + used, room - (size_t)used, "%spid %u%s%s", used ? ", " : "", from->pid,
                 from->host && *from->host ? " on " : "", from->host ? from->host : "");
}

static char *put_argv(char *at, const struct pt_process *process)
{
    char line[2048];
    size_t used = 0;
    line[0] = 0;
    for (int i = 0; i < process->argc && used < sizeof line - 1; i++) {
        const int wrote = snprintf(line + used, sizeof line - used, "%s%s", i ? " " : "", process->argv[i]);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    return pt_put_string(pt_put(at, ",\"argv\":"), line);
}

static char *put_state(char *at, const struct pt_process *process)
{
    switch (process->state) {
    case PT_PROCESS_EXITED:
        return pt_put_i64(pt_put(at, ",\"exit_status\":"), process->exit_status);
    case PT_PROCESS_EXECED:
        return pt_put(at, ",\"end\":\"exec\"");
    case PT_PROCESS_LIVE:
        break;
    }
    return pt_put(at, ",\"end\":\"not seen\"");
}

/* The life of a process encloses what its main thread does, and is where arrows from its parent arrive. */
static void show_life(struct pt_chrome *chrome, struct pt_chrome_process *process, const char *title)
{
    const struct pt_process *from = process->process;
    char *at = pt_chrome_begin(&chrome->out, 'X', process->pid, process->main_tid, process->from_ns);
    at = pt_put_us(pt_put(at, ",\"dur\":"), process->until_ns - process->from_ns);
    at = pt_put_string(pt_put(at, ",\"cat\":\"process\",\"name\":"), title);
    at = pt_put_string(pt_put(at, ",\"args\":{\"exe\":"), from->exe ? from->exe : "");
    at = put_argv(at, from);
    at = pt_put_string(pt_put(at, ",\"cwd\":"), from->cwd ? from->cwd : "");
    at = pt_put_u64(pt_put(at, ",\"pid\":"), from->pid);
    at = pt_put_u64(pt_put(at, ",\"ppid\":"), from->ppid);
    at = put_state(at, from);
    at = pt_put_u64(pt_put(at, ",\"events_overwritten\":"), from->quality.overwritten);
    at = pt_put_u64(pt_put(at, ",\"events_dropped\":"), from->quality.dropped);
    *at++ = '}';
    pt_chrome_end(&chrome->out, at);
    chrome->out.summary->slices++;
    chrome->out.summary->processes++;
}

static void show_process(struct pt_chrome *chrome, struct pt_chrome_process *process)
{
    char title[256], labels[512];
    process_title(title, sizeof title, process->process);
    process_labels(labels, sizeof labels, process);
    pt_chrome_name(&chrome->out, process->pid, 0, "process_name", title);
    pt_chrome_sort_index(&chrome->out, process->pid, 0, "process_sort_index", process->process->index);
    if (*labels)
        pt_chrome_name(&chrome->out, process->pid, 0, "process_labels", labels);
    show_life(chrome, process, title);
}

/* ---- threads alive, over time ---- */

struct thread_change {
    pt_i64 at_ns;
    int step;
};

static int change_order(const void *a, const void *b)
{
    const struct thread_change *x = a, *y = b;
    return x->at_ns != y->at_ns ? (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns) : y->step - x->step;
}

static void show_thread_count(void *context, pt_i64 at_ns, pt_u64 value)
{
    struct pt_chrome_process *process = context;
    if (at_ns >= process->from_ns && at_ns <= process->until_ns)
        pt_chrome_counter(&process->chrome->out, process->pid, at_ns, "threads", "alive", value);
}

static void show_threads(struct pt_chrome *chrome, struct pt_chrome_process *process)
{
    const pt_u32 n = process->process->n_threads;
    if (n < 2)
        return;
    struct thread_change *changes = pt_calloc(2 * (size_t)n, sizeof *changes);
    for (pt_u32 i = 0; i < n; i++) {
        changes[2 * i] = (struct thread_change){process->process->threads[i].start_ns, 1};
        changes[2 * i + 1] = (struct thread_change){process->process->threads[i].end_ns, -1};
    }
    qsort(changes, 2 * (size_t)n, sizeof *changes, change_order);
    struct pt_thinned series = {
        .show = show_thread_count, .context = process, .bucket_ns = pt_chrome_shown_ns(chrome) / 4000};
    pt_u64 alive = 0;
    for (pt_u32 i = 0; i < 2 * n; i++)
        pt_thinned_add(&series, changes[i].at_ns, alive += (pt_u64)changes[i].step);
    pt_thinned_flush(&series);
    free(changes);
}

/* ---- rows ---- */

struct pt_chrome_lane *pt_chrome_lane(struct pt_chrome *chrome, const struct pt_event *event)
{
    struct pt_chrome_process *process = &chrome->processes[event->process->index];
    struct pt_chrome_lane **slot = &process->lanes[event->thread->index];
    if (*slot)
        return *slot;
    struct pt_chrome_lane *lane = pt_calloc(1, sizeof *lane);
    lane->thread = event->thread;
    lane->process = process;
    for (int row = 0; row < PT_CHROME_ROWS; row++) {
        lane->rows[row].from_ns = process->from_ns;
        lane->rows[row].until_ns = process->until_ns;
        lane->rows[row].forgotten_until_ns = LLONG_MIN;
    }
    return *slot = lane;
}

pt_u32 pt_chrome_lane_tid(struct pt_chrome *chrome, struct pt_chrome_lane *lane, int row)
{
    if (!lane->tids[row])
        lane->tids[row] = row ? pt_chrome_ids_new_tid(&chrome->ids)
                              : chrome->ids.tids[lane->process->process->index][lane->thread->index];
    return lane->tids[row];
}

static void name_row(struct pt_chrome *chrome, const struct pt_chrome_lane *lane, int row)
{
    const pt_u32 tid = lane->thread->tid, order = 1 + lane->thread->index;
    const bool is_main = tid == lane->process->process->pid;
    char name[64];
    snprintf(name, sizeof name, "%s %u%s", is_main ? "main" : "thread", tid,
             row == 0                ? ""
             : row == PT_CHROME_ROWS ? " steps"
                                     : " (overlapping)");
    pt_chrome_name(&chrome->out, lane->process->pid, lane->tids[row], "thread_name", name);
    pt_chrome_sort_index(&chrome->out, lane->process->pid, lane->tids[row], "thread_sort_index",
                         (is_main ? 0 : order) * (PT_CHROME_ROWS + 1) + (pt_u32)((row + 1) % (PT_CHROME_ROWS + 1)));
    chrome->out.summary->tracks++;
}

static void name_rows(struct pt_chrome *chrome, struct pt_chrome_process *process)
{
    bool has_main = false;
    for (pt_u32 i = 0; process->is_shown && i < process->process->n_threads; i++) {
        const struct pt_chrome_lane *lane = process->lanes[i];
        for (int row = 0; lane && row <= PT_CHROME_ROWS; row++) {
            if (!lane->tids[row])
                continue;
            name_row(chrome, lane, row);
            has_main |= lane->tids[row] == process->main_tid;
        }
    }
    if (!process->is_shown || has_main)
        return;
    pt_chrome_name(&chrome->out, process->pid, process->main_tid, "thread_name", "main");
    pt_chrome_sort_index(&chrome->out, process->pid, process->main_tid, "thread_sort_index", 0);
    chrome->out.summary->tracks++;
}

/* ---- arrows ---- */

static const struct pt_session *sorted_session; /* qsort has no context */
static int pid_order(const void *a, const void *b)
{
    const struct pt_process *x = sorted_session->processes[*(const pt_u32 *)a],
                            *y = sorted_session->processes[*(const pt_u32 *)b];
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static void sort_by_pid(struct pt_chrome *chrome)
{
    chrome->by_pid = pt_calloc(chrome->n_processes ? chrome->n_processes : 1, sizeof *chrome->by_pid);
    for (pt_u32 i = 0; i < chrome->n_processes; i++)
        chrome->by_pid[i] = i;
    sorted_session = chrome->session;
    qsort(chrome->by_pid, chrome->n_processes, sizeof *chrome->by_pid, pid_order);
}

struct pt_chrome_process *pt_chrome_find_child(struct pt_chrome *chrome, const struct pt_chrome_process *parent,
                                               pt_i32 child_pid, pt_i64 at_ns)
{
    pt_u32 low = 0, high = chrome->n_processes;
    while (low < high) {
        const pt_u32 middle = low + (high - low) / 2;
        const struct pt_process *process = chrome->session->processes[chrome->by_pid[middle]];
        if (process->pid < (pt_u32)child_pid || (process->pid == (pt_u32)child_pid && process->start_ns < at_ns))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < chrome->n_processes; low++) {
        struct pt_chrome_process *child = &chrome->processes[chrome->by_pid[low]];
        if (child->process->pid != (pt_u32)child_pid)
            break;
        const char *host = child->process->host, *parent_host = parent->process->host;
        if (child->is_shown && !child->is_linked && (!host || !parent_host || !strcmp(host, parent_host)))
            return child;
    }
    return NULL;
}

struct pt_chrome_process *pt_chrome_next_image(struct pt_chrome *chrome, const struct pt_chrome_process *process)
{
    for (pt_u32 i = process->process->index + 1; i < chrome->n_processes; i++)
        if (chrome->processes[i].process->previous_image == process->process)
            return chrome->processes[i].is_shown ? &chrome->processes[i] : NULL;
    return NULL;
}

/* Children that no fork or spawn told of (vfork, clone, system): the arrow starts on the parent's main thread. */
static void show_untold_children(struct pt_chrome *chrome)
{
    for (pt_u32 i = 0; i < chrome->n_processes; i++) {
        struct pt_chrome_process *child = &chrome->processes[i];
        const struct pt_process *parent_process = child->process->parent;
        if (!child->is_shown || child->is_linked || !parent_process || child->process->previous_image)
            continue;
        struct pt_chrome_process *parent = &chrome->processes[parent_process->index];
        const pt_i64 at_ns = child->start_ns;
        if (!parent->is_shown || at_ns != child->from_ns || at_ns < parent->from_ns || at_ns >= parent->until_ns)
            continue;
        pt_chrome_flow(&chrome->out, "child", &(struct pt_chrome_end_of_flow){parent->pid, parent->main_tid, at_ns},
                       &(struct pt_chrome_end_of_flow){child->pid, child->main_tid, at_ns});
    }
}

/* ---- the file ---- */

static void show_header(struct pt_chrome *chrome)
{
    const struct pt_session *session = chrome->session;
    char *at = pt_sink_room(chrome->out.sink);
    at = pt_put(at, "{\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":");
    at = pt_put_u64(at, session->start_realtime_ns);
    at = pt_put(at, ",\"otherData\":{\"tool\":\"proftrace " PROFTRACE_VERSION "\",\"run\":");
    at = pt_put_string(at, session->name ? session->name : "");
    at = pt_put_u64(pt_put(at, ",\"processes\":"), session->n_processes);
    at = pt_put_u64(pt_put(at, ",\"events_recorded\":"), session->quality.events);
    at = pt_put_u64(pt_put(at, ",\"events_overwritten\":"), session->quality.overwritten);
    at = pt_put_u64(pt_put(at, ",\"events_dropped\":"), session->quality.dropped);
    at = pt_put(at, "},\"traceEvents\":[");
    pt_sink_wrote(chrome->out.sink, at);
}

static void open_process(struct pt_chrome *chrome, pt_u32 index, const struct pt_filter *filter)
{
    struct pt_chrome_process *process = &chrome->processes[index];
    process->chrome = chrome;
    process->heap.blocks.room = &chrome->room;
    process->process = chrome->session->processes[index];
    process->is_shown = process_is_wanted(process->process, filter);
    process->pid = process->main_tid = chrome->ids.pids[index];
    process->lanes = pt_calloc(process->process->n_threads ? process->process->n_threads : 1, sizeof *process->lanes);
    process_bounds(chrome, process);
    if (process->is_shown)
        show_process(chrome, process);
}

void pt_chrome_open(struct pt_chrome *chrome, struct pt_session *session, const struct pt_filter *filter)
{
    chrome->session = session;
    chrome->from_ns = filter->from_ns > 0 ? filter->from_ns : LLONG_MIN / 4;
    chrome->until_ns = filter->until_ns > 0 ? filter->until_ns : LLONG_MAX / 4;
    chrome->min_duration_ns = filter->min_duration_ns;
    chrome->n_processes = session->n_processes;
    chrome->processes = pt_calloc(session->n_processes ? session->n_processes : 1, sizeof *chrome->processes);
    chrome->out.kinds = pt_calloc(256, sizeof *chrome->out.kinds);
    pt_chrome_ids_build(&chrome->ids, session);
    sort_by_pid(chrome);
    show_header(chrome);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        open_process(chrome, i, filter);
}

static void free_process(struct pt_chrome_process *process)
{
    for (pt_u32 i = 0; i < process->process->n_threads; i++) {
        struct pt_chrome_lane *lane = process->lanes[i];
        for (int row = 0; lane && row < PT_CHROME_ROWS; row++)
            pt_track_free(&lane->rows[row]);
        free(lane);
    }
    free(process->lanes);
    pt_live_heap_free(&process->heap);
}

void pt_chrome_close(struct pt_chrome *chrome)
{
    for (pt_u32 i = 0; i < chrome->n_processes; i++)
        pt_chrome_finish_process(chrome, &chrome->processes[i]);
    show_untold_children(chrome);
    for (pt_u32 i = 0; i < chrome->n_processes; i++)
        if (chrome->processes[i].is_shown)
            show_threads(chrome, &chrome->processes[i]);
    for (pt_u32 i = 0; i < chrome->n_processes; i++)
        name_rows(chrome, &chrome->processes[i]);
    pt_sink_wrote(chrome->out.sink, pt_put(pt_sink_room(chrome->out.sink), "\n]}\n"));
    for (pt_u32 i = 0; i < chrome->n_processes; i++)
        free_process(&chrome->processes[i]);
    free(chrome->processes);
    free(chrome->by_pid);
    free(chrome->out.kinds);
    pt_chrome_ids_free(&chrome->ids);
}

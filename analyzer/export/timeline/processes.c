/* SPDX-License-Identifier: MIT
 *
 * timeline/processes.c - what a timeline shows of processes beside their events: names, lives, threads alive over time,
 * arrows between them.
 *
 * Owns: the per-process state of the walk. One thread. Never: reads events. */
#include "processes.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/text/path.h"
#include "util/text/utf8.h"
#include "util/text/wait_status.h"
#include "util/text/width.h"
#include "lanes.h"
#include "show.h"
#include "tracks.h"

#define FIRST_ARGUMENT_WIDTH 40

/* ---- names and lives ---- */

static void process_bounds(struct pt_timeline *timeline, struct pt_timeline_process *process)
{
    const struct pt_process *from = process->process;
    pt_i64 start = from->start_ns, end = from->end_ns;
    for (pt_u32 i = 0; i < from->n_threads; i++) {
        start = from->threads[i].start_ns < start ? from->threads[i].start_ns : start;
        end = from->threads[i].end_ns > end ? from->threads[i].end_ns : end;
    }
    process->start_ns = start;
    process->end_ns = end < start ? start : end;
    process->from_ns = start < timeline->window.from_ns ? timeline->window.from_ns : start;
    process->until_ns = process->end_ns > timeline->window.until_ns ? timeline->window.until_ns : process->end_ns;
    process->is_shown &= process->from_ns <= process->until_ns;
}

/* "pt_data_worker (fork of python3 train.py)" where a process has a name of its own; else "python3 train.py": the
 * program and what it was given first, unless that is an option. */
static void process_title(char *title, size_t room, const struct pt_timeline *timeline,
                          const struct pt_process *process)
{
    const char *comm = process->comm ? process->comm : "";
    const char *program = pt_base_name(process->exe && *process->exe ? process->exe : comm);
    const char *first = process->argc > 1 && process->argv[1] ? process->argv[1] : "";
    const bool is_fork = process->parent_trace_id && !process->previous_image;
    const char *name = is_fork ? pt_timeline_thread_name(timeline, process, process->pid) : NULL;
    const char *before = name ? name : "", *of = name ? " (fork of " : "";
    const char *after = name ? ")" : is_fork ? " (fork)" : "";
    const char *argument = pt_base_name(first);
    if (*first == '-' || !*first)
        snprintf(title, room, "%.40s%s%s%s", before, of, *program ? program : "process", after);
    else
        snprintf(title, room, "%.40s%s%s %.*s%s", before, of, program,
                 (int)pt_text_prefix(argument, FIRST_ARGUMENT_WIDTH), argument, after);
    pt_utf8_trim(title, room);
}

static void process_labels(char *labels, size_t room, const struct pt_timeline_process *process)
{
    const struct pt_process *from = process->process;
    int used = snprintf(labels, room, "%s", from->stage && *from->stage ? from->stage : "");
    if (from->rank >= 0 && (size_t)used < room)
        used += snprintf(labels + used, room - (size_t)used, "%srank %lld", used ? ", " : "", (long long)from->rank);
    if (process->pid != from->pid && (size_t)used < room)
        snprintf(labels + used, room - (size_t)used, "%spid %u%s%s", used ? ", " : "", from->pid,
                 from->host && *from->host ? " on " : "", from->host ? from->host : "");
    pt_utf8_trim(labels, room);
}

static void join_argv(char *line, size_t room, const struct pt_process *process)
{
    size_t used = 0;
    line[0] = 0;
    for (int i = 0; i < process->argc && used < room - 1; i++) {
        const int wrote = snprintf(line + used, room - used, "%s%s", i ? " " : "", process->argv[i]);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    pt_utf8_trim(line, room);
}

/* `room` is for words that are put together. */
static struct pt_timeline_arg end_arg(const struct pt_process *process, char room[static PT_STATUS_TEXT_BYTES])
{
    if (process->state == PT_PROCESS_EXITED)
        return (struct pt_timeline_arg){.key = "exit_status", .number = process->exit_status};
    if (process->state == PT_PROCESS_EXECED)
        return (struct pt_timeline_arg){.key = "end", .text = "exec"};
    if (process->is_running || process->wait_status < 0)
        return (struct pt_timeline_arg){.key = "end", .text = process->is_running ? "still running" : "not seen"};
    pt_status_text(process->wait_status, room, PT_STATUS_TEXT_BYTES);
    return (struct pt_timeline_arg){.key = "end", .text = room};
}

/* The life of a process encloses what its main thread does, and is where arrows from its parent arrive. */
static void show_life(struct pt_timeline *timeline, struct pt_timeline_process *process)
{
    const struct pt_process *from = process->process;
    char title[256], line[2048], end[PT_STATUS_TEXT_BYTES];
    process_title(title, sizeof title, timeline, from);
    join_argv(line, sizeof line, from);
    const struct pt_timeline_arg args[] = {
        {.key = "exe", .text = from->exe ? from->exe : ""},
        {.key = "argv", .text = line},
        {.key = "cwd", .text = from->cwd ? from->cwd : ""},
        {.key = "pid", .number = from->pid},
        {.key = "ppid", .number = from->ppid},
        end_arg(from, end),
        {.key = "events_overwritten", .number = (pt_i64)from->quality.overwritten},
        {.key = "events_dropped", .number = (pt_i64)from->quality.dropped},
    };
    pt_timeline_show(timeline, &(struct pt_timeline_slice){.track = process->main_track,
                                                           .start_ns = process->from_ns,
                                                           .end_ns = process->until_ns,
                                                           .category = "process",
                                                           .name = title,
                                                           .arrow_to = process->arrow_to,
                                                           .arrows_from = process->arrows_from.items,
                                                           .n_arrows_from = (pt_u32)process->arrows_from.n,
                                                           .args = args,
                                                           .n_args = sizeof args / sizeof *args});
}

static void name_process(struct pt_timeline *timeline, struct pt_timeline_process *process)
{
    char title[256], labels[512];
    process_title(title, sizeof title, timeline, process->process);
    process_labels(labels, sizeof labels, process);
    timeline->writer->process(timeline, process, title, labels);
    timeline->summary->processes++;
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

static void show_threads(struct pt_timeline_process *process)
{
    const struct pt_process *from = process->process;
    struct thread_change *changes = pt_calloc(2 * (size_t)from->n_threads + 1, sizeof *changes);
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < from->n_threads; i++) {
        if (from->threads[i].tid >= PT_DEVICE_TID)
            continue;
        changes[n++] = (struct thread_change){from->threads[i].start_ns, 1};
        changes[n++] = (struct thread_change){from->threads[i].end_ns, -1};
    }
    qsort(changes, n, sizeof *changes, change_order);
    struct pt_timeline_counter counter = {.process = process,
                                          .name = "threads",
                                          .series = "alive",
                                          .key = PT_TIMELINE_KEY_THREADS,
                                          .unit = PT_TIMELINE_UNIT_COUNT};
    struct pt_thinned series = {0};
    pt_timeline_show_series(&series, &counter, 4000);
    pt_u64 alive = 0;
    for (pt_u32 i = 0; n > 2 && i < n; i++)
        pt_thinned_add(&series, changes[i].at_ns, alive += (pt_u64)changes[i].step);
    pt_thinned_flush(&series);
    free(changes);
}

/* ---- arrows ---- */

static int pid_order(const void *a, const void *b, void *context)
{
    const struct pt_session *session = context;
    const struct pt_process *x = session->processes[*(const pt_u32 *)a], *y = session->processes[*(const pt_u32 *)b];
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static void sort_by_pid(struct pt_timeline *timeline)
{
    timeline->by_pid = pt_calloc(timeline->n_processes ? timeline->n_processes : 1, sizeof *timeline->by_pid);
    for (pt_u32 i = 0; i < timeline->n_processes; i++)
        timeline->by_pid[i] = i;
    qsort_r(timeline->by_pid, timeline->n_processes, sizeof *timeline->by_pid, pid_order, timeline->session);
}

pt_u32 pt_timeline_first_of_pid(const struct pt_timeline *timeline, pt_u32 pid, pt_i64 from_ns)
{
    pt_u32 low = 0, high = timeline->n_processes;
    while (low < high) {
        const pt_u32 middle = low + (high - low) / 2;
        const struct pt_process *process = timeline->session->processes[timeline->by_pid[middle]];
        if (process->pid < pid || (process->pid == pid && process->start_ns < from_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The number may be that of a later process, whose parent is another: of the first one nothing was recorded. */
static bool may_be_child(const struct pt_process *process, const struct pt_process *parent)
{
    const bool is_of_another = process->parent && process->parent->pid != parent->pid;
    return !is_of_another && (!process->host || !parent->host || !strcmp(process->host, parent->host));
}

struct pt_timeline_process *pt_timeline_find_child(struct pt_timeline *timeline,
                                                   const struct pt_timeline_process *parent, pt_i32 child_pid,
                                                   pt_i64 at_ns)
{
    for (pt_u32 i = pt_timeline_first_of_pid(timeline, (pt_u32)child_pid, at_ns); i < timeline->n_processes; i++) {
        struct pt_timeline_process *child = &timeline->processes[timeline->by_pid[i]];
        if (child->process->pid != (pt_u32)child_pid)
            break;
        if (child->is_shown && !child->is_linked && may_be_child(child->process, parent->process))
            return child;
    }
    return NULL;
}

struct pt_timeline_process *pt_timeline_next_image(struct pt_timeline *timeline,
                                                   const struct pt_timeline_process *process)
{
    for (pt_u32 i = process->process->index + 1; i < timeline->n_processes; i++)
        if (timeline->processes[i].process->previous_image == process->process)
            return timeline->processes[i].is_shown ? &timeline->processes[i] : NULL;
    return NULL;
}

pt_u64 pt_timeline_link_process(struct pt_timeline *timeline, const char *what, const struct pt_timeline_place *from,
                                struct pt_timeline_process *made)
{
    if (!made || made->from_ns != made->start_ns)
        return 0;
    made->is_linked = true;
    if (from->at_ns > made->from_ns)
        return 0;
    pt_timeline_show_arrow(timeline, "process", what, from,
                           &(struct pt_timeline_place){made->main_track, made->from_ns});
    return made->arrow_to = ++timeline->n_arrows;
}

/* Children that no fork or spawn event names (vfork, clone, system): the arrow starts on the parent's main thread. */
static void show_other_children(struct pt_timeline *timeline)
{
    for (pt_u32 i = 0; i < timeline->n_processes; i++) {
        struct pt_timeline_process *child = &timeline->processes[i];
        const struct pt_process *parent_process = child->process->parent;
        if (!child->is_shown || child->is_linked || !parent_process || child->process->previous_image)
            continue;
        struct pt_timeline_process *parent = &timeline->processes[parent_process->index];
        const pt_i64 at_ns = child->start_ns;
        if (!parent->is_shown || at_ns != child->from_ns || at_ns < parent->from_ns || at_ns >= parent->until_ns)
            continue;
        if (!timeline->writer->arrow && parent->arrows_from.n >= PT_TIMELINE_MOST_ARROWS) {
            timeline->summary->left_out++;
            continue;
        }
        pt_timeline_show_arrow(timeline, "process", "child", &(struct pt_timeline_place){parent->main_track, at_ns},
                               &(struct pt_timeline_place){child->main_track, at_ns});
        child->arrow_to = ++timeline->n_arrows;
        pt_vec_push(&parent->arrows_from, child->arrow_to);
    }
}

/* ---- the walk's state ---- */

/* The track of its life: its main thread's, or one of that name where no such thread is known. */
static struct pt_timeline_track *main_track(struct pt_timeline_process *process)
{
    const pt_u32 *tids = process->timeline->ids.tids[process->process->index];
    for (pt_u32 i = 0; i < process->process->n_threads; i++)
        if (tids[i] == process->pid)
            return pt_timeline_thread_track(pt_timeline_lane_at(process, i));
    struct pt_timeline_track *track = pt_timeline_track_new(process, 0);
    track->tid = track->thread_tid = process->pid;
    snprintf(track->name, sizeof track->name, "main");
    process->has_own_main_track = true;
    return track;
}

static void open_process(struct pt_timeline *timeline, pt_u32 index, const struct pt_filter *filter)
{
    struct pt_timeline_process *process = &timeline->processes[index];
    process->timeline = timeline;
    process->heap.blocks.room = &timeline->room;
    process->process = timeline->session->processes[index];
    process->is_shown = pt_selects_process(filter, process->process);
    process->pid = timeline->ids.pids[index];
    process->lanes = pt_calloc(process->process->n_threads ? process->process->n_threads : 1, sizeof *process->lanes);
    process_bounds(timeline, process);
    if (!process->is_shown)
        return;
    process->main_track = main_track(process);
    name_process(timeline, process);
}

void pt_timeline_processes_open(struct pt_timeline *timeline, const struct pt_filter *filter)
{
    const struct pt_session *session = timeline->session;
    timeline->n_processes = session->n_processes;
    timeline->processes = pt_calloc(session->n_processes ? session->n_processes : 1, sizeof *timeline->processes);
    pt_timeline_ids_build(&timeline->ids, session);
    sort_by_pid(timeline);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        open_process(timeline, i, filter);
}

void pt_timeline_processes_show(struct pt_timeline *timeline)
{
    show_other_children(timeline);
    for (pt_u32 i = 0; i < timeline->n_processes; i++)
        if (timeline->processes[i].is_shown) {
            show_threads(&timeline->processes[i]);
            show_life(timeline, &timeline->processes[i]);
        }
}

static void free_process(struct pt_timeline_process *process)
{
    pt_timeline_tracks_free(&process->ranges);
    for (pt_u32 i = 0; i < process->process->n_threads; i++)
        pt_timeline_lane_free(process->lanes[i]);
    if (process->has_own_main_track)
        pt_timeline_track_free(process->main_track);
    free(process->lanes);
    free(process->open_ranges.items);
    free(process->arrows_from.items);
    pt_live_heap_free(&process->heap);
}

void pt_timeline_processes_free(struct pt_timeline *timeline)
{
    for (pt_u32 i = 0; i < timeline->n_processes; i++)
        free_process(&timeline->processes[i]);
    free(timeline->processes);
    free(timeline->by_pid);
    pt_timeline_ids_free(&timeline->ids);
}

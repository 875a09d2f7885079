/* SPDX-License-Identifier: MIT
 *
 * The time account: the wall time of a thread, split without overlap into waiting, computing and unknown time; for each
 * stage that of its critical thread (the main thread of the stage's first process), and in a table that of every
 * thread. What the critical thread waited for in another process is split again by what that process did.
 *
 * Threads: one. State: per thread one sum per part and kind. Never: counts a nanosecond twice: what a span contains is
 * taken off it.
 */
#include <math.h>
#include <stdlib.h>

#include "proftrace/events.h"
#include "analysis/analysis.h"
#include "facts/workers.h"
#include "profile/process_name.h"
#include "blockers_table.h"
#include "follow.h"
#include "heap_cost.h"
#include "parts.h"
#include "threads.h"
#include "whose.h"

static void begin(void *state, struct pt_profile *profile)
{
    struct pt_account *account = state;
    const struct pt_session *session = profile->session;
    account->profile = profile;
    account->facts = profile->facts;
    account->threads = pt_calloc(pt_n_threads(&account->facts->ids), sizeof *account->threads);
    account->partly = pt_calloc(session->n_processes, sizeof *account->partly);
    account->helped = pt_calloc(session->n_processes, sizeof *account->helped);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (pt_path_has(account->facts->paths, session->processes[i]) &&
            !pt_path_is_whole(account->facts->paths, session->processes[i]))
            account->partly[i] = pt_calloc(1, sizeof *account->partly[i]);
}

/* ---- events ---- */

/* Of file time: a copy that goes to a pipe is part of data wait. */
static void add_copy(const struct pt_account *account, const struct pt_event *e, double own_ns, double *read_ns,
                     double *write_ns)
{
    const enum pt_time_part part = account->facts->call.span.part;
    if (pt_only_copies(e) && (part == PT_PART_file_read || part == PT_PART_file_write))
        *(part == PT_PART_file_read ? read_ns : write_ns) += own_ns;
}

/* While the main thread waits for another one of its own that works alone, what that one does is its time. */
static void note_helper(struct pt_account *account, const struct pt_event *e)
{
    const struct pt_span *span = &account->facts->call.span;
    const double own_ns = (double)account->facts->call.own_ns;
    if (!account->facts->paths->processes[e->process->index].helpers.n || e->duration_ns <= 0)
        return;
    const double share = (double)pt_path_helper_ns(account->facts->paths, e->thread, span->start_ns, span->end_ns) /
                         (double)e->duration_ns;
    const double helped_ns = pt_is_main_thread(e) ? -share * own_ns : share * own_ns;
    struct pt_account_split *helped = &account->helped[e->process->index];
    helped->ns[span->part] += helped_ns;
    add_copy(account, e, helped_ns, &helped->copied_read_ns, &helped->copied_write_ns);
}

/* The event is of a critical thread while it is critical. Of one that is critical for a part of its life, what it did
 * in that part is kept apart. */
static bool note_critical(struct pt_account *account, const struct pt_event *e)
{
    const struct pt_span *span = &account->facts->call.span;
    const struct pt_loop_answer *loop = &account->facts->call.loop;
    struct pt_account_split *partly = account->partly[e->process->index];
    if (!pt_path_has(account->facts->paths, e->process) || e->thread != pt_main_thread(e->process))
        return false;
    if (!partly)
        return true;
    const pt_i64 ns = pt_path_ns(account->facts->paths, e->process, span->start_ns, span->end_ns);
    const double share = e->duration_ns > 0 ? (double)ns / (double)e->duration_ns : 0;
    partly->ns[span->part] += share * (double)account->facts->call.own_ns;
    add_copy(account, e, share * (double)account->facts->call.own_ns, &partly->copied_read_ns,
             &partly->copied_write_ns);
    if (loop->is_known) {
        const pt_i64 loop_ns = loop->wait.end_ns - loop->wait.start_ns;
        const double of_loop =
            (double)pt_path_ns(account->facts->paths, e->process, loop->wait.start_ns, loop->wait.end_ns) /
            (double)(loop_ns > 0 ? loop_ns : 1);
        partly->ns[PT_PART_idle] -= of_loop * loop->own_ns;
        partly->ns[loop->wait.part] += of_loop * loop->own_ns;
    }
    return share > 0.5;
}

static void event(void *state, const struct pt_event *e)
{
    struct pt_account *account = state;
    if (e->desc->role != PT_ROLE_SPAN)
        return;
    const struct pt_span *span = &account->facts->call.span;
    const struct pt_loop_answer *loop = &account->facts->call.loop;
    struct pt_account_thread *thread = &account->threads[pt_account_number(account, e->thread)];
    const bool is_critical = note_critical(account, e);
    note_helper(account, e);
    thread->ns[span->part] += (double)account->facts->call.own_ns;
    thread->seen_ns[e->desc->kind] += (double)e->duration_ns;
    if (span->part == PT_PART_gil_wait && e->desc->kind == PT_KIND_lock_cond)
        thread->gil_cond_ns += (double)e->duration_ns;
    add_copy(account, e, (double)account->facts->call.own_ns, &thread->copied_read_ns, &thread->copied_write_ns);
    /* Of others, what their own workers did in them is not shown, and nothing may be taken from their sleep. */
    if (span->part == PT_PART_sleep && pt_is_main_thread(e) && pt_path_has(account->facts->paths, e->process) &&
        pt_is_short_pause(e))
        pt_pauses_add(&thread->pauses, account->facts, e);
    pt_account_follow_due(account, span->end_ns);
    if (loop->is_known) {
        thread->ns[PT_PART_idle] -= loop->own_ns;
        thread->ns[loop->wait.part] += loop->own_ns;
    }
    if (is_critical && loop->is_known)
        pt_account_follow(account, e->thread, &loop->wait);
    if (is_critical)
        pt_account_follow_call(account, e->thread, e->desc->kind);
}

/* ---- results ---- */

static void set_account(struct pt_account *account, pt_u32 stage)
{
    const struct pt_session *session = account->profile->session;
    struct pt_account_split split = {0};
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        const struct pt_thread *thread = pt_main_thread(process);
        if (!thread || !pt_account_is_critical(account, stage, process))
            continue;
        if (account->partly[i]) {
            pt_account_name_workers(account, thread, account->partly[i], false);
            pt_account_add_split(&split, account->partly[i]);
        } else {
            pt_account_add_thread(account, thread, &split, false);
        }
        pt_account_add_split(&split, &account->helped[i]);
    }
    pt_account_set_parts(account, stage, &split);
}

/* There is no traced process: only the time that the launcher measured is known, if there was a launcher. */
static void set_untraced(struct pt_profile *profile, pt_u32 stage)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const bool skipped = pt_stage_was_skipped(&profile->stages.items[stage]);
    const pt_i64 wall_ns = pt_profile_stage_wall_ns(profile, stage);
    const char *reason = skipped        ? "the stage was skipped"
                         : wall_ns <= 0 ? pt_end_unknown_reason
                                        : "no process of the stage was traced";
    const struct pt_value wall = skipped || wall_ns <= 0 ? pt_unknown(reason) : pt_seconds(wall_ns);
    for (int part = 0; part < PT_PART__COUNT; part++)
        pt_metrics_set(metrics, scope, pt_time_parts[part].metric, pt_unknown(reason));
    pt_metrics_set(metrics, scope, "time.wall_s", wall);
    pt_metrics_set(metrics, scope, "time.unattributed_s", wall);
}

/* ---- every main thread ---- */

struct process_row {
    const char *process;
    pt_u32 pid;
    double wall_s;
    struct pt_value cpu_s, cpu_percent, file_s, network_s, data_wait_s, lock_s, sleep_s, child_wait_s;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct process_row, process, TEXT, "Process"),
    PT_COLUMN(struct process_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct process_row, wall_s, SECONDS, "Lived"),
    PT_COLUMN(struct process_row, cpu_s, SECONDS, "CPU of all"), /* the others are of the main thread */
    PT_COLUMN(struct process_row, cpu_percent, PERCENT, "Of one CPU"),
    PT_COLUMN(struct process_row, file_s, SECONDS, "Files"),
    PT_COLUMN(struct process_row, network_s, SECONDS, "Network"),
    PT_COLUMN(struct process_row, data_wait_s, SECONDS, "Data wait"),
    PT_COLUMN(struct process_row, lock_s, SECONDS, "Locks"),
    PT_COLUMN(struct process_row, sleep_s, SECONDS, "Sleep"),
    PT_COLUMN(struct process_row, child_wait_s, SECONDS, "Child wait"),
};
static const struct pt_table_kind by_process = {PT_VIEW_workers, .most = PT_ACCOUNT_MOST_WORKERS, PT_COLUMNS(columns)};

static void add_worker(struct pt_account *account, struct pt_rows *rows, const struct pt_thread *thread)
{
    const struct pt_process *process = thread->process;
    const struct pt_value cpu_s = pt_image_cpu_s(account->facts, process);
    const struct pt_value no_share =
        pt_unknown("it noted more CPU time than its threads can have used in its recorded life");
    const struct pt_image_use use = pt_image_use(account->facts, process);
    struct pt_account_split split = {0};
    pt_account_add_thread(account, thread, &split, true);
    const double file_ns = split.ns[PT_PART_file_read] + split.ns[PT_PART_file_write] + split.ns[PT_PART_file_meta];
    const double lock_ns = split.ns[PT_PART_lock] + split.ns[PT_PART_gil_wait];
    pt_rows_add(rows, &(struct process_row){
                          .process = pt_process_name(account->profile, process),
                          .pid = process->pid,
                          .wall_s = use.lived_ns / 1e9,
                          .cpu_s = cpu_s,
                          .cpu_percent = cpu_s.type == PT_VALUE_UNKNOWN ? cpu_s
                                         : isnan(use.percent)           ? no_share
                                                                        : pt_real(use.percent),
                          .file_s = pt_account_part_of(process, PT_PART_file_read, file_ns),
                          .network_s = pt_account_part_of(process, PT_PART_network, split.ns[PT_PART_network]),
                          .data_wait_s = pt_account_part_of(process, PT_PART_data_wait, split.ns[PT_PART_data_wait]),
                          .lock_s = pt_account_part_of(process, PT_PART_lock, lock_ns),
                          .sleep_s = pt_account_part_of(process, PT_PART_sleep, split.ns[PT_PART_sleep]),
                          .child_wait_s = pt_account_part_of(process, PT_PART_child_wait, split.ns[PT_PART_child_wait]),
                      });
}

static void set_workers(struct pt_account *account, pt_u32 stage)
{
    struct pt_profile *profile = account->profile;
    const struct pt_session *session = profile->session;
    struct pt_rows rows = pt_rows(&profile->metrics, pt_scope_stage(stage), &by_process);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_thread *thread = pt_main_thread(session->processes[i]);
        if (thread && pt_profile_stage_of(profile, session->processes[i]) == stage && pt_rows_have_room(&rows))
            add_worker(account, &rows, thread);
    }
}

static void set_processes(struct pt_profile *profile)
{
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_image_use use = pt_image_use(profile->facts, profile->session->processes[i]);
        pt_metrics_set(&profile->metrics, pt_scope_process(i), "process.cpu_s",
                       pt_image_cpu_s(profile->facts, profile->session->processes[i]));
        pt_metrics_set(&profile->metrics, pt_scope_process(i), "process.lived_s", pt_real(use.lived_ns / 1e9));
    }
}

static void end_pauses(struct pt_account *account, const struct pt_process *process)
{
    const struct pt_thread *thread = pt_main_thread(process);
    if (thread)
        pt_pauses_computed_ns(&account->threads[pt_account_number(account, thread)].pauses, account->facts, process);
}

static void finish(void *state, struct pt_profile *profile)
{
    struct pt_account *account = state;
    set_processes(profile);
    account->heap_costs_ns = pt_heap_costs_ns(account->facts);
    pt_account_follow_all(account);
    for (pt_u32 i = 0; i < profile->session->n_processes; i++)
        end_pauses(account, profile->session->processes[i]);
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        if (!profile->stages.items[stage].root || pt_profile_stage_wall_ns(profile, stage) <= 0) {
            set_untraced(profile, stage);
            continue;
        }
        set_account(account, stage);
        pt_account_set_whose(account, stage);
        set_workers(account, stage);
        pt_account_set_threads(account, stage);
        pt_account_set_followed(account, stage);
    }
    free(account->threads);
    free(account->heap_costs_ns);
    for (pt_u32 i = 0; i < profile->session->n_processes; i++)
        free(account->partly[i]);
    free(account->partly);
    free(account->helped);
    pt_account_follow_fini(account);
}

const struct pt_analysis pt_analysis_account = {
    .name = "account",
    .summary = "the time account of each stage's critical thread, of every thread, and of what was waited for",
    .categories = PT_CATEGORY_IO | PT_CATEGORY_STDIO | PT_CATEGORY_META | PT_CATEGORY_MAP | PT_CATEGORY_PROC |
                  PT_CATEGORY_WAIT | PT_CATEGORY_NET | PT_CATEGORY_CUDA,
    .state_size = sizeof(struct pt_account),
    .begin = begin,
    .event = event,
    .asks_facts = true,
    .finish = finish,
};

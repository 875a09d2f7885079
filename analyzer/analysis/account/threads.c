/* SPDX-License-Identifier: MIT
 *
 * The time account of every thread of a stage: its life, split as the critical thread's wall time is. The busiest have
 * a row each, the others share one; so do those of a pool that only wait for work.
 *
 * Threads: one. State: none. Never: shows a thread twice because of an exec: all images of its process are its life.
 */
#include "threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/process_name.h"
#include "cpu.h"
#include "parts.h"

/* Threads of the recorder's own, for what a GPU did, have such numbers. */
#define FIRST_MADE_UP_TID 0x80000000u

struct shown {
    const struct pt_thread *thread;
    double known_ns; /* of its life: all but idle and unattributed */
    bool only_waits;
};

/* OpenBLAS's threads spin for a tenth of a second before they sleep for the rest of the run. */
#define ONLY_WAITS 0.98
enum { FEWEST_OF_POOL = 4 };

static double account_of(const struct pt_account *account, pt_u32 stage, const struct pt_thread *thread,
                         struct pt_account_result *result)
{
    struct pt_account_split split = {0};
    struct pt_thread_life life = pt_thread_life(account->facts, thread);
    const struct pt_thread_clock *clock = pt_account_clock(account, thread);
    /* Another thread may have been the last to say something of it. */
    if (!life.is_exact && clock->is_read && clock->at_ns > life.end_ns)
        life.end_ns = clock->at_ns;
    const double wall_ns = (double)(life.end_ns > life.start_ns ? life.end_ns - life.start_ns : 0);
    const struct pt_account_cpu cpu = pt_account_cpu_of(account, stage, thread);
    for (const struct pt_thread *one = thread; one; one = pt_thread_before_exec(one))
        pt_account_add_thread(account, one, &split, true);
    pt_account_finish_split(thread->process, &split, wall_ns, &cpu, pt_account_calls_cuda(thread), result);
    if (!pt_path_has(account->facts->paths, thread->process) || thread != pt_main_thread(thread->process))
        result->parts[PT_PART_workers] =
            pt_unknown("waits of a stage's main thread alone are followed; part of locks and child wait");
    return wall_ns;
}

/* ---- all of them ---- */

static struct shown shown_of(const struct pt_account *account, pt_u32 stage, const struct pt_thread *thread)
{
    static const enum pt_time_part waits[] = {PT_PART_lock, PT_PART_sleep, PT_PART_data_wait, PT_PART_idle};
    struct pt_account_result result;
    const double wall_ns = account_of(account, stage, thread, &result);
    const double untold_s =
        pt_value_number(result.parts[PT_PART_unattributed]) + pt_value_number(result.parts[PT_PART_idle]);
    double waits_s = 0;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        waits_s += fmax(pt_value_number(result.parts[waits[i]]), 0);
    return (struct shown){
        .thread = thread,
        .known_ns = wall_ns - untold_s * 1e9,
        .only_waits = thread != pt_main_thread(thread->process) && wall_ns > 0 && waits_s * 1e9 >= ONLY_WAITS * wall_ns,
    };
}

static int by_known(const void *a, const void *b)
{
    const struct shown *x = a, *y = b;
    if (x->only_waits != y->only_waits)
        return x->only_waits ? 1 : -1;
    if (x->known_ns != y->known_ns)
        return x->known_ns < y->known_ns ? 1 : -1;
    if (x->thread->process->index != y->thread->process->index)
        return x->thread->process->index < y->thread->process->index ? -1 : 1;
    return (x->thread->index > y->thread->index) - (x->thread->index < y->thread->index);
}

static struct shown *list_of(const struct pt_account *account, pt_u32 stage, size_t *ret_n)
{
    const struct pt_profile *profile = account->profile;
    const struct pt_session *session = profile->session;
    const pt_u32 n_all = pt_n_threads(&account->facts->ids);
    struct shown *list = pt_calloc(n_all + 1, sizeof *list);
    bool *goes_on = pt_calloc(session->n_processes + 1, sizeof *goes_on);
    size_t n = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (session->processes[i]->previous_image)
            goes_on[session->processes[i]->previous_image->index] = true;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        for (pt_u32 j = 0; j < process->n_threads && pt_profile_stage_of(profile, process) == stage; j++) {
            const struct pt_thread *thread = &process->threads[j];
            if (!thread->tid || thread->tid >= FIRST_MADE_UP_TID || (goes_on[i] && thread == pt_main_thread(process)))
                continue;
            list[n++] = shown_of(account, stage, thread);
        }
    }
    free(goes_on);
    size_t n_waiting = 0;
    for (size_t i = 0; i < n; i++)
        n_waiting += list[i].only_waits;
    for (size_t i = 0; i < n && n_waiting < FEWEST_OF_POOL; i++)
        list[i].only_waits = false;
    if (n)
        qsort(list, n, sizeof *list, by_known);
    *ret_n = n;
    return list;
}

/* ---- the table ---- */

struct thread_row {
    const char *process, *thread;
    struct pt_value pid, tid, lived_s; /* of one thread only */
    double lives_s;                    /* of all threads of the row: the parts add up to it */
    struct pt_value parts[PT_PART__COUNT];
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct thread_row, process, TEXT, "Process"),  PT_COLUMN(struct thread_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct thread_row, tid, NUMBER, "TID"),        PT_COLUMN(struct thread_row, thread, TEXT, "Thread"),
    PT_COLUMN(struct thread_row, lived_s, SECONDS, "Lived"), PT_COLUMN(struct thread_row, lives_s, SECONDS, "Lives"),
#define PART(id, label) PT_COLUMN_AT(struct thread_row, parts[PT_PART_##id], #id "_s", SECONDS, label),
#include "facts/time_parts.def"
#undef PART
};
static const struct pt_table_kind by_thread = {PT_VIEW_thread_time, PT_COLUMNS(columns)};

static void add_row(struct pt_account *account, struct pt_rows *rows, pt_u32 stage, const struct pt_thread *thread)
{
    const struct pt_process *process = thread->process;
    struct pt_account_result result;
    struct thread_row row = {
        .process = pt_process_name(account->profile, process),
        .pid = pt_integer(process->pid),
        .tid = pt_integer(thread->tid),
        .thread = thread->tid == process->pid ? "main" : pt_thread_name(account->profile, thread),
        .lives_s = account_of(account, stage, thread, &result) / 1e9,
    };
    row.lived_s = pt_real(row.lives_s);
    memcpy(row.parts, result.parts, sizeof row.parts);
    pt_rows_add(rows, &row);
}

/* A part that is unknown of all of them is unknown; of some, it is in their unattributed time. */
static void add_rest(struct pt_account *account, struct pt_rows *rows, pt_u32 stage, const struct shown *list, size_t n,
                     const char *which)
{
    double lives_ns = 0, sums_s[PT_PART__COUNT] = {0};
    bool is_known[PT_PART__COUNT] = {false};
    struct pt_account_result result = {0};
    for (size_t i = 0; i < n; i++) {
        lives_ns += account_of(account, stage, list[i].thread, &result);
        for (int part = 0; part < PT_PART__COUNT; part++) {
            sums_s[part] += pt_value_number(result.parts[part]);
            is_known[part] |= result.parts[part].type != PT_VALUE_UNKNOWN;
        }
    }
    struct thread_row row = {
        .process = pt_metrics_format(rows->metrics, "%zu %s threads", n, which),
        .lived_s = pt_unknown("many threads: lives_s is the sum of their lives"),
        .lives_s = lives_ns / 1e9,
    };
    for (int part = 0; part < PT_PART__COUNT; part++)
        row.parts[part] = is_known[part] ? pt_real(sums_s[part]) : result.parts[part];
    pt_rows_add(rows, &row);
}

void pt_account_set_threads(struct pt_account *account, pt_u32 stage)
{
    size_t n;
    struct shown *list = list_of(account, stage, &n);
    struct pt_rows rows = pt_rows(&account->profile->metrics, pt_scope_stage(stage), &by_thread);
    size_t n_busy = 0;
    while (n_busy < n && !list[n_busy].only_waits)
        n_busy++;
    const size_t n_shown = n_busy < PT_ACCOUNT_MOST_SHOWN ? n_busy : PT_ACCOUNT_MOST_SHOWN;
    for (size_t i = 0; i < n_shown; i++)
        add_row(account, &rows, stage, list[i].thread);
    if (n_busy > n_shown)
        add_rest(account, &rows, stage, list + n_shown, n_busy - n_shown, "other");
    if (n > n_busy)
        add_rest(account, &rows, stage, list + n_busy, n - n_busy, "idle");
    free(list);
}

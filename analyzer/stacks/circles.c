/* SPDX-License-Identifier: MIT
 *
 * stacks/circles.c - Owns: deadlocks. Threads: main only. State: none. Never: calls a thread deadlocked that could go
 * on by itself, by a signal, or by a thread that was not looked at.
 */
#include "circles.h"

#include <stdarg.h>
#include <stdio.h>

#include "util/auto.h"
#include "util/str.h"
#include "places.h"

enum { TOLD_MOST = 6 };

static struct pt_look_thread *thread_at(const struct pt_look *look, size_t i)
{
    return (struct pt_look_thread *)(uintptr_t)look->by_tid.entries[i].value;
}

static bool has_ended(char state)
{
    return state == 'Z' || state == 'X';
}

static bool is_process_stuck(const struct pt_look *look, pt_u32 pid)
{
    const struct pt_look_process *process = pt_look_find_process(look, pid);
    if (!process || (process->why_not && !has_ended(process->state)))
        return false;
    for (size_t i = 0; i < process->threads.n; i++)
        if (!process->threads.items[i]->is_deadlocked && !has_ended(process->threads.items[i]->state))
            return false;
    return true;
}

static bool all_are_stuck(const struct pt_look *look, const struct pt_look_thread *thread)
{
    if (thread->lost)
        return true;
    for (size_t i = 0; i < thread->waits_for.n; i++) {
        const struct pt_look_thread *other = pt_look_find(look, thread->waits_for.items[i]);
        if (!other || !other->is_deadlocked)
            return false;
    }
    for (size_t i = 0; i < thread->waits_for_processes.n; i++)
        if (!is_process_stuck(look, thread->waits_for_processes.items[i]))
            return false;
    return true;
}

/* Any of those that a thread waits for could let it go on: deadlocked are the most threads that wait only for one
 * another. Returns how many. */
static size_t find_deadlocked(struct pt_look *look)
{
    size_t n = 0;
    bool is_changed = true;
    for (size_t i = 0; i < look->by_tid.n; i++) {
        struct pt_look_thread *thread = thread_at(look, i);
        thread->is_deadlocked =
            !thread->may_go_on && (thread->lost || thread->waits_for.n || thread->waits_for_processes.n);
    }
    while (is_changed) {
        is_changed = false;
        n = 0;
        for (size_t i = 0; i < look->by_tid.n; i++) {
            struct pt_look_thread *thread = thread_at(look, i);
            if (thread->is_deadlocked && !all_are_stuck(look, thread))
                thread->is_deadlocked = !(is_changed = true);
            n += thread->is_deadlocked;
        }
    }
    return n;
}

/* ---- in words ---- */

static void put_thread(struct pt_str *text, const struct pt_look_thread *thread)
{
    const struct pt_stack_line *place = pt_stack_place(thread);
    pt_str_printf(text, "%u", thread->tid);
    pt_str_add(text, place ? " in " : " (");
    if (place)
        pt_stack_put_place(text, place);
    else
        pt_str_printf(text, "%s)", thread->name);
}

static void put_doing(struct pt_str *text, const struct pt_look_thread *thread)
{
    if (thread->wants)
        pt_str_printf(text, " wants %s:", thread->wants);
    pt_str_printf(text, " %s", thread->does);
}

/* Only its own process could let it go on, and there it is the only thread. */
static bool is_alone(const struct pt_look_thread *thread)
{
    const struct pt_look_process *process = thread->process;
    if (thread->waits_for.n || thread->waits_for_processes.n != 1 ||
        thread->waits_for_processes.items[0] != process->pid)
        return false;
    for (size_t i = 0; i < process->threads.n; i++)
        if (process->threads.items[i] != thread && !has_ended(process->threads.items[i]->state))
            return false;
    return true;
}

static bool is_cause_by_itself(const struct pt_look_thread *thread)
{
    return thread->is_deadlocked && (thread->lost || is_alone(thread));
}

/* Each is the cause of what follows. Returns how many. */
static size_t conclude_lost(struct pt_look *look)
{
    size_t n = 0;
    for (size_t i = 0; i < look->by_tid.n; i++) {
        const struct pt_look_thread *thread = thread_at(look, i);
        PT_AUTO(pt_str_fini) struct pt_str text = {0};
        if (!is_cause_by_itself(thread) || n++ >= TOLD_MOST)
            continue;
        pt_str_add(&text, "hang: thread ");
        put_thread(&text, thread);
        if (thread->lost)
            pt_str_printf(&text, " can never go on: %s", thread->lost);
        else {
            put_doing(&text, thread);
            pt_str_add(&text, ", and nobody else is there to let it go on");
        }
        pt_vec_push(&look->conclusions, pt_look_text(look, "%s", pt_str_text(&text)));
    }
    return n;
}

/* Somebody who is deadlocked waits for it: it is part of the cause. */
static bool is_waited_for(const struct pt_look *look, const struct pt_look_thread *thread)
{
    for (size_t i = 0; i < look->by_tid.n; i++) {
        const struct pt_look_thread *other = thread_at(look, i);
        if (!other->is_deadlocked)
            continue;
        for (size_t j = 0; j < other->waits_for.n; j++)
            if (other->waits_for.items[j] == thread->tid)
                return true;
        for (size_t j = 0; j < other->waits_for_processes.n; j++)
            if (other != thread && other->waits_for_processes.items[j] == thread->process->pid)
                return true;
    }
    return false;
}

/* The deadlocked that are, or are not, part of the cause; what the first ones do, too, if they are. */
static size_t list(const struct pt_look *look, bool of_cause, struct pt_str *text)
{
    enum { EXPLAINED_MOST = 3 };
    size_t n = 0;
    for (size_t i = 0; i < look->by_tid.n; i++) {
        const struct pt_look_thread *thread = thread_at(look, i);
        if (!thread->is_deadlocked || is_cause_by_itself(thread) || is_waited_for(look, thread) != of_cause)
            continue;
        if (n++ < TOLD_MOST) {
            pt_str_add(text, n == 1 ? "" : of_cause ? "; " : ", ");
            put_thread(text, thread);
            if (of_cause && n <= EXPLAINED_MOST)
                put_doing(text, thread);
        }
    }
    if (n > TOLD_MOST)
        pt_str_printf(text, " and %zu others", n - TOLD_MOST);
    return n;
}

static void conclude_circle(struct pt_look *look, size_t n_lost)
{
    PT_AUTO(pt_str_fini) struct pt_str cause = {0}, others = {0};
    const size_t n = list(look, true, &cause), n_others = list(look, false, &others);
    if (n)
        pt_vec_push(&look->conclusions,
                    pt_look_text(look, "%s: %s",
                                 n_lost ? "waiting for that" : "deadlock: these threads wait only for one another",
                                 pt_str_text(&cause)));
    if (n_others)
        pt_vec_push(&look->conclusions, pt_look_text(look, "waiting for that: %s", pt_str_text(&others)));
}

/* NULL = nobody. */
static const struct pt_look_thread *who_waits_for(const struct pt_look *look, const struct pt_look_process *process)
{
    for (size_t i = 0; i < look->by_tid.n; i++) {
        const struct pt_look_thread *thread = thread_at(look, i);
        for (size_t j = 0; j < thread->waits_for_processes.n; j++)
            if (thread->process != process && thread->waits_for_processes.items[j] == process->pid)
                return thread;
    }
    return NULL;
}

/* "stopped: process 12 (python3 train.py) was stopped ..." */
__attribute__((format(printf, 4, 5))) static void
conclude_process(struct pt_look *look, const char *kind, const struct pt_look_process *process, const char *format, ...)
{
    char rest[512];
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(rest, sizeof rest, format, arguments);
    va_end(arguments);
    pt_str_printf(&text, "%s: process %u (", kind, process->pid);
    pt_stack_put_command(&text, process->command);
    pt_str_printf(&text, ") %s", rest);
    pt_vec_push(&look->conclusions, pt_look_text(look, "%s", pt_str_text(&text)));
}

/* One that nobody waits for is no cause, but for the first one. */
static void conclude_stopped(struct pt_look *look, const struct pt_look_process *process)
{
    const struct pt_look_thread *waits = who_waits_for(look, process);
    if (process->state == 'T' && (waits || process == look->processes.items[0]))
        conclude_process(look, "stopped", process, "was stopped by a signal: `kill -CONT %u` lets it go on%s",
                         process->pid, waits ? pt_look_text(look, "; thread %u waits for it", waits->tid) : "");
}

static void conclude_memory(struct pt_look *look, const struct pt_look_process *process)
{
    PT_AUTO(pt_str_fini) struct pt_str where = {0};
    if (!process->disk || !process->threads.n)
        return;
    put_thread(&where, process->threads.items[0]);
    conclude_process(look, "no memory", process, "%s; its first thread is %s", process->disk, pt_str_text(&where));
}

/* What its parent waits for may have been its work. */
static void conclude_killed(struct pt_look *look, const struct pt_look_process *process)
{
    if (process->killed_by)
        conclude_process(look, "killed", process,
                         "was killed by %s, and its parent, process %u, has not asked how it ended", process->killed_by,
                         process->ppid);
}

void pt_look_conclude(struct pt_look *look)
{
    if (find_deadlocked(look))
        conclude_circle(look, conclude_lost(look));
    for (size_t i = 0; i < look->processes.n; i++)
        conclude_stopped(look, look->processes.items[i]);
    for (size_t i = 0; i < look->processes.n; i++)
        conclude_memory(look, look->processes.items[i]);
    look->n_causes = look->conclusions.n;
    for (size_t i = 0; i < look->processes.n; i++)
        conclude_killed(look, look->processes.items[i]);
}

/* SPDX-License-Identifier: MIT
 *
 * Owns: the words for stacks. Threads: any. Never: prints a recorded name as it is.
 */
#include "text.h"

#include <string.h>
#include <sys/syscall.h>

#include "util/auto.h"
#include "util/text/path.h"
#include "util/text/sanitize.h"
#include "places.h"

static void add_line(struct pt_str *text, const struct pt_stack_line *line)
{
    pt_str_add(text, "      ");
    pt_sanitize_terminal(text, line->function ? line->function : "?");
    if (line->file && line->file[0]) {
        pt_str_add(text, "  ");
        pt_sanitize_terminal(text, line->file);
        if (line->line)
            pt_str_printf(text, ":%u", line->line);
    } else if (line->module && line->module[0]) {
        pt_str_add(text, "  ");
        pt_sanitize_terminal(text, pt_base_name(line->module));
    }
    pt_str_add(text, line->is_python ? "  (Python)\n" : "\n");
}

static void put_doing(struct pt_str *text, const struct pt_look_thread *thread)
{
    if (thread->wants && thread->call >= 0)
        pt_str_printf(text, "wants %s: ", thread->wants);
    pt_sanitize_terminal(text, thread->does);
}

static void add_thread(struct pt_str *text, const struct pt_look_thread *thread)
{
    pt_str_printf(text, "  thread %u ", thread->tid);
    pt_sanitize_terminal(text, thread->name);
    pt_str_add(text, ": ");
    put_doing(text, thread);
    if (thread->since_ns != PT_UNKNOWN_NS)
        pt_str_printf(text, " (for %.*f s)", thread->since_ns < 10000000000 ? 1 : 0, (double)thread->since_ns / 1e9);
    pt_str_add(text, thread->is_deadlocked ? "  [hangs]\n" : "\n");
    if (thread->holds)
        pt_str_printf(text, "      holds %s, for which others wait\n", thread->holds);
    for (size_t i = 0; i < thread->lines.n; i++)
        add_line(text, &thread->lines.items[i]);
    if (thread->why_cut)
        pt_str_printf(text, "      (not whole: %s)\n", thread->why_cut);
}

static void add_process(struct pt_str *text, const struct pt_look_process *process)
{
    pt_str_printf(text, "process %u ", process->pid);
    pt_sanitize_terminal(text, process->command);
    pt_str_char(text, '\n');
    if (process->why_not)
        pt_str_printf(text, "  %s\n", process->why_not);
    if (process->why_no_python)
        pt_str_printf(text, "  no frames of Python: %s\n", process->why_no_python);
    for (size_t i = 0; i < process->threads.n; i++)
        add_thread(text, process->threads.items[i]);
}

/* Nothing is proven: what the first process waits for in the end. */
static void put_first(const struct pt_look *look, struct pt_str *out)
{
    if (!look->processes.n || look->processes.items[0]->why_not)
        return;
    pt_look_put_reason(look, look->processes.items[0]->pid, out);
    pt_str_char(out, '\n');
}

void pt_look_put(const struct pt_look *look, struct pt_str *out)
{
    if (!look->n_causes)
        put_first(look, out);
    for (size_t i = 0; i < look->conclusions.n; i++) {
        pt_sanitize_terminal(out, look->conclusions.items[i]);
        pt_str_char(out, '\n');
    }
    for (size_t i = 0; i < look->processes.n; i++)
        add_process(out, look->processes.items[i]);
}

/* Whoever holds what `thread` waits for is often one of the others, and a semaphore does not say which. */
static void put_others(struct pt_str *out, const struct pt_look_thread *thread)
{
    enum { MOST = 3 };
    const struct pt_look_process *process = thread->process;
    size_t told = 0;
    for (size_t i = 0; i < process->threads.n && told < MOST; i++) {
        const struct pt_look_thread *other = process->threads.items[i];
        const struct pt_stack_line *place = other == thread ? NULL : pt_stack_place(other);
        if (!place || (place->is_python && pt_stack_is_of_library(place)) || (!place->is_python && process->is_python))
            continue;
        pt_str_add(out, told++ ? ", " : "; other threads in ");
        pt_stack_put_place(out, place);
    }
}

/* The main thread, or where that has ended, another one. */
static const struct pt_look_thread *first_of(const struct pt_look *look, const struct pt_look_process *process)
{
    const struct pt_look_thread *thread = process ? pt_look_find(look, process->seen_by) : NULL;
    return thread || !process || !process->threads.n ? thread : process->threads.items[0];
}

static const struct pt_look_thread *next_of_chain(const struct pt_look *look, const struct pt_look_thread *thread)
{
    if (thread->waits_for.n)
        return pt_look_find(look, thread->waits_for.items[0]);
    for (size_t i = 0; i < thread->waits_for_processes.n; i++) {
        const struct pt_look_process *process = pt_look_find_process(look, thread->waits_for_processes.items[i]);
        if (process && process != thread->process && process->threads.n)
            return first_of(look, process);
    }
    return NULL;
}

/* `ret_waiter` waits directly for the end; NULL = the chain has one member. */
static const struct pt_look_thread *end_of_chain(const struct pt_look *look, const struct pt_look_thread *thread,
                                                 const struct pt_look_thread **ret_waiter)
{
    *ret_waiter = NULL;
    enum { STEPS_MOST = 64 };
    const struct pt_look_thread *seen[STEPS_MOST];
    for (size_t n = 0; n < STEPS_MOST; n++) {
        const struct pt_look_thread *next = next_of_chain(look, thread);
        seen[n] = thread;
        for (size_t i = 0; i <= n; i++)
            if (seen[i] == next) /* around */
                return thread;
        if (!next)
            break;
        *ret_waiter = thread;
        thread = next;
    }
    return thread;
}

/* The processes besides `of`, by where their first threads are: one that is elsewhere than its like is who is missing.
 */
static void put_processes(struct pt_str *out, const struct pt_look *look, const struct pt_look_process *of)
{
    enum { MOST = 3 };
    struct {
        const struct pt_stack_line *place;
        size_t n;
    } groups[MOST];
    size_t n_groups = 0;
    for (size_t i = 0; i < look->processes.n; i++) {
        const struct pt_look_process *process = look->processes.items[i];
        const struct pt_look_thread *first = first_of(look, process);
        const struct pt_stack_line *place = process == of || !first ? NULL : pt_stack_place(first);
        size_t group = 0;
        if (!place || !place->is_python || pt_stack_is_of_library(place))
            continue;
        while (group < n_groups &&
               !(groups[group].place->line == place->line && !strcmp(groups[group].place->function, place->function)))
            group++;
        if (group == MOST)
            continue;
        if (group == n_groups) {
            groups[n_groups].place = place;
            groups[n_groups++].n = 0;
        }
        groups[group].n++;
    }
    for (size_t i = 0; i < n_groups; i++) {
        pt_str_printf(out, "%s%zu in ", i ? ", " : "; other processes: ", groups[i].n);
        pt_stack_put_place(out, groups[i].place);
    }
}

static void put_what_and_where(struct pt_str *out, const struct pt_look_thread *thread)
{
    const struct pt_stack_line *place = pt_stack_place(thread);
    put_doing(out, thread);
    if (thread->holds)
        pt_str_printf(out, " and holds %s, for which others wait,", thread->holds);
    if (place) {
        pt_str_add(out, " in ");
        pt_stack_put_place(out, place);
    }
}

/* That a parent waits for its child goes without saying. */
static bool is_worth_telling(const struct pt_look_thread *waiter)
{
    return waiter && waiter->call != SYS_wait4 && waiter->call != SYS_waitid;
}

void pt_look_put_reason(const struct pt_look *look, pt_u32 pid, struct pt_str *out)
{
    const struct pt_look_thread *thread = first_of(look, pt_look_find_process(look, pid)), *waiter;
    if (look->n_causes) {
        pt_str_add(out, look->conclusions.items[0]);
        return;
    }
    if (!thread)
        return;
    thread = end_of_chain(look, thread, &waiter);
    pt_str_printf(out, "process %u ", thread->process->pid);
    pt_stack_put_command(out, thread->process->command);
    pt_str_char(out, ' ');
    put_what_and_where(out, thread);
    if (is_worth_telling(waiter)) {
        pt_str_printf(out, "; thread %u ", waiter->tid);
        put_what_and_where(out, waiter);
    } else
        put_others(out, thread);
    put_processes(out, look, thread->process);
}

/* SPDX-License-Identifier: MIT
 *
 * Owns: the words for stacks. Threads: any. Never: prints a recorded name as it is.
 */
#include "text.h"

#include <string.h>

#include "util/auto.h"
#include "util/text/sanitize.h"

static void add_line(struct pt_str *text, const struct pt_stack_line *line)
{
    const char *module = line->module ? strrchr(line->module, '/') : NULL;
    pt_str_add(text, "      ");
    pt_sanitize_terminal(text, line->function ? line->function : "?");
    if (line->file && line->file[0]) {
        pt_str_add(text, "  ");
        pt_sanitize_terminal(text, line->file);
        if (line->line)
            pt_str_printf(text, ":%u", line->line);
    } else if (line->module && line->module[0]) {
        pt_str_add(text, "  ");
        pt_sanitize_terminal(text, module ? module + 1 : line->module);
    }
    pt_str_add(text, line->is_python ? "  (Python)\n" : "\n");
}

static void add_thread(struct pt_str *text, const struct pt_look_thread *thread)
{
    pt_str_printf(text, "  thread %u ", thread->tid);
    pt_sanitize_terminal(text, thread->name);
    pt_str_add(text, ": ");
    pt_sanitize_terminal(text, thread->does);
    pt_str_add(text, thread->is_deadlocked ? "  [deadlock]\n" : "\n");
    for (size_t i = 0; i < thread->lines.n; i++)
        add_line(text, &thread->lines.items[i]);
    if (thread->why_cut)
        pt_str_printf(text, "      (not whole: %s)\n", thread->why_cut);
}

const char *pt_look_why_no_python(const struct pt_look_process *process)
{
    return process->is_python && !process->run
               ? "no frames of Python: only processes that were started by proftrace say where they are"
               : NULL;
}

static void add_process(struct pt_str *text, const struct pt_look_process *process)
{
    pt_str_printf(text, "process %u ", process->pid);
    pt_sanitize_terminal(text, process->command);
    pt_str_char(text, '\n');
    if (process->why_not)
        pt_str_printf(text, "  %s\n", process->why_not);
    if (pt_look_why_no_python(process))
        pt_str_printf(text, "  %s\n", pt_look_why_no_python(process));
    for (size_t i = 0; i < process->threads.n; i++)
        add_thread(text, process->threads.items[i]);
}

void pt_look_put(const struct pt_look *look, struct pt_str *out)
{
    for (size_t i = 0; i < look->conclusions.n; i++)
        pt_str_printf(out, "%s\n", look->conclusions.items[i]);
    for (size_t i = 0; i < look->processes.n; i++)
        add_process(out, look->processes.items[i]);
}

static bool is_of_library(const struct pt_stack_line *line)
{
    return line->file && (strstr(line->file, "/lib/python3") || strstr(line->file, "/lib64/python3") ||
                          strstr(line->file, "-packages/") || line->file[0] == '<');
}

/* Where its author would look: the innermost function of Python that is no library's, else the innermost of Python,
 * else the innermost whose file is known. */
static const struct pt_stack_line *place_of(const struct pt_look_thread *thread)
{
    const struct pt_stack_line *of_python = NULL, *known = NULL;
    for (size_t i = 0; i < thread->lines.n; i++) {
        const struct pt_stack_line *line = &thread->lines.items[i];
        if (line->is_python && line->function && !is_of_library(line))
            return line;
        if (!of_python && line->is_python && line->function)
            of_python = line;
        if (!known && line->function && line->file && line->file[0])
            known = line;
    }
    return of_python ? of_python : known;
}

static void put_place(struct pt_str *out, const struct pt_stack_line *place)
{
    const char *slash = place->file ? strrchr(place->file, '/') : NULL;
    pt_sanitize_terminal(out, place->function);
    if (!place->file || !place->file[0])
        return;
    pt_str_add(out, " (");
    pt_sanitize_terminal(out, slash ? slash + 1 : place->file);
    if (place->line)
        pt_str_printf(out, ":%u", place->line);
    pt_str_char(out, ')');
}

/* Whoever holds what `thread` waits for is often one of the others, and a semaphore does not say which. */
static void put_others(struct pt_str *out, const struct pt_look_thread *thread)
{
    enum { MOST = 3 };
    const struct pt_look_process *process = thread->process;
    size_t told = 0;
    for (size_t i = 0; i < process->threads.n && told < MOST; i++) {
        const struct pt_look_thread *other = process->threads.items[i];
        const struct pt_stack_line *place = other == thread ? NULL : place_of(other);
        if (!place || (place->is_python && is_of_library(place)) || (!place->is_python && process->is_python))
            continue;
        pt_str_add(out, told++ ? ", " : "; other threads in ");
        put_place(out, place);
    }
}

/* At most as many steps as there are threads: a circle is a conclusion. */
static const struct pt_look_thread *end_of_chain(const struct pt_look *look, const struct pt_look_thread *thread)
{
    for (size_t steps = 0; thread->waits_for.n && steps < 1000; steps++) {
        const struct pt_look_thread *next = pt_look_find(look, thread->waits_for.items[0]);
        if (!next)
            break;
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
        const struct pt_look_thread *first = process->threads.n ? process->threads.items[0] : NULL;
        const struct pt_stack_line *place = process == of || !first ? NULL : place_of(first);
        size_t group = 0;
        if (!place || !place->is_python || is_of_library(place))
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
        put_place(out, groups[i].place);
    }
}

/* Its beginning: a program that stands on its command line (python -c) is no line. */
static void put_short_command(struct pt_str *out, const char *command)
{
    enum { MOST_BYTES = 60 };
    size_t n = strcspn(command, "\r\n");
    const bool is_cut = command[n] || n > MOST_BYTES;
    if (n > MOST_BYTES)
        n = MOST_BYTES;
    while (n && ((unsigned char)command[n] & 0xc0) == 0x80)
        n--;
    PT_AUTO(pt_str_fini) struct pt_str begin = {0};
    pt_str_bytes(&begin, command, n);
    pt_sanitize_terminal(out, pt_str_text(&begin));
    if (is_cut)
        pt_str_add(out, "...");
}

void pt_look_put_reason(const struct pt_look *look, pt_u32 pid, struct pt_str *out)
{
    const struct pt_look_thread *thread = pt_look_find(look, pid);
    if (look->conclusions.n) {
        pt_str_add(out, look->conclusions.items[0]);
        return;
    }
    if (!thread)
        return;
    thread = end_of_chain(look, thread);
    const struct pt_stack_line *place = place_of(thread);
    pt_str_printf(out, "process %u ", thread->process->pid);
    put_short_command(out, thread->process->command);
    pt_str_add(out, " ");
    pt_sanitize_terminal(out, thread->does);
    if (place) {
        pt_str_add(out, " in ");
        put_place(out, place);
    }
    put_others(out, thread);
    put_processes(out, look, thread->process);
}

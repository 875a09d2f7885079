/* SPDX-License-Identifier: MIT
 *
 * Owns: which stacks are equal. Threads: any. Never: prints a recorded name as it is.
 */
#include "folded.h"

#include <stdlib.h>
#include <string.h>

#include "util/text/path.h"
#include "util/text/sanitize.h"

enum { FRAMES_SHOWN = 8 };

struct group {
    const struct pt_look_thread *first;
    size_t n, n_processes, order;
    const struct pt_look_process *last_process;
};

struct groups {
    PT_VEC(struct group);
};

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool is_equal(const struct pt_look_thread *a, const struct pt_look_thread *b)
{
    if (a->lines.n != b->lines.n || a->call != b->call)
        return false;
    for (size_t i = 0; i < a->lines.n; i++) {
        const struct pt_stack_line *x = &a->lines.items[i], *y = &b->lines.items[i];
        if (x->line != y->line || !is_same(x->function, y->function) || !is_same(x->file, y->file))
            return false;
    }
    return true;
}

static void add(struct groups *groups, const struct pt_look_thread *thread)
{
    size_t i = 0;
    while (i < groups->n && !is_equal(groups->items[i].first, thread))
        i++;
    if (i == groups->n)
        pt_vec_push(groups, ((struct group){.first = thread, .order = i}));
    struct group *group = &groups->items[i];
    group->n++;
    group->n_processes += group->last_process != thread->process;
    group->last_process = thread->process;
}

static int by_number(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return x->n != y->n ? (x->n < y->n ? 1 : -1) : x->order < y->order ? -1 : 1;
}

static void put_frame(struct pt_str *out, const struct pt_stack_line *line)
{
    pt_str_add(out, "    ");
    pt_sanitize_terminal(out, line->function ? line->function : "?");
    if (line->file && *line->file && line->line) {
        pt_str_add(out, "  ");
        pt_sanitize_terminal(out, pt_base_name(line->file));
        pt_str_printf(out, ":%u", line->line);
    }
    pt_str_char(out, '\n');
}

static size_t put_group(struct pt_str *out, const struct group *group, size_t room)
{
    const struct pt_look_thread *thread = group->first;
    size_t n = 1;
    if (group->n == 1)
        pt_str_printf(out, "thread %u of process %u ", thread->tid, thread->process->pid);
    else if (group->n_processes == 1)
        pt_str_printf(out, "%zu threads of process %u, as %u which ", group->n, thread->process->pid, thread->tid);
    else
        pt_str_printf(out, "%zu threads of %zu processes, as %u which ", group->n, group->n_processes, thread->tid);
    pt_sanitize_terminal(out, thread->does);
    pt_str_char(out, '\n');
    for (size_t i = 0; i < thread->lines.n && i < FRAMES_SHOWN && n < room; i++, n++)
        put_frame(out, &thread->lines.items[i]);
    if (thread->lines.n > FRAMES_SHOWN && n < room) {
        pt_str_printf(out, "    ... %zu more\n", thread->lines.n - FRAMES_SHOWN);
        n++;
    }
    return n;
}

void pt_look_put_folded(const struct pt_look *look, size_t most, struct pt_str *out)
{
    struct groups groups = {0};
    for (size_t i = 0; i < look->processes.n; i++)
        for (size_t j = 0; j < look->processes.items[i]->threads.n; j++)
            if (look->processes.items[i]->threads.items[j]->does)
                add(&groups, look->processes.items[i]->threads.items[j]);
    if (groups.n)
        qsort(groups.items, groups.n, sizeof *groups.items, by_number);
    for (size_t i = 0, left = most; i < groups.n && left; i++)
        left -= put_group(out, &groups.items[i], left);
    free(groups.items);
}

/* SPDX-License-Identifier: MIT
 *
 * Owns: which processes are launchers, and for whom each waits when. Threads: one, before the pass. Never: reads the
 * events of a process whose totals say that it works; takes a program that feeds its workers for a launcher.
 */
#include "launchers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/session_feed.h"
#include "facts/workers.h"
#include "util/auto.h"
#include "util/whole.h"

/* Between two sleeps of a polling loop it asks whether a child has ended. */
#define CLOSE_NS 20000000
/* It takes this long to take one command apart and to begin the next, at most. */
#define START_NS 60000000
#define LEAST_WAIT_NS 200000
#define LEAST_WINDOW_NS 5000000
/* A launcher does nothing else for this share of the time in which it has children, and that is this share of its
 * life: it may have to load much before it starts anything.
 */
#define LEAST_WAITING 0.9
#define LEAST_OF_LIFE 0.4
/* It sleeps for this share of its life, if it polls. */
#define LEAST_POLLING 0.2
/* A child that does less is there to be asked. */
#define LEAST_BUSY 0.05
#define SAME_END_SHARE 0.02
/* One that lived so much longer is not the child whose end was told. */
#define SAME_CHILD_NS 10000000000
/* No more commands of one span are looked for: each is sought among all children. */
#define MOST_IN_A_SPAN 4096

/* ---- the tree ---- */

/* Calls that take their time for files, whatever their descriptor is; and sleeps. */
static bool is_own_time(pt_u32 kind)
{
    const enum pt_time_part part = pt_time_part_of_kind(kind);
    const bool may_be_of_a_pipe = kind == PT_KIND_io_read || kind == PT_KIND_io_readv || kind == PT_KIND_io_write ||
                                  kind == PT_KIND_io_writev || kind == PT_KIND_stdio_read ||
                                  kind == PT_KIND_stdio_char || kind == PT_KIND_stdio_write || kind == PT_KIND_io_copy;
    return kind == PT_KIND_wait_sleep ||
           (!may_be_of_a_pipe &&
            (part == PT_PART_file_read || part == PT_PART_file_write || part == PT_PART_file_meta));
}

/* Also waiting for pages of files: a program that reads a cold one uses hardly any CPU. */
static double busy_ns(const struct pt_facts *facts, const struct pt_process *process)
{
    const struct pt_thread *main_one = pt_main_thread(process);
    const pt_u32 main_number = main_one ? pt_facts_cpu_thread(facts, main_one) : 0;
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(facts, pt_profile_stage_of(facts->profile, process));
    const double seen_ns = main_number ? (double)cpu->data->times[main_number].on_cpu_ns : 0;
    const double on_ns = fmax((double)process->cpu_ns, seen_ns);
    double own_ns = 0;
    for (pt_u32 i = 0; i < process->n_threads; i++) {
        const struct pt_thread *thread = &process->threads[i];
        const pt_u32 number = pt_facts_cpu_thread(facts, thread);
        own_ns += number ? (double)cpu->data->fault_sums[number].waits_ns : 0;
        for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++)
            own_ns += is_own_time(kind) ? (double)pt_totals_of(thread->totals, kind)->ns : 0;
    }
    return on_ns > 0 || process->state == PT_PROCESS_EXECED ? on_ns + own_ns : NAN;
}

/* Who forked it; its images after an exec have their first one as their parent. */
static const struct pt_process *starter_of(const struct pt_process *process)
{
    const struct pt_process *parent = process->parent;
    return parent && parent->pid != process->pid ? parent : NULL;
}

static pt_i64 end_of(const struct pt_path_tree *tree, const struct pt_process *child)
{
    while (tree->nodes[child->index].next_image)
        child = tree->nodes[child->index].next_image;
    return tree->nodes[child->index].end_ns;
}

struct ended {
    const struct pt_process *process;
    pt_i64 end_ns;
};

static int by_end(const void *a, const void *b)
{
    const struct ended *x = a, *y = b;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return (x->process->index > y->process->index) - (x->process->index < y->process->index);
}

/* A shell may have a hundred thousand children, and wait for each: it must be found without looking at all. */
static void sort_by_end(struct pt_path_tree *tree, const struct pt_session *session)
{
    PT_AUTO(pt_freep) struct ended *all = pt_calloc(session->n_processes + 1, sizeof *all);
    size_t n = 0;
    tree->ended = pt_calloc(session->n_processes + 1, sizeof *tree->ended);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        struct pt_path_node *node = &tree->nodes[i];
        const size_t first = node->first_ended = n;
        for (const struct pt_process *one = node->first_child; one; one = tree->nodes[one->index].next_sibling)
            all[n++] = (struct ended){one, end_of(tree, one)};
        qsort(all + first, n - first, sizeof *all, by_end);
    }
    for (size_t i = 0; i < n; i++)
        tree->ended[i] = all[i].process;
}

void pt_path_tree_open(struct pt_path_tree *tree, const struct pt_facts *facts)
{
    const struct pt_session *session = facts->profile->session;
    *tree = (struct pt_path_tree){.facts = facts, .nodes = pt_calloc(session->n_processes + 1, sizeof *tree->nodes)};
    /* Parents stand before their children. */
    for (pt_u32 i = session->n_processes; i-- > 0;) {
        const struct pt_process *process = session->processes[i];
        const struct pt_process *starter = starter_of(process), *before = process->previous_image;
        struct pt_path_node *node = &tree->nodes[i];
        const struct pt_thread *thread = pt_main_thread(process);
        node->busy_ns += busy_ns(facts, process);
        node->start_ns = thread && !before ? pt_thread_life(facts, thread).start_ns : process->start_ns;
        node->end_ns = process->end_ns;
        if (before) {
            tree->nodes[before->index].next_image = process;
            tree->nodes[before->index].busy_ns += node->busy_ns;
        } else if (starter) {
            node->next_sibling = tree->nodes[starter->index].first_child;
            tree->nodes[starter->index].first_child = process;
            tree->nodes[starter->index].busy_ns += node->busy_ns;
            tree->nodes[starter->index].n_children++;
        }
    }
    sort_by_end(tree, session);
}

void pt_path_tree_close(struct pt_path_tree *tree)
{
    free(tree->nodes);
    free(tree->ended);
    *tree = (struct pt_path_tree){0};
}

static const struct pt_path_node *node_of(const struct pt_path_tree *tree, const struct pt_process *process)
{
    return &tree->nodes[process->index];
}

/* ---- whom it may wait for ---- */

enum idle_kind {
    ASLEEP, /* it slept, polled, or waited for anything */
    DATA,   /* it waited for data: output, if it is that of a child that ended then */
    REAPED, /* it waited until a child had ended */
};

static bool has_another_copy(const struct pt_path_tree *tree, const struct pt_process *child)
{
    const pt_i64 start_ns = node_of(tree, child)->start_ns, end_ns = end_of(tree, child);
    const struct pt_process *one = node_of(tree, starter_of(child))->first_child;
    for (; one; one = node_of(tree, one)->next_sibling)
        if (one != child && pt_is_worker(one) && node_of(tree, one)->start_ns < end_ns && end_of(tree, one) > start_ns)
            return true;
    return false;
}

/* Workers, and who forks them, serve the program that made them: it is the program. But one copy that it waits for is a
 * detour, and ranks are programs of their own. */
static bool may_lead(const struct pt_path_tree *tree, const struct pt_process *child, enum idle_kind kind)
{
    if (!pt_is_worker(child))
        return !pt_is_of_multiprocessing(child);
    if (child->rank >= 0 && child->rank != starter_of(child)->rank)
        return true;
    return kind == REAPED && !has_another_copy(tree, child);
}

static bool works(const struct pt_path_tree *tree, const struct pt_process *child)
{
    const struct pt_path_node *node = node_of(tree, child);
    const double life_ns = (double)(end_of(tree, child) - node->start_ns);
    return isnan(node->busy_ns) || node->busy_ns >= LEAST_BUSY * life_ns;
}

/* Between its sleeps it asks whether a child has ended: then it waits for one that itself only waits, too. Three short
 * sleeps of an import are none: whoever makes pools of processes asks often whether its resource tracker lives. */
static bool polls_its_children(const struct pt_process *process)
{
    const struct pt_thread *thread = pt_main_thread(process);
    const struct pt_kind_totals *sleeps = thread ? pt_totals_of(thread->totals, PT_KIND_wait_sleep) : NULL;
    return sleeps && sleeps->calls > 1 &&
           2 * pt_totals_of(thread->totals, PT_KIND_wait_child)->calls >= sleeps->calls &&
           (double)sleeps->ns >= LEAST_POLLING * (double)(process->end_ns - process->start_ns);
}

static double weight_of(const struct pt_path_tree *tree, const struct pt_process *child)
{
    const double ns = node_of(tree, child)->busy_ns;
    return isnan(ns) ? 0 : ns;
}

static bool may_be_waited_for(const struct pt_path_tree *tree, const struct pt_process *child, pt_i64 from_ns,
                              pt_i64 until_ns, enum idle_kind kind)
{
    return node_of(tree, child)->start_ns < until_ns && end_of(tree, child) > from_ns && may_lead(tree, child, kind) &&
           (kind != ASLEEP || works(tree, child) || polls_its_children(starter_of(child)));
}

static pt_i64 earlier(pt_i64 a_ns, pt_i64 b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

struct idle_time {
    pt_i64 from_ns, until_ns;
    pt_i64 close_ns; /* who ended this much earlier has ended then */
};

/* The first of a process's children, in the order of their ends, that ended then or later. */
static size_t first_ended_at(const struct pt_path_tree *tree, const struct pt_process *process, pt_i64 from_ns)
{
    size_t low = node_of(tree, process)->first_ended, high = low + node_of(tree, process)->n_children;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (end_of(tree, tree->ended[middle]) < from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_better(const struct pt_path_tree *tree, const struct pt_process *one, const struct pt_process *other)
{
    const double weight = weight_of(tree, one), of_other = other ? weight_of(tree, other) : 0;
    return !other || weight > of_other || (weight >= of_other && one->index < other->index);
}

/* Of the children that lived in a time, the one that ended last; of those that ended at nearly the same time, as ranks
 * do, the one that did most. */
static const struct pt_process *leader_in(const struct pt_path_tree *tree, const struct pt_process *process,
                                          const struct idle_time *time, enum idle_kind kind)
{
    const pt_i64 from_ns = time->from_ns, until_ns = time->until_ns;
    const size_t end = node_of(tree, process)->first_ended + node_of(tree, process)->n_children;
    const double share_ns = SAME_END_SHARE * (double)(until_ns - from_ns);
    const pt_i64 same_ns = share_ns > (double)time->close_ns ? pt_whole_signed(share_ns) : time->close_ns;
    const struct pt_process *best = NULL;
    /* Who sleeps notices later that a child has ended. */
    pt_i64 last_ns = kind == ASLEEP ? from_ns : until_ns;
    for (size_t i = first_ended_at(tree, process, from_ns); i < end && last_ns < until_ns; i++)
        if (may_be_waited_for(tree, tree->ended[i], from_ns, until_ns, kind))
            last_ns = earlier(end_of(tree, tree->ended[i]), until_ns);
    for (size_t i = first_ended_at(tree, process, last_ns - same_ns); i < end; i++) {
        const struct pt_process *one = tree->ended[i];
        if (kind != ASLEEP && end_of(tree, one) > until_ns + same_ns)
            break;
        if (may_be_waited_for(tree, one, from_ns, until_ns, kind) && is_better(tree, one, best))
            best = one;
    }
    return best;
}

/* Whose end it waited for. On a busy machine it hears of that late: the child's last sign of life is then too long ago.
 */
static const struct pt_process *reaped(const struct pt_path_tree *tree, const struct pt_process *process, pt_u32 pid,
                                       pt_i64 from_ns, pt_i64 until_ns)
{
    const size_t end = node_of(tree, process)->first_ended + node_of(tree, process)->n_children;
    const struct pt_process *found = NULL;
    for (size_t i = pid ? first_ended_at(tree, process, from_ns) : end; i < end; i++) {
        const struct pt_process *one = tree->ended[i];
        if (end_of(tree, one) > until_ns + SAME_CHILD_NS)
            break;
        if (one->pid == pid && may_be_waited_for(tree, one, from_ns, until_ns, REAPED) &&
            (!found || one->index < found->index))
            found = one;
    }
    return found;
}

/* ---- what it did ---- */

struct idle_span {
    pt_i64 from_ns, until_ns;
    double waited_ns;
    enum idle_kind kind;
    pt_u32 reaped; /* whose end it waited for; 0 = not known */
};

struct idle_spans {
    PT_VEC(struct idle_span);
    double waited_ns;
    pt_u32 n_data;
    pt_i64 first_data_ns;
};

static bool is_idle_part(enum pt_time_part part)
{
    return part == PT_PART_child_wait || part == PT_PART_sleep || part == PT_PART_idle || part == PT_PART_data_wait ||
           part == PT_PART_lock;
}

static void count_data(struct idle_spans *spans, enum idle_kind kind, pt_i64 start_ns)
{
    if (kind == DATA && !spans->n_data++)
        spans->first_data_ns = start_ns;
}

static void add_wait(struct idle_spans *spans, const struct pt_event *event)
{
    const pt_i64 end_ns = pt_event_end_ns(event);
    struct idle_span *last = spans->n ? &spans->items[spans->n - 1] : NULL;
    const bool is_reaped = event->desc->kind == PT_KIND_wait_child && event->result > 0;
    const enum idle_kind kind = is_reaped ? REAPED : pt_time_part_of_event(event) == PT_PART_data_wait ? DATA : ASLEEP;
    const pt_i64 start_ns = last && event->start_ns < last->until_ns ? last->until_ns : event->start_ns;
    if (end_ns <= start_ns)
        return;
    spans->waited_ns += (double)(end_ns - start_ns);
    count_data(spans, kind, start_ns);
    if (last && kind != REAPED && last->kind == kind && start_ns - last->until_ns <= CLOSE_NS) {
        last->until_ns = end_ns;
        last->waited_ns += (double)(end_ns - start_ns);
        return;
    }
    const pt_u32 pid = is_reaped && event->result <= INT32_MAX ? (pt_u32)event->result : 0;
    pt_vec_push(spans, ((struct idle_span){start_ns, end_ns, (double)(end_ns - start_ns), kind, pid}));
}

static void read_waits(const struct pt_path_tree *tree, const struct pt_process *process, struct idle_spans *spans)
{
    struct pt_error err = {0};
    const struct pt_filter filter = {.categories = PT_CATEGORY_WAIT | PT_CATEGORY_PROC | PT_CATEGORY_IO |
                                                   PT_CATEGORY_STDIO | PT_CATEGORY_NET,
                                     .process = process,
                                     .min_duration_ns = LEAST_WAIT_NS};
    PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(tree->facts->profile->session, &filter, &err);
    struct pt_event event;
    while (feed && feed->next(feed, &event, &err) > 0)
        if (event.desc->role == PT_ROLE_SPAN && pt_is_main_thread(&event) &&
            is_idle_part(pt_time_part_of_event(&event)))
            add_wait(spans, &event);
}

/* What it is in now, since its last event, until now. Of whom it waits for, only what that one does tells. */
static void add_open_wait(const struct pt_path_tree *tree, const struct pt_process *process, struct idle_spans *spans)
{
    struct pt_error err = {0};
    const struct pt_filter filter = {.process = process};
    pt_i64 last_ns = process->start_ns;
    if (!process->is_asleep)
        return;
    PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(tree->facts->profile->session, &filter, &err);
    struct pt_event event;
    while (feed && feed->next(feed, &event, &err) > 0)
        if (pt_is_main_thread(&event) && pt_event_end_ns(&event) > last_ns)
            last_ns = pt_event_end_ns(&event);
    const double ns = (double)(process->end_ns - last_ns);
    if (ns <= 0)
        return;
    spans->waited_ns += ns;
    pt_vec_push(spans, ((struct idle_span){last_ns, process->end_ns, ns, ASLEEP, 0}));
}

/* It asks and gets answers: it writes to a pipe or socket, other than its output, about as often as it waits for data.
 * Then it is the program, however little it does. What it writes before it waits at all may be how it starts them: a
 * process that is spawned gets its function through a pipe. */
static bool asks(const struct pt_path_tree *tree, const struct pt_process *process, const struct idle_spans *spans)
{
    enum { STDERR = 2 };
    struct pt_error err = {0};
    const struct pt_filter filter = {.categories = PT_CATEGORY_IO | PT_CATEGORY_NET, .process = process};
    pt_u32 n = 0;
    if (spans->n_data < 2)
        return false;
    PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(tree->facts->profile->session, &filter, &err);
    struct pt_event event;
    while (2 * n < spans->n_data && feed && feed->next(feed, &event, &err) > 0)
        n += event.start_ns >= spans->first_data_ns && pt_sends(&event) && pt_descriptor_number(&event) > STDERR &&
             pt_channel_of_event(&event) != PT_CHANNEL_FILE;
    return 2 * n >= spans->n_data;
}

/* ---- the windows ---- */

static int by_start(const void *a, const void *b)
{
    const struct pt_path_window *x = a, *y = b;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Backwards: it went on because that one ended, which began because the one before it had ended. Returns how much of
 * the span is explained. */
static double divide(const struct pt_path_tree *tree, const struct pt_process *process, const struct idle_span *span,
                     struct pt_path_windows *windows)
{
    pt_i64 until_ns = span->until_ns;
    pt_i64 explained_ns = 0;
    pt_i64 close_ns = CLOSE_NS;
    for (int n = 0; n < MOST_IN_A_SPAN && until_ns - span->from_ns >= LEAST_WINDOW_NS; n++) {
        const struct pt_process *child =
            leader_in(tree, process, &(struct idle_time){span->from_ns, until_ns, close_ns}, span->kind);
        if (!child)
            child = reaped(tree, process, span->reaped, span->from_ns, until_ns);
        if (!child)
            break;
        const pt_i64 start_ns = node_of(tree, child)->start_ns, end_ns = end_of(tree, child);
        const pt_i64 from_ns = start_ns > span->from_ns ? start_ns : span->from_ns;
        const pt_i64 to_ns = end_ns < until_ns ? end_ns : until_ns;
        if (to_ns > from_ns)
            pt_vec_push(windows, ((struct pt_path_window){from_ns, to_ns, child}));
        explained_ns += to_ns > from_ns ? to_ns - from_ns : 0;
        until_ns = from_ns;
        if (span->kind == REAPED)
            break; /* what was before is starting it */
        if (span->kind == DATA)
            close_ns = START_NS; /* the command was started when the one before had ended */
    }
    /* Loading a program is part of waiting for it. */
    return explained_ns * 2 > span->until_ns - span->from_ns ? (double)(span->until_ns - span->from_ns)
                                                             : (double)explained_ns;
}

/* Its other threads may compute while the main one waits. */
static double own_work_ns(const struct pt_process *process, const struct idle_spans *spans)
{
    const double life_ns = (double)(process->end_ns - process->start_ns);
    const double on_ns = process->state == PT_PROCESS_EXECED ? 0 : (double)process->cpu_ns;
    return fmax(on_ns - fmax(life_ns - spans->waited_ns, 0), 0);
}

static bool is_launcher(const struct pt_process *process, const struct idle_spans *spans, double explained_ns,
                        const struct pt_path_windows *windows)
{
    if (!windows->n)
        return false;
    const double busy_from_ns = (double)windows->items[0].from_ns,
                 until_ns = (double)windows->items[windows->n - 1].until_ns;
    const double span_ns = until_ns - busy_from_ns, life_ns = (double)(process->end_ns - process->start_ns);
    return explained_ns >= LEAST_WAITING * span_ns && explained_ns >= LEAST_OF_LIFE * life_ns &&
           own_work_ns(process, spans) <= (1 - LEAST_WAITING) * span_ns;
}

/* From its totals alone: most processes with children are none, or hold many events. */
static bool may_be_launcher(const struct pt_path_tree *tree, const struct pt_process *process)
{
    static const pt_u32 kinds[] = {PT_KIND_wait_child,  PT_KIND_wait_sleep,  PT_KIND_wait_poll,  PT_KIND_wait_signal,
                                   PT_KIND_proc_system, PT_KIND_lock_cond,   PT_KIND_lock_sem,   PT_KIND_io_read,
                                   PT_KIND_stdio_read,  PT_KIND_wait_thread, PT_KIND_net_receive};
    const struct pt_thread *thread = pt_main_thread(process);
    const double life_ns = (double)(process->end_ns - process->start_ns);
    double waited_ns = 0;
    for (size_t i = 0; thread && i < sizeof kinds / sizeof *kinds; i++)
        waited_ns += (double)pt_totals_of(thread->totals, kinds[i])->ns;
    return node_of(tree, process)->first_child && life_ns >= LEAST_WINDOW_NS &&
           (process->is_asleep || waited_ns >= LEAST_OF_LIFE * life_ns);
}

struct pt_path_windows pt_path_windows_of(const struct pt_path_tree *tree, const struct pt_process *process)
{
    struct pt_path_windows windows = {0};
    struct idle_spans spans = {0};
    double explained_ns = 0;
    if (!may_be_launcher(tree, process))
        return windows;
    read_waits(tree, process, &spans);
    add_open_wait(tree, process, &spans);
    const bool takes_answers = asks(tree, process, &spans);
    for (size_t i = 0; i < spans.n; i++)
        if ((spans.items[i].kind != DATA || !takes_answers) &&
            spans.items[i].waited_ns >= LEAST_WAITING * (double)(spans.items[i].until_ns - spans.items[i].from_ns))
            explained_ns += divide(tree, process, &spans.items[i], &windows);
    if (windows.n)
        qsort(windows.items, windows.n, sizeof *windows.items, by_start);
    if (!is_launcher(process, &spans, explained_ns, &windows)) {
        free(windows.items);
        windows = (struct pt_path_windows){0};
    }
    free(spans.items);
    return windows;
}

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
#include "tree.h"
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

/* ---- whom it may wait for ---- */

enum idle_kind {
    ASLEEP, /* it slept, polled, or waited for anything */
    DATA,   /* it waited for data: output, if it is that of a child that ended then */
    REAPED, /* it waited until a child had ended */
};

/* Workers, and who forks them, serve the program that made them: it is the program. But one copy that it waits for is a
 * detour, and ranks are programs of their own. */
static bool may_lead(const struct pt_path_tree *tree, const struct pt_process *child, enum idle_kind kind)
{
    if (!pt_is_worker(child))
        return !pt_is_of_multiprocessing(child);
    if (child->rank >= 0 && child->rank != pt_path_starter(child)->rank)
        return true;
    return kind == REAPED && !pt_path_has_another_copy(tree, child);
}

static bool works(const struct pt_path_tree *tree, const struct pt_process *child)
{
    const struct pt_path_node *node = pt_path_node_of(tree, child);
    const double life_ns = (double)(pt_path_end(tree, child) - node->start_ns);
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
    const double ns = pt_path_node_of(tree, child)->busy_ns;
    return isnan(ns) ? 0 : ns;
}

static bool may_be_waited_for(const struct pt_path_tree *tree, const struct pt_process *child, pt_i64 from_ns,
                              pt_i64 until_ns, enum idle_kind kind)
{
    return pt_path_node_of(tree, child)->start_ns < until_ns && pt_path_end(tree, child) > from_ns &&
           may_lead(tree, child, kind) &&
           (kind != ASLEEP || works(tree, child) || polls_its_children(pt_path_starter(child)));
}

static pt_i64 earlier(pt_i64 a_ns, pt_i64 b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

struct idle_time {
    pt_i64 from_ns, until_ns;
    pt_i64 close_ns; /* who ended this much earlier has ended then */
};

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
    const size_t end = pt_path_node_of(tree, process)->first_ended + pt_path_node_of(tree, process)->n_children;
    const double share_ns = SAME_END_SHARE * (double)(until_ns - from_ns);
    const pt_i64 same_ns = share_ns > (double)time->close_ns ? pt_whole_signed(share_ns) : time->close_ns;
    const struct pt_process *best = NULL;
    /* Who sleeps notices later that a child has ended. */
    pt_i64 last_ns = kind == ASLEEP ? from_ns : until_ns;
    for (size_t i = pt_path_first_ended(tree, process, from_ns); i < end && last_ns < until_ns; i++)
        if (may_be_waited_for(tree, tree->ended[i], from_ns, until_ns, kind))
            last_ns = earlier(pt_path_end(tree, tree->ended[i]), until_ns);
    for (size_t i = pt_path_first_ended(tree, process, last_ns - same_ns); i < end; i++) {
        const struct pt_process *one = tree->ended[i];
        if (kind != ASLEEP && pt_path_end(tree, one) > until_ns + same_ns)
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
    const size_t end = pt_path_node_of(tree, process)->first_ended + pt_path_node_of(tree, process)->n_children;
    const struct pt_process *found = NULL;
    for (size_t i = pid ? pt_path_first_ended(tree, process, from_ns) : end; i < end; i++) {
        const struct pt_process *one = tree->ended[i];
        if (pt_path_end(tree, one) > until_ns + SAME_CHILD_NS)
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
        const pt_i64 start_ns = pt_path_node_of(tree, child)->start_ns, end_ns = pt_path_end(tree, child);
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
    return pt_path_node_of(tree, process)->first_child && life_ns >= LEAST_WINDOW_NS &&
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

/* SPDX-License-Identifier: MIT
 *
 * Owns: the rules that one comparison cannot express. Threads: one. Never: sees an event.
 */
#include "custom.h"

#include <errno.h>
#include <math.h>

#include "model/names.h"
#include "util/text/fmt.h"
#include "util/whole.h"

#define MIB (1024.0 * 1024.0)
/* Of a pair of calls to the allocator: arguments, registers saved, the jumps through the PLT. */
#define IN_CALLER_S 3e-9
#define LEAST_CHURN_S 0.1
/* A compiler spends 4 to 8 % of its CPU time in malloc, free and for the pages of blocks, and no other allocator brings
 * half of that. */
#define LEAST_CHURN_SHARE 0.1
#define LEAST_GROWTH_S 0.3

/* How long a training step takes; unknown if steps are not marked. */
static struct pt_value step_of(const struct pt_metrics *metrics, struct pt_scope scope)
{
    const struct pt_value marked = pt_metrics_get(metrics, scope, "steps.p50_s");
    const struct pt_table *ranges = pt_view_table(metrics, scope.index, PT_VIEW_ranges);
    for (size_t i = 0; marked.type == PT_VALUE_UNKNOWN && ranges && i < ranges->n_rows; i++) {
        const char *name = pt_table_cell(ranges, i, "name").text;
        if (!strcmp(name, "ProfilerStep#*") || !strcmp(name, "step"))
            return pt_table_cell(ranges, i, "p50_s");
    }
    return marked;
}

/* Who allocated is known of what was sampled. */
static void place_growth(struct pt_metrics *metrics, struct pt_scope scope, struct pt_finding *finding)
{
    const struct pt_value python = pt_metrics_get(metrics, scope, "heap.leak.python.bytes");
    const double grown = pt_value_number(pt_metrics_get(metrics, scope, "heap.leak.bytes"));
    const bool is_named = pt_value_number(pt_metrics_get(metrics, scope, "heap.leak.sites_percent")) >= 50;
    const bool is_python = pt_value_number(python) >= 0.5 * grown;
    if (!is_named)
        finding->place_kind = PT_PLACE_NOWHERE;
    if (is_named || !is_python)
        pt_finding_add_rows(finding, metrics, "heap.sites", "growth_bytes");
    else {
        finding->remedy = "bound the caches and lists of Python objects; python -X tracemalloc names the lines";
        pt_finding_add_evidence(finding, "where", pt_text("Python's objects: the trace does not tell who made them"));
    }
    if (is_python)
        pt_finding_add_evidence(finding, "python_objects_bytes", python);
}

/* How long an epoch of a training takes, with its validation. */
static struct pt_value epoch_of(const struct pt_metrics *metrics, struct pt_scope scope)
{
    const double epochs = pt_value_number(pt_metrics_get(metrics, scope, "epochs.count"));
    const double training_s = pt_value_number(pt_metrics_get(metrics, scope, "training.total_s"));
    const double validation_s = pt_value_number(pt_metrics_get(metrics, scope, "training.validation_s"));
    return epochs > 0 && training_s > 0 ? pt_real((training_s + validation_s) / epochs)
                                        : pt_unknown("no epochs are known");
}

static struct pt_value bytes_in(double bytes_per_s, struct pt_value duration_s)
{
    return duration_s.type == PT_VALUE_UNKNOWN ? duration_s
                                               : pt_integer(pt_whole(bytes_per_s * pt_value_number(duration_s)));
}

static void add_rates(struct pt_metrics *metrics, struct pt_scope scope, struct pt_finding *finding, double bytes_per_s)
{
    const struct pt_value epoch = epoch_of(metrics, scope);
    struct pt_value step = step_of(metrics, scope);
    if (step.type == PT_VALUE_UNKNOWN)
        step = pt_unknown("no steps are known: proftrace_step, or ranges called step");
    pt_finding_add_evidence(finding, "growth_bytes_per_s", pt_real(bytes_per_s));
    pt_finding_add_evidence(finding, "growth_per_step_bytes", bytes_in(bytes_per_s, step));
    if (epoch.type != PT_VALUE_UNKNOWN)
        pt_finding_add_evidence(finding, "growth_per_epoch_bytes", bytes_in(bytes_per_s, epoch));
    pt_finding_add_evidence(finding, "growth_give_or_take_percent",
                            pt_metrics_get(metrics, scope, "heap.leak.spread_percent"));
}

bool pt_rule_heap_growth(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    if (stage < 0)
        return false;
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage((pt_u32)stage);
    const struct pt_value growth = pt_metrics_get(metrics, scope, "heap.leak.bytes");
    const double length_s = pt_value_number(pt_metrics_get(metrics, scope, "heap.leak.length_s"));
    const struct pt_value share = pt_metrics_get(metrics, scope, "heap.leak.share_percent");
    /* Less is what every program does while it starts and warms up. */
    if (growth.type == PT_VALUE_UNKNOWN || pt_value_number(growth) < 32 * MIB || pt_value_number(share) < 25 ||
        length_s < LEAST_GROWTH_S)
        return false;
    finding->always_shown = true;
    finding->title = pt_metrics_format(metrics, "Memory keeps growing: by %s in %s",
                                       pt_fmt_bytes(pt_whole(pt_value_number(growth))).text,
                                       pt_fmt_duration(pt_whole_signed(length_s * 1e9)).text);
    pt_finding_add_evidence(finding, "growth_bytes", growth);
    pt_finding_add_evidence(finding, "growing_s", pt_real(length_s));
    add_rates(metrics, scope, finding, pt_value_number(growth) / length_s);
    pt_finding_add_evidence(finding, "share_of_peak_percent", share);
    pt_finding_add_evidence(finding, "line_fit", pt_metrics_get(metrics, scope, "heap.leak.fit"));
    pt_finding_add_evidence(finding, "pid", pt_metrics_get(metrics, scope, "heap.leak.pid"));
    place_growth(metrics, scope, finding);
    return true;
}

/* Two upper bounds, of which the lower one holds: what the allocator was seen to take, for blocks that live on and the
 * pages that it touches first, too; and the number of calls at what one may take. */
static double least_known(double seen_s, double counted_s)
{
    return isnan(seen_s) ? counted_s : fmin(seen_s, counted_s);
}

static double churn_s(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    return least_known(pt_finding_number(finding, metrics, "cpu.allocator_most_s") +
                           IN_CALLER_S * pt_finding_number(finding, metrics, "heap.churn.calls") +
                           pt_finding_number(finding, metrics, "heap.churn.mapping_s"),
                       pt_finding_number(finding, metrics, "heap.churn.cost_s"));
}

/* Neither recording nor waiting for a CPU must make much of little. */
static bool is_much_churn(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    const double s = least_known(pt_finding_number(finding, metrics, "cpu.allocator_s") +
                                     pt_finding_number(finding, metrics, "heap.churn.mapping_s"),
                                 pt_finding_number(finding, metrics, "heap.churn.cost_s"));
    return pt_finding_number(finding, metrics, "heap.churn.share_percent") >= 30 && s >= LEAST_CHURN_S &&
           !(s < LEAST_CHURN_SHARE * pt_finding_number(finding, metrics, "cpu.total_s"));
}

bool pt_rule_heap_churn(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    (void)stage;
    if (!is_much_churn(finding, metrics))
        return false;
    finding->gain_upper_s = churn_s(finding, metrics);
    if (!isnan(pt_finding_number(finding, metrics, "cpu.allocator_s")))
        finding->confidence = PT_CONFIDENCE_HIGH;
    pt_finding_add_metrics(finding, metrics,
                           "short_lived_calls:heap.churn.calls short_lived_bytes:heap.churn.bytes "
                           "share_percent:heap.churn.share_percent alloc_calls:heap.allocs.calls "
                           "allocator_cpu_s:cpu.allocator_s");
    pt_finding_add_rows(finding, metrics, "heap.sites", "churn_bytes");
    return true;
}

/* Why a run has no processes: the launcher knows why the command could not be traced. */
static const struct pt_run_untraced *untraced_of(const struct pt_profile *profile, pt_i64 stage)
{
    for (pt_u32 i = 0; profile->run && i < profile->run->n_untraced; i++) {
        const struct pt_run_untraced *one = &profile->run->untraced[i];
        if (stage < 0 || !one->stage || !strcmp(one->stage, profile->stages.items[stage].name))
            return one;
    }
    return NULL;
}

static const char in_missing_files[] = "trace files are missing: its processes may be in them";

static const char *why_no_process(const struct pt_profile *profile, pt_i64 stage,
                                  const struct pt_run_untraced *untraced)
{
    const struct pt_session *session = profile->session;
    const struct pt_run_stage *run = stage < 0 ? NULL : pt_profile_run_of(profile, (pt_u32)stage);
    if (run && run->status && run->reason && isnan(run->pid)) /* its command could not be run */
        return run->reason;
    if (untraced && untraced->reason)
        return untraced->reason;
    if (!session->n_processes && session->n_notes) /* what is not here; those that had no room, by reason */
        return session->notes[0];
    if (session->quality.missing_files)
        return in_missing_files;
    return "no process wrote a trace: PROFTRACE_DISABLE set, the directory not writable, or the program ended before "
           "the library was loaded";
}

/* What is waited for when a process is ended is in no event: calls are recorded when they return. The time that it took
 * is of unknown use, and the stacks that were taken before the end say of which. */
bool pt_rule_stage_stuck(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    (void)stage;
    if (!(pt_finding_number(finding, metrics, "stuck.looks") > 0))
        return false;
    finding->always_shown = true; /* it came back after a while, and nobody knows how long that was */
    finding->gain_upper_s = pt_finding_number_or_0(finding, metrics, "time.unattributed_s");
    pt_finding_add_metrics(finding, metrics, "where:stuck.where unattributed_s:time.unattributed_s");
    return true;
}

/* The first of them is named; why the stage's own command died, the launcher may know. */
static void name_the_dead(struct pt_profile *profile, pt_u32 stage, const struct pt_table *table,
                          struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_run_stage *run = pt_profile_run_of(profile, stage);
    const char *exit = pt_table_cell(table, 0, "exit").text;
    const bool is_root = run && run->exit && !strcmp(run->exit, exit) && run->reason;
    finding->title = pt_metrics_format(metrics, "%s died: %s", pt_value_label(pt_table_cell(table, 0, "process")),
                                       is_root ? run->reason : exit);
    pt_finding_add_evidence(finding, "last_calls", pt_table_cell(table, 0, "last_calls"));
    pt_finding_add_rows(finding, metrics, "deaths", "pid"); /* how long it lived is not known of each */
}

bool pt_rule_died_by_signal(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    finding->always_shown = true;
    if (stage < 0)
        return false;
    const struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage((pt_u32)stage);
    const struct pt_value died = pt_metrics_get(metrics, scope, "deaths.processes");
    const struct pt_table *table = pt_metrics_find_table(metrics, scope, "deaths");
    if (!(pt_value_number(died) >= 1))
        return false;
    pt_finding_add_evidence(finding, "died_processes", died);
    if (table && table->n_rows)
        name_the_dead(profile, (pt_u32)stage, table, finding);
    return true;
}

/* Processes that had ended before a window were captured: those of this stage, for what another one left says nothing
 * of it. */
static bool was_traced_before_window(const struct pt_profile *profile, pt_i64 stage)
{
    const struct pt_session *session = profile->session;
    for (pt_u32 i = 0; i < session->n_before_window; i++) {
        const char *name = session->processes[session->n_processes + i]->stage;
        if (stage < 0 || (name && !strcmp(name, profile->stages.items[stage].name)))
            return true;
    }
    return false;
}

/* jemalloc, tcmalloc and mimalloc serve operator new inside, where no hook of malloc sees it, and all where they come
 * before the library. Where all that was allocated is less than half of what the process held at once, it held more
 * than we saw. NULL = not so. */
static const char *allocator_of_unseen(const struct pt_process *process)
{
    const bool saw_little = (double)process->heap->bytes < (double)process->max_rss_bytes / 2;
    return process->heap_mode != PT_HEAP_OFF && saw_little ? pt_process_allocator(process) : NULL;
}

/* A small program may well do without malloc; one with this much memory must have allocated it. */
static bool is_heap_unseen(const struct pt_process *process)
{
    const bool no_heap = process->heap_mode != PT_HEAP_OFF && !process->heap->allocs && !process->heap->frees;
    return (double)process->max_rss_bytes > 64 * MIB && (no_heap || allocator_of_unseen(process));
}

#define ASK_THE_ALLOCATOR                                                                                              \
    "(jemalloc: MALLOC_CONF=prof:true or stats_print:true, tcmalloc: HEAPPROFILE, mimalloc: MIMALLOC_SHOW_STATS=1)"

/* What is said of it: nothing called malloc, an allocator took all of it, or what C++ wanted. */
struct unseen_heap {
    const char *title, *remedy, *advice, *reason;
};

static const struct unseen_heap never_called = {
    "The heap was not captured", "let it use libc's malloc, or ask its own allocator for the heap",
    "All else is recorded: calls, waits, files, CPU, and the memory as a whole. For the heap ask the allocator "
    "itself " ASK_THE_ALLOCATOR ", or build with libc's: without the jemalloc, tcmalloc or mimalloc feature, without "
    "#[global_allocator]. Of an allocator that is a shared library malloc is seen, but not the operator new of C++. "
    "PROFTRACE_HEAP=off leaves this finding out.",
    "the program holds memory but never called malloc of libc: an allocator that is linked in (jemalloc, tcmalloc, "
    "mimalloc) cannot be interposed, or it maps its memory itself"};

static const struct unseen_heap all_of_allocator = {
    "The heap was not captured", "name the library before the allocator in LD_PRELOAD",
    "All else is recorded: calls, waits, files, CPU, and the memory as a whole. For the heap name the library first "
    "(LD_PRELOAD=libproftrace.so:libjemalloc.so.2), in scripts, too. PROFTRACE_HEAP=off leaves this finding out.",
    "an allocator comes before the library, so that malloc goes past the library"};

static const struct unseen_heap new_of_allocator = {
    "The heap was captured in part", "let it use libc's malloc, or ask its own allocator for the heap",
    "Counts, peak, sites and leaks are of malloc alone: what C++ allocates by new goes past it. All else is right: "
    "calls, waits, files, CPU, and the memory as a whole. For the heap run it once without this allocator "
    "(LD_PRELOAD, -ljemalloc), or ask the allocator " ASK_THE_ALLOCATOR ". PROFTRACE_HEAP=off leaves this finding out.",
    "the program held more memory than malloc was asked for: this allocator serves operator new of C++ itself, where "
    "the library does not see it"};

/* allocator: that which had some of it; NULL = malloc was never called, or it is one whose name is not known. */
static void tell_unseen_heap(struct pt_finding *finding, const struct pt_process *process, const char *allocator)
{
    const struct unseen_heap *unseen = process->is_heap_hidden ? &all_of_allocator
                                       : allocator             ? &new_of_allocator
                                                               : &never_called;
    finding->title = unseen->title;
    finding->severity = PT_SEVERITY_WARNING;
    finding->confidence = PT_CONFIDENCE_MEDIUM;
    finding->remedy = unseen->remedy;
    finding->advice = unseen->advice;
    if (allocator)
        pt_finding_add_evidence(finding, "allocator", pt_text(allocator));
    pt_finding_add_evidence(finding, "reason", pt_text(unseen->reason));
    pt_finding_add_evidence(finding, "rss_max_bytes", pt_integer(process->max_rss_bytes));
}

static void tell_no_process(const struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    const struct pt_run_untraced *untraced = untraced_of(profile, stage);
    const char *why = why_no_process(profile, stage, untraced);
    pt_finding_add_evidence(finding, "reason", pt_text(why));
    const bool is_noted = profile->session->n_notes && why == profile->session->notes[0];
    if ((is_noted || why == in_missing_files) && profile->session->quality.missing_files) {
        const struct pt_quality *quality = &profile->session->quality;
        finding->title = is_noted && quality->blank_files == quality->missing_files
                             ? "Trace files are empty: what it did is not here"
                             : "Trace files are missing: what it did is not here";
        finding->remedy = finding->advice = "copy the whole folder of the run, and unpack its *.ptr and *.pts";
    }
    if (untraced)
        pt_finding_add_evidence(finding, "program", pt_text(untraced->path));
}

bool pt_rule_nothing_captured(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    finding->always_shown = true;
    if (stage >= 0 && pt_stage_was_skipped(&profile->stages.items[stage]))
        return false;
    if ((stage < 0 || !profile->stages.items[stage].root) && was_traced_before_window(profile, stage))
        return false;
    if (stage < 0 || !profile->stages.items[stage].root) {
        tell_no_process(profile, stage, finding);
        return true;
    }
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage((pt_u32)stage);
    const struct pt_process *root = profile->stages.items[stage].root;
    if (pt_profile_counters_missing(profile, (pt_u32)stage))
        return false;
    const bool is_empty = pt_finding_number(finding, metrics, "capture.total") == 0; /* unknown is not empty */
    if (is_empty) {
        pt_finding_add_evidence(finding, "reason",
                                pt_text("the program made no call that the library sees: it talks to the kernel itself "
                                        "(Go, static parts) or all families are off"));
    } else if (!root->is_heap_late && is_heap_unseen(root)) {
        tell_unseen_heap(finding, root, allocator_of_unseen(root));
        if (root->is_heap_hidden && !profile->run) /* who uses it has a script that puts the allocator first again */
            finding->remedy = "name the library before the allocator in LD_PRELOAD, or use proftrace run";
    } else {
        return false;
    }
    pt_finding_add_evidence(finding, "program", pt_text(root->exe));
    pt_finding_add_evidence(finding, "calls", pt_metrics_get(metrics, scope, "capture.calls"));
    return true;
}

/* The launcher saw the CPU time of all; ours is that of the processes with a trace. */
bool pt_rule_mostly_untraced(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_process *starter = NULL;
    for (pt_u32 i = 0; stage >= 0 && !starter && i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        if (pt_profile_stage_of(profile, process) == (pt_u32)stage && process->n_untraced)
            starter = process;
    }
    const double total_s = pt_finding_number(finding, metrics, "cpu.total_s");
    const double most_s = pt_finding_number(finding, metrics, "cpu.traced_most_s");
    if (!starter || !(most_s < 0.5 * total_s) || total_s < 0.1)
        return false;
    finding->always_shown = true;
    pt_finding_add_evidence(finding, "program", pt_text(starter->untraced[0].path));
    pt_finding_add_evidence(finding, "reason", pt_text(starter->untraced[0].reason));
    pt_finding_add_metrics(finding, metrics, "untraced:capture.untraced cpu_s:cpu.total_s traced_cpu_s:cpu.traced_s");
    return true;
}

bool pt_rule_trace_cut_short(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    const struct pt_process *first = NULL;
    pt_u64 n_files = 0, bytes_missing = 0, events_missing = 0;
    int read_errno = 0;
    for (pt_u32 i = 0; stage >= 0 && i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        if (!process->quality.truncated || pt_profile_stage_of(profile, process) != (pt_u32)stage)
            continue;
        first = first ? first : process;
        n_files++;
        bytes_missing += process->quality.cut_bytes;
        read_errno = read_errno ? read_errno : process->quality.read_errno;
        events_missing += process->quality.corrupt_events;
    }
    if (!first)
        return false;
    finding->always_shown = true;
    pt_finding_add_evidence(finding, "files", pt_integer(n_files));
    pt_finding_add_evidence(finding, "first_file", pt_text(first->file_name));
    pt_finding_add_evidence(finding, "missing_bytes",
                            read_errno      ? pt_unknown(strerror(read_errno))
                            : bytes_missing ? pt_integer(bytes_missing)
                                            : pt_unknown("how long it was is not known"));
    const bool counted = !pt_profile_counters_missing(profile, (pt_u32)stage);
    pt_finding_add_evidence(finding, "unreadable_events",
                            counted ? pt_integer(events_missing) : pt_unknown("their counters are missing, too"));
    return true;
}

/* ---- events that were not kept ---- */

enum why_lost {
#define WHY(name, remedy, advice) LOST_##name,
#include "lost.def"
#undef WHY
    LOST__COUNT
};

struct losses {
    pt_u64 by[LOST__COUNT];
    pt_u64 in_no_total;
};

/* What the kernel, or the budget, said when the file was to grow; nothing was said where only the ring was full. */
static enum why_lost why_no_room(pt_i32 growth_errno)
{
    switch (growth_errno) {
    case 0:
        return LOST_ring;
    case EDQUOT:
        return LOST_budget;
    case ENOSPC:
        return LOST_disk;
    case EFBIG:
        return LOST_file_limit;
    case EACCES:
    case EPERM:
    case ENOENT:
        return LOST_rights;
    case ENOSYS: /* the library may not ask any more */
        return LOST_sandbox;
    default:
        return LOST_refused;
    }
}

static void add_losses(const struct pt_process *process, struct losses *losses)
{
    const struct pt_quality *q = &process->quality;
    const pt_u64 no_room = q->drops[PT_DROP_no_space] + q->drops[PT_DROP_no_room_for_thread];
    const enum why_lost why = why_no_room(q->growth_errno);
    /* A file that may not grow overwrites early; but after a refusal of a moment it was the ring that was full. */
    losses->by[why == LOST_refused ? LOST_ring : why] += q->overwritten;
    losses->by[why] += no_room;
    losses->by[LOST_threads] += q->drops[PT_DROP_no_thread_slot];
    losses->by[LOST_sandbox] += q->drops[PT_DROP_frozen];
    losses->in_no_total +=
        q->dropped - (q->drops[PT_DROP_no_space] < q->dropped ? q->drops[PT_DROP_no_space] : q->dropped);
}

/* What helps against the reason of most of them. */
static void set_remedy(const struct losses *losses, struct pt_finding *finding)
{
    static const struct {
        const char *remedy, *exact, *not_exact;
    } rows[] = {
#define EXACT "Totals are exact all the same; percentiles, files and call sites miss what was lost. "
#define NOT_EXACT "Of the events that are in no total only the number is known: totals miss them, as all else does. "
#define WHY(name, remedy, advice) {remedy, EXACT advice, NOT_EXACT advice},
#include "lost.def"
#undef WHY
    };
    int why = 0;
    for (int i = 1; i < LOST__COUNT; i++)
        why = losses->by[i] > losses->by[why] ? i : why;
    finding->remedy = rows[why].remedy;
    finding->advice = losses->in_no_total ? rows[why].not_exact : rows[why].exact;
}

bool pt_rule_events_lost(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    if (stage < 0)
        return false;
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage((pt_u32)stage);
    const double lost = pt_value_number(pt_metrics_get(metrics, scope, "capture.lost.events"));
    const double kept = pt_value_number(pt_metrics_get(metrics, scope, "capture.events"));
    if (lost <= 0)
        return false;
    struct losses losses = {0};
    for (pt_u32 i = 0; i < profile->session->n_processes; i++)
        if (pt_profile_stage_of(profile, profile->session->processes[i]) == (pt_u32)stage)
            add_losses(profile->session->processes[i], &losses);
    finding->always_shown = true;
    set_remedy(&losses, finding);
    pt_finding_add_evidence(finding, "lost_events", pt_integer(pt_whole(lost)));
    if (losses.in_no_total)
        pt_finding_add_evidence(finding, "in_no_total_events", pt_integer(losses.in_no_total));
    pt_finding_add_evidence(finding, "kept_events", pt_integer(pt_whole(kept)));
    pt_finding_add_evidence(finding, "lost_percent", pt_real(100 * lost / (lost + kept)));
    return true;
}

/* SPDX-License-Identifier: MIT
 *
 * Owns: what no rule explains of a stage's time account. Threads: one. Never: promises a gain where those that are
 * waited for compute, or where nobody knows what they do.
 */
#include "general.h"

#include <math.h>
#include <string.h>

#include "conditions.h"
#include "own_functions.h"

/* CPU time of all threads, of what one computes. */
#define ONE_THREAD 1.25
/* Of a stage that waits less than the rest. */
#define NEARLY_ALL_OF_IT 0.75
#define MOST_OF_IT 0.5
#define LEAST_SEEN 0.25           /* of a wait: who is waited for in less of it explains nothing */
#define MOSTLY_NATIVE 0.7         /* of a function: Python is not what is slow in it */
#define LARGE_BACKWARD_PERCENT 25 /* of a training */
#define GPU_BUSY_PERCENT 90

const struct pt_general pt_generals[] = {
#define GENERAL(id, kind, part, place, evidence, table, title, remedy, advice)                                         \
    {#id, PT_GENERAL_##kind, PT_PART_##part, PT_PLACE_##place, evidence, table, title, remedy, advice},
#include "general.def"
#undef GENERAL
    {.id = NULL},
};

bool pt_subsumes(const struct pt_finding *specific, const struct pt_finding *general)
{
    static const struct {
        const char *general, *specific;
        bool is_of_workers;
    } pairs[] = {
#define SUBSUMES(general, specific) {#general, #specific, false},
#define SUBSUMES_OF_WORKERS(general, specific) {#general, #specific, true},
#include "subsumes.def"
#undef SUBSUMES
#undef SUBSUMES_OF_WORKERS
    };
    /* What comes behind a step is none of the wait for its data; of what is beside the steps it is the same where the
     * same helps, else other seconds. */
    const bool is_apart =
        general->is_wait && (general->place_kind != PT_PLACE_BESIDE || strcmp(general->remedy, specific->remedy) != 0);
    if (general->stage != specific->stage || (specific->place_kind == PT_PLACE_BEHIND && is_apart))
        return false;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!strcmp(pairs[i].general, general->rule) && !strcmp(pairs[i].specific, specific->rule) &&
            (!pairs[i].is_of_workers || general->is_of_workers))
            return true;
    return false;
}

/* ---- the part ---- */

/* What only moves bytes into or out of the C library's buffer waits for no file: sed's four million writes of 25 ns,
 * most of which is the reading of our clock, were told to be fewer. */
static double part_s(const struct pt_finding *finding, const struct pt_metrics *metrics, enum pt_time_part part)
{
    const double s = pt_finding_number_or_0(finding, metrics, pt_time_parts[part].metric);
    if (part == PT_PART_file_read || part == PT_PART_file_write)
        return fmax(s - pt_finding_number_or_0(
                            finding, metrics, part == PT_PART_file_read ? "time.copied_read_s" : "time.copied_write_s"),
                    0);
    return part == PT_PART_computing ? s + pt_finding_number_or_0(finding, metrics, pt_time_parts[PT_PART_heap].metric)
                                     : s;
}

static bool is_in(enum pt_time_part part, enum pt_time_part whole)
{
    return part == whole || (whole == PT_PART_computing && pt_part_is_computing(part));
}

bool pt_explains(const struct pt_finding *specific, const struct pt_finding *general)
{
    return general->is_general && !specific->is_general && specific->stage == general->stage &&
           (is_in(specific->part, general->part) || pt_subsumes(specific, general));
}

static bool is_wait(enum pt_time_part part)
{
    return part < PT_PART_computing && !pt_part_is_computing(part);
}

/* Whom it waits for may wait in any part. */
static bool counts_as_explained(const struct pt_finding *one, const struct pt_finding *general, bool is_followed)
{
    return pt_explains(one, general) ||
           (is_followed && !one->is_general && one->stage == general->stage && is_wait(one->part));
}

/* Of one finding, beyond those that tell more about the same seconds: a function that copies was taken off twice, as a
 * slow call and as Python in a training, and the other half of the time had no line. The table has no circles. */
static double own_share_s(const struct pt_findings *findings, const struct pt_finding *one,
                          const struct pt_finding *general, bool is_followed)
{
    double s = one->gain_upper_s;
    for (size_t i = 0; i < findings->n; i++) {
        const struct pt_finding *more = &findings->items[i];
        if (pt_subsumes(more, one) && counts_as_explained(more, general, is_followed))
            s -= own_share_s(findings, more, general, is_followed);
    }
    return fmax(s, 0);
}

/* Findings that no row of subsumes.def names together may still be about the same seconds: then more is explained than
 * there is. */
static double explained_s(const struct pt_findings *findings, const struct pt_finding *general, bool is_followed)
{
    double s = 0;
    for (size_t i = 0; i < findings->n; i++)
        if (counts_as_explained(&findings->items[i], general, is_followed))
            s += own_share_s(findings, &findings->items[i], general, is_followed);
    return s;
}

/* What is said about imports, apart, is of that part. */
static double imports_s(const struct pt_general *row, const struct pt_findings *findings,
                        const struct pt_finding *general, const struct pt_metrics *metrics)
{
    const struct pt_finding *importing =
        row->part == PT_PART_computing ? pt_findings_of_rule(findings, general->stage, "importing") : NULL;
    return importing ? fmin(pt_finding_number_or_0(general, metrics, "cpu.imports_s"), importing->time_s) : 0;
}

/* It computes nothing where it spins until those have come that other programs keep from the CPUs. */
static double spinning_s(const struct pt_general *row, const struct pt_findings *findings,
                         const struct pt_finding *general, const struct pt_metrics *metrics)
{
    const bool spins =
        row->part == PT_PART_computing && pt_findings_of_rule(findings, general->stage, "noisy_neighbour");
    return spins ? pt_finding_number_or_0(general, metrics, "neighbours.spinning_s") : 0;
}

/* What a checkpoint waits until its file is made is told as the checkpoint: of each step, on a busy disk, it was told
 * to use fewer, larger files. What is told of files that are written again may be the same. */
static double in_checkpoints_s(const struct pt_general *row, const struct pt_findings *findings,
                               const struct pt_finding *general, const struct pt_metrics *metrics)
{
    const struct pt_finding *told =
        row->part == PT_PART_file_meta ? pt_findings_of_rule(findings, general->stage, "costly_checkpoints") : NULL;
    const struct pt_finding *written = pt_findings_of_rule(findings, general->stage, "rewritten_files");
    const double all_s = pt_finding_number_or_0(general, metrics, "training.checkpoints.file_meta_s");
    return told ? fmax(0, fmin(all_s, told->gain_upper_s) - (written ? written->gain_upper_s : 0)) : 0;
}

/* ---- those who are waited for ---- */

/* What the direct blockers of the main thread, and of those of its process that it waits for, did meanwhile, in
 * seconds. */
struct meanwhile {
    double computing_s, in_files_s;
    double waiting_s; /* for anything but each other */
};

static double sum_of(const struct pt_table *table, size_t row, const enum pt_time_part *parts, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += pt_table_number(table, row, pt_time_parts[parts[i]].key);
    return s;
}

static struct meanwhile meanwhile_of(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct pt_table *table = pt_view_table(&profile->metrics, (pt_u32)finding->stage, PT_VIEW_waits);
    static const enum pt_time_part computing[] = {PT_PART_computing}, elsewhere[] = {PT_PART_network, PT_PART_sleep};
    static const enum pt_time_part in_files[] = {PT_PART_file_read, PT_PART_file_write, PT_PART_file_meta,
                                                 PT_PART_page_fault};
    struct meanwhile sum = {0};
    for (size_t row = 0; table && row < table->n_rows; row++) {
        if (pt_table_number(table, row, "is_own") != 1 ||
            (enum pt_time_part)pt_table_number(table, row, "part") != finding->part)
            continue;
        const double in_files_s = sum_of(table, row, in_files, sizeof in_files / sizeof *in_files);
        sum.computing_s += sum_of(table, row, computing, 1);
        sum.in_files_s += in_files_s;
        sum.waiting_s += in_files_s + sum_of(table, row, elsewhere, sizeof elsewhere / sizeof *elsewhere);
    }
    return sum;
}

/* Where they compute, waiting less brings nothing. */
static void say_that_they_compute(struct pt_profile *profile, struct pt_finding *finding)
{
    finding->is_observation = true;
    finding->place_kind = PT_PLACE_CPU;
    finding->title = finding->part == PT_PART_network
                         ? "The program waits for servers of this run, which compute"
                         : pt_metrics_format(&profile->metrics, "%s, which compute", finding->title);
    finding->remedy = "their computing takes the time: less of it, faster code, or more of them on idle CPUs";
}

/* ---- one of them ---- */

/* In the table of waits there are those of all parts, and behind the program's own what those wait for in turn.
 * The wait for a shell's child said where a program waits that had made 16 threads: it was the only row. */
static void drop_waits_of_other_parts(struct pt_finding *finding)
{
    const struct pt_table *table = finding->table;
    pt_u32 n = 0, n_own = 0;
    if (!table || pt_table_column(table, "waited_for") == table->n_columns)
        return;
    for (pt_u32 i = 0; i < finding->n_rows; i++) {
        const size_t row = finding->rows[i];
        const bool is_own = pt_table_number(table, row, "is_own") == 1;
        if (is_own && (enum pt_time_part)pt_table_number(table, row, "part") != finding->part)
            continue;
        n_own += is_own;
        finding->rows[n++] = row;
    }
    finding->n_rows = n_own ? n : 0;
}

static void add_rows(struct pt_profile *profile, struct pt_finding *finding, const char *table)
{
    const char *slash = strchr(table, '/');
    if (!slash)
        return;
    pt_finding_add_rows(finding, &profile->metrics,
                        pt_metrics_format(&profile->metrics, "%.*s", (int)(slash - table), table), slash + 1);
    drop_waits_of_other_parts(finding);
}

static bool is_one_thread(const struct pt_finding *finding, const struct pt_metrics *metrics, double computing_s)
{
    return pt_finding_number(finding, metrics, "cpu.total_s") <= ONE_THREAD * computing_s;
}

/* What one part of the work does beside another cannot be saved by doing so. */
static bool is_no_problem(const struct pt_general *row, const struct pt_finding *finding,
                          const struct pt_metrics *metrics, const struct meanwhile *meanwhile)
{
    if (row->kind == PT_GENERAL_FOLLOWED)
        return !(meanwhile->in_files_s >= finding->time_s / 2); /* what else they wait for may well go on beside work */
    return row->kind == PT_GENERAL_NEUTRAL ||
           (row->part == PT_PART_network && pt_finding_number(finding, metrics, "net.at_once") >= 2);
}

/* The launcher was there: to start it with one would help nobody. */
static void say_what_was_not_seen(const struct pt_profile *profile, struct pt_finding *finding)
{
    const struct pt_run_stage *run = pt_profile_run_of(profile, (pt_u32)finding->stage);
    if (!profile->run && !profile->session->why_no_run)
        return;
    finding->remedy = !profile->run ? "report the whole folder of the run, with its run.json"
                      : run && run->is_running
                          ? "a call that it is in, perhaps: look again when it has ended"
                          : "waits without a call of libc, or what this machine does not let us see: proftrace doctor";
    finding->advice = !profile->run
                          ? "The launcher noted more of it: name the folder of the run, not one file of it; where its "
                            "run.json is damaged or not here, copy the whole folder again."
                          : "Waits that make no call of libc, a call that it was in when it ended, or what this "
                            "machine does not let us "
                            "see: proftrace doctor says what it can record.";
}

/* Each wait stands above those of whom it waits for: the last one of which most of the time of the first is. */
static size_t end_of_chain(const struct pt_table *table, size_t first)
{
    const double least_s = pt_table_number(table, first, "total_s") / 2;
    size_t row = first;
    while (row + 1 < table->n_rows &&
           pt_table_number(table, row + 1, "step") == pt_table_number(table, row, "step") + 1 &&
           pt_table_number(table, row + 1, "total_s") >= least_s)
        row++;
    return row;
}

/* A wait of 6 us for the resource tracker of multiprocessing was all that was seen of 21 s: the advice was to look at
 * that one. */
static bool is_worth_a_look(const struct pt_finding *finding)
{
    double seen_s = 0;
    for (size_t row = 0; finding->n_rows && row < finding->table->n_rows; row++)
        if (pt_table_number(finding->table, row, "is_own") == 1 &&
            (enum pt_time_part)pt_table_number(finding->table, row, "part") == finding->part)
            seen_s += pt_table_number(finding->table, row, "total_s");
    return finding->n_rows && seen_s >= LEAST_SEEN * finding->time_s;
}

/* The rows are not on the first screen: the first of them, in words. Without rows there is nothing to look at. */
static void say_whom_it_waits_for(struct pt_profile *profile, const struct pt_general *row, struct pt_finding *finding)
{
    if (row->kind != PT_GENERAL_FOLLOWED || finding->remedy != row->remedy)
        return;
    if (!is_worth_a_look(finding)) {
        finding->n_rows = 0;
        finding->remedy = "whom it waits for was not seen: proftrace stats --by thread has what each thread does";
        finding->advice =
            "Nobody was seen to end these waits: what each thread does is in proftrace stats --by thread, "
            "and on the timeline (proftrace export --to perfetto).";
        return;
    }
    const size_t first = end_of_chain(finding->table, finding->rows[0]);
    struct pt_metrics *metrics = &profile->metrics;
    const char *name = pt_value_label(pt_table_cell(finding->table, first, "waited_for"));
    const char *mostly = pt_value_label(pt_table_cell(finding->table, first, "mostly"));
    const char *whom = strstr(name, "thread ") ? name
                                               : pt_metrics_format(metrics, "%s (pid %.0f)", name,
                                                                   pt_table_number(finding->table, first, "pid"));
    const bool is_known = strncmp(mostly, pt_time_parts[PT_PART_unattributed].label,
                                  strlen(pt_time_parts[PT_PART_unattributed].label)) != 0;
    finding->remedy =
        is_known ? pt_metrics_format(metrics, "look at what %s did meanwhile: %s (its evidence has more)", whom, mostly)
                 : pt_metrics_format(metrics, "look at what %s did meanwhile: its evidence has the times", whom);
}

/* Of the stage that of which anything is known. */
static double known_s(const struct pt_finding *finding, const struct pt_metrics *metrics, double wall_s)
{
    return wall_s - pt_finding_number_or_0(finding, metrics, pt_time_parts[PT_PART_unattributed].metric);
}

/* Beside waits it is not all that there is to say. */
static void say_what_computes(struct pt_finding *finding, bool is_one_thread, double share)
{
    const bool waits = share < NEARLY_ALL_OF_IT;
    finding->title =
        is_one_thread ? (waits ? "One thread computes, between its waits" : finding->title)
                      : (waits ? "The program computes, between its waits" : "The program computes, without waiting");
    finding->remedy =
        waits ? "for this part only less work, faster code, or work divided among idle CPUs helps" : finding->remedy;
}

/* With what other programs took: there is nothing to divide work among. A CPU on which a pool's thread looks for work
 * may do some; not where it does so because others keep the rest of the pool from the CPUs. */
static bool are_cpus_busy(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct pt_metrics *metrics = &profile->metrics;
    const double wall_s = (double)pt_profile_stage_wall_ns(profile, (pt_u32)finding->stage) / 1e9;
    const double for_others_s = pt_finding_number_or_0(finding, metrics, "neighbours.spinning_s");
    const double main_s = pt_finding_number_or_0(finding, metrics, "cpu.spinning_main_s");
    const double for_others = main_s > 0 ? for_others_s / main_s : 0;
    return pt_finding_number(finding, metrics, "neighbours.full_s") -
               (1 - for_others) * pt_looking_for_work_s(profile, finding) >=
           MOST_OF_IT * wall_s;
}

/* Of what it computes in Python, without imports, more than half in one function of the program: its name stands
 * beside it. NULL = in none, or in native code that such a function calls: to fit a model of scikit-learn is no affair
 * of sets and dictionaries, but perhaps of idle CPUs. */
static const char *one_function(struct pt_profile *profile, pt_i64 stage)
{
    struct pt_own_functions functions;
    struct pt_own_function most = {0};
    pt_own_functions(profile, stage, false, &functions);
    for (size_t i = 0; i < functions.n; i++)
        most = functions.items[i].own_s > most.own_s ? functions.items[i] : most;
    const bool is_in_one = most.own_s > MOST_OF_IT * functions.all_s && most.own_native_s < MOSTLY_NATIVE * most.own_s;
    pt_own_functions_free(&functions);
    return is_in_one ? most.function : NULL;
}

/* No rule knows what it does; whoever looks at it may. */
static void say_how_to_compute_less(struct pt_profile *profile, struct pt_finding *finding)
{
    const bool are_busy = are_cpus_busy(profile, finding);
    const char *function = one_function(profile, finding->stage);
    if (function)
        finding->remedy = pt_metrics_format(&profile->metrics,
                                            "look at that %s: do less in it (look things up in a set or dictionary, "
                                            "do once what stays the same), or in native code",
                                            strcmp(function, "<module>") ? "function" : "code");
    else if (are_busy)
        finding->remedy = "no CPU was idle: only less work or faster code helps";
    if (are_busy)
        finding->advice =
            "Look at the hottest functions: do less (cache results, leave out what is not needed), or do it faster "
            "(NumPy and other native code instead of Python's loops, a compiler). No CPU was idle: to divide the "
            "work among processes would bring nothing.";
}

/* With the queue full, a launch waits, and looks like work. */
static void say_that_the_gpu_is_busy(struct pt_profile *profile, struct pt_finding *finding, double busy_percent)
{
    if (!(busy_percent >= GPU_BUSY_PERCENT))
        return;
    finding->title = "The main thread computes while the GPU is busy";
    finding->remedy = pt_metrics_format(&profile->metrics,
                                        "the GPU was busy for %.0f %% of it: only faster kernels help", busy_percent);
    finding->advice =
        "What the main thread does is hidden behind the GPU's work: only faster kernels help (smaller types, "
        "fused kernels, torch.compile), or less of them.";
    finding->place_kind = PT_PLACE_NOWHERE;
    pt_finding_add_metrics(finding, &profile->metrics, "gpu_busy_later_percent:gpu.gaps.busy_percent");
}

/* Most of what was read is what the program is made of: it is read once, when it starts, and a second run finds it in
 * memory. */
static bool reads_programs(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    return pt_finding_number(finding, metrics, "io.program_files.total_s") >
           pt_finding_number_or_0(finding, metrics, "io.data_files.total_s");
}

static void say_that_it_starts(struct pt_finding *finding)
{
    finding->is_observation = true;
    finding->title = "The program and its modules are read from the disk";
    finding->remedy = "measure again: a second run finds them in memory";
    finding->advice = "Measure again: a second run finds programs and modules in memory. Import less, or later.";
}

/* A call that copies waits for all that was launched before it, too: what the GPU computes meanwhile it would in any
 * case. */
static void bound_by_copies(const struct pt_profile *profile, const struct pt_findings *findings,
                            struct pt_finding *finding, double stretch)
{
    const double most_s = pt_finding_number(finding, &profile->metrics, "gpu.copies.most_s");
    const double left_s = fmax(most_s - explained_s(findings, finding, false) / stretch, 0);
    if (finding->part != PT_PART_copy || !(most_s >= 0) || left_s >= finding->gain_upper_s)
        return;
    finding->gain_upper_s = left_s;
    if (left_s >= PT_LARGE_PART * pt_own_wall_s(profile, finding))
        return;
    finding->is_observation = true;
    finding->gain_upper_s = 0;
    finding->title = "The main thread waits for the GPU, in calls that copy";
    finding->remedy = "the GPU is busy meanwhile: only faster kernels help";
    finding->advice =
        "The copies themselves take little: they wait for what was launched before. Only faster kernels help "
        "(smaller types, fused kernels, torch.compile).";
}

/* The time of these lines was taken off: they are not where the rest of it goes. */
static void leave_out_explained(const struct pt_findings *findings, struct pt_finding *finding)
{
    for (size_t i = 0; i < findings->n && finding->n_explained < PT_MAX_EXPLAINED; i++) {
        const struct pt_finding *one = &findings->items[i];
        if (one->in_line && pt_explains(one, finding))
            finding->explained[finding->n_explained++] = (struct pt_explained_line){one->in_file, one->in_line};
    }
}

/* Who competes for the GIL waits for it, however much of that could be saved. */
static bool is_told(const struct pt_general *row, const struct pt_findings *findings, const struct pt_finding *general)
{
    return row->part == PT_PART_gil_wait && pt_findings_of_rule(findings, general->stage, "gil_contention");
}

/* The account is the main thread's, of which workers are none. What a backward pass does follows from the forward
 * passes, and lies in the one line that calls it. */
static enum pt_place_kind place_of_computing(const struct pt_general *row, const struct pt_finding *finding,
                                             const struct pt_metrics *metrics, bool is_without_imports)
{
    if (row->part == PT_PART_computing &&
        pt_finding_number(finding, metrics, "training.backward_percent") >= LARGE_BACKWARD_PERCENT)
        return PT_PLACE_FORWARD;
    const bool has_workers =
        row->part == PT_PART_computing && pt_finding_number(finding, metrics, "helpers.workers.at_once") > 0;
    return is_without_imports || has_workers ? PT_PLACE_STEPS : row->place;
}

bool pt_general_fires(struct pt_profile *profile, const struct pt_general *row, const struct pt_findings *findings,
                      struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    if (finding->stage < 0)
        return false;
    const double wall_s = pt_own_wall_s(profile, finding);
    const double all_s = part_s(finding, metrics, row->part);
    const struct meanwhile meanwhile = meanwhile_of(profile, finding);
    const double stretch = pt_stretch_of(profile, finding);
    const double importing_s = imports_s(row, findings, finding, metrics);
    const double apart_s = importing_s + spinning_s(row, findings, finding, metrics);
    const double saving_s = in_checkpoints_s(row, findings, finding, metrics);
    const double told_s = explained_s(findings, finding, meanwhile.waiting_s >= all_s / 2);
    const double took_s = fmax(0, all_s - apart_s) * stretch - told_s - saving_s;
    if (!(wall_s > 0) || !(took_s >= PT_LARGE_PART * wall_s) || is_told(row, findings, finding))
        return false;
    finding->time_s = took_s / stretch;
    finding->place_kind = place_of_computing(row, finding, metrics, importing_s > 0);
    finding->is_observation = is_no_problem(row, finding, metrics, &meanwhile);
    if ((row->part == PT_PART_file_read && reads_programs(finding, metrics)) ||
        (row->part == PT_PART_page_fault && !pt_maps_data(profile, finding)))
        say_that_it_starts(finding);
    if (meanwhile.computing_s >= all_s / 2)
        say_that_they_compute(profile, finding);
    if (row->part == PT_PART_computing)
        say_what_computes(finding, is_one_thread(finding, metrics, all_s),
                          all_s / fmax(all_s, known_s(finding, metrics, wall_s)));
    if (row->part == PT_PART_computing) {
        say_how_to_compute_less(profile, finding);
        say_that_the_gpu_is_busy(profile, finding, pt_gpu_busy_percent(profile, finding, wall_s - importing_s));
    }
    if (row->part == PT_PART_unattributed)
        say_what_was_not_seen(profile, finding);
    finding->gain_upper_s = finding->is_observation ? 0 : finding->time_s;
    bound_by_copies(profile, findings, finding, stretch);
    finding->is_exact = row->part == PT_PART_sleep;
    leave_out_explained(findings, finding);
    pt_finding_add_metrics(finding, metrics, row->evidence);
    add_rows(profile, finding, row->table);
    say_whom_it_waits_for(profile, row, finding);
    return true;
}

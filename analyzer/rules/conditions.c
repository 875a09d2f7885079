/* SPDX-License-Identifier: MIT
 *
 * Owns: conditions that several rules share. Threads: one. Never: sees an event.
 */
#include "conditions.h"

#include <math.h>

enum { FEWEST_FETCHED = 100 }; /* pages */

/* The machine's pressure may be that of another control group: then our pages stayed, or we hardly waited for them. */
static bool has_part_in_pressure(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    return !(pt_finding_number(finding, metrics, "resource.group_refaults.last") < FEWEST_FETCHED) &&
           !(pt_finding_number(finding, metrics, "fault.wait_s") <
             0.1 * pt_finding_number(finding, metrics, "pressure.memory.cost_s"));
}

/* A process that waits for memory reads its pages again. */
bool pt_reads_its_pages_again(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct pt_metrics *metrics = &profile->metrics;
    const double of_group_percent = pt_finding_number(finding, metrics, "resource.group_memory_pressure_percent.mean");
    const double of_machine_percent = pt_finding_number(finding, metrics, "resource.memory_pressure_percent.mean");
    if (pt_finding_number(finding, metrics, "faults.major.calls") < FEWEST_FETCHED)
        return false;
    if (!isnan(of_group_percent))
        return of_group_percent >= 5;
    /* Kernels without pressure stall information: memory is full, and pages come from storage again. */
    if (isnan(of_machine_percent))
        return pt_finding_number(finding, metrics, "resource.machine_memory_percent.max") >= 95 &&
               pt_finding_number(finding, metrics, "faults.major.calls") >= 1000;
    return of_machine_percent >= 5 && has_part_in_pressure(finding, metrics);
}

bool pt_maps_data(const struct pt_profile *profile, const struct pt_finding *finding)
{
    enum { LEAST_BYTES = 4 << 20 }; /* a compiler maps its headers: a megabyte or two */
    return !(pt_finding_number(finding, &profile->metrics, "io.mapped_data.bytes") < LEAST_BYTES);
}

enum { FEWEST_MESSAGES = 10, MESSAGES_OF_TWO_PIECES = 4 };
#define LONG_WAIT_S 1.0

/* Shares of the workers' lives, in percent; seconds of the main process, and of all of their lives. */
struct worker_shares {
    double wait_s, start_s, total_s, lived_s, cpus_percent, wall_percent, feeds, workers, cpus, busy, file, fault, cpu,
        queue, other;
    double at_once, of_loaders; /* of all that live; of them, those of the loaders that are trained from */
};

/* As if the workers had not lived while other programs had the CPUs that they queued for. */
static struct worker_shares without_others(struct worker_shares shares, double others_percent)
{
    const double taken = isnan(shares.queue) || isnan(others_percent) ? 0 : shares.queue * others_percent / 100;
    if (!(taken > 0) || taken >= 100)
        return shares;
    const double scale = 100 / (100 - taken);
    shares.busy = fmax(shares.busy - taken, 0) * scale;
    shares.queue = (shares.queue - taken) * scale;
    shares.cpu *= scale;
    shares.fault *= scale;
    shares.file = fmin(shares.file * scale, 100);
    shares.other = fmin(shares.other * scale, 100);
    return shares;
}

/* A training that validates has a second loader with as many workers, which are idle while it trains: eight that lived
 * were said to have all of eight CPUs, of which they used four. */
static double workers_of_loaders(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    const double at_once = pt_finding_number(finding, metrics, "helpers.workers.at_once");
    const double of_loaders = pt_finding_number(finding, metrics, "training.workers.count") *
                              pt_finding_number(finding, metrics, "training.processes.at_once");
    return of_loaders > 0 ? fmin(at_once, of_loaders) : at_once;
}

/* By the workers; where none of them noted its time, as in a window, by the stage, which was sampled. */
static double cpus_in_use_percent(const struct pt_finding *finding, const struct pt_metrics *metrics, double wall_s)
{
    const double workers_s = pt_finding_number(finding, metrics, "helpers.cpu_s");
    const double cpus = pt_finding_number(finding, metrics, "cpus.usable");
    return isnan(workers_s) ? pt_finding_number(finding, metrics, "cpu.avg_percent") / cpus
                            : 100 * workers_s / (wall_s * cpus);
}

static struct worker_shares shares_of(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct pt_metrics *metrics = &profile->metrics;
    const double wall_s =
        finding->stage < 0 ? 0 : (double)pt_profile_stage_wall_ns(profile, (pt_u32)finding->stage) / 1e9;
    const double wait_s = pt_finding_number(finding, metrics, "helpers.wait_s");
    const struct worker_shares shares = {
        .wait_s = wait_s,
        .start_s = pt_finding_number_or_0(finding, metrics, "helpers.start_s"),
        .total_s = pt_finding_number(finding, metrics, "helpers.total_s"),
        .lived_s = 100 * pt_finding_number(finding, metrics, "helpers.busy_s") /
                   pt_finding_number(finding, metrics, "helpers.busy_percent"),
        .cpus_percent = cpus_in_use_percent(finding, metrics, wall_s),
        .wall_percent = wall_s > 0 ? 100 * wait_s / wall_s : 0,
        .feeds = pt_finding_number(finding, metrics, "helpers.feed.calls"),
        .workers = pt_finding_number(finding, metrics, "helpers.workers.count"),
        .at_once = pt_finding_number(finding, metrics, "helpers.workers.at_once"),
        .of_loaders = workers_of_loaders(finding, metrics),
        .cpus = pt_finding_number(finding, metrics, "cpus.usable"),
        .busy = pt_finding_number(finding, metrics, "helpers.busy_percent"),
        .file = pt_finding_number(finding, metrics, "helpers.file_percent"),
        /* Pages of mapped files, the program's own code among them, come from the same disks; those of swap do not. */
        .fault = pt_reads_its_pages_again(profile, finding)
                     ? 0
                     : pt_finding_number_or_0(finding, metrics, "helpers.fault_percent"),
        .cpu = pt_finding_number(finding, metrics, "helpers.cpu_percent"),
        .queue = pt_finding_number(finding, metrics, "helpers.queue_percent"),
        .other = pt_finding_number(finding, metrics, "helpers.other_percent"),
    };
    return without_others(shares, pt_finding_number(finding, metrics, "queue.others_percent"));
}

/* Many pieces of work come from them; or few, which take long: each is two messages, its length and itself. */
static bool feed_the_main_process(const struct worker_shares *shares)
{
    return shares->feeds >= FEWEST_MESSAGES ||
           (shares->wait_s >= LONG_WAIT_S && shares->feeds >= MESSAGES_OF_TWO_PIECES * shares->workers);
}

/* Of a loader: 20 shards on 8 workers leave four of these idle for a third of each epoch, but all of them compute until
 * then, and that is what the training waits for. Where a program divides its work itself, nobody else knows how. */
static bool costs_most_of_the_waits(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    return !(pt_finding_number(finding, metrics, "training.workers.count") > 0) ||
           pt_finding_number(finding, metrics, "helpers.imbalance.cost_s") >=
               pt_finding_number(finding, metrics, "helpers.wait_s") / 2;
}

/* More workers, or faster ones, are of no use while most of them wait for work and the main process for one, or have
 * ended. */
static bool are_uneven(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct pt_metrics *metrics = &profile->metrics;
    if (pt_finding_number(finding, metrics, "helpers.imbalance.ended_before_s") > 0 && /* long before */
        costs_most_of_the_waits(finding, metrics))
        return true;
    return pt_finding_number(finding, metrics, "helpers.imbalance.busy_percent") >= 70 &&
           pt_finding_number(finding, metrics, "helpers.imbalance.others_s") <=
               pt_finding_number(finding, metrics, "helpers.imbalance.most_s") / 3;
}

/* What they do while they start is CPU time, too. */
enum { MUCH_MORE = 5 };

/* They live, but neither compute nor wait for anything outside: they start, queue for a CPU, and end; or they are
 * ahead of the main process and wait for work: then what starting them took is little beside what they have done. */
static bool cost_more_than_they_do(const struct worker_shares *shares)
{
    const double does_percent = shares->cpu + shares->file + shares->fault + shares->other;
    return shares->at_once > 2 * shares->cpus && does_percent < 50 &&
           !(MUCH_MORE * shares->total_s <= shares->lived_s * does_percent / 100);
}

/* In calls about files and in faults, but on no CPU: what is in memory already is copied, and its disk is idle. */
static double disk_of(const struct worker_shares *shares)
{
    const double queue = isnan(shares->queue) ? 0 : shares->queue;
    const double asleep = fmax(shares->busy - shares->cpu - queue, 0);
    return isnan(shares->cpu) ? shares->file + shares->fault : fmin(shares->file + shares->fault, asleep);
}

/* As many as there are CPUs; or fewer, whose threads have all of these: OpenCV's, those of rayon. */
static bool have_no_cpu_left(const struct worker_shares *shares)
{
    enum { NEARLY_ALL_PERCENT = 80 };
    return !(shares->of_loaders < shares->cpus) || shares->cpus_percent >= NEARLY_ALL_PERCENT;
}

enum pt_worker_complaint pt_worker_complaint(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct worker_shares shares = shares_of(profile, finding);
    if (!feed_the_main_process(&shares))
        return PT_WORKERS_FINE;
    if (cost_more_than_they_do(&shares))
        return PT_WORKERS_TOO_MANY;
    if (!(shares.wall_percent >= 5))
        return PT_WORKERS_FINE;
    if (shares.start_s >= shares.wait_s / 2)
        return PT_WORKERS_START;
    if (are_uneven(profile, finding))
        return PT_WORKERS_UNEVEN;
    if (!(shares.busy >= 50))
        return PT_WORKERS_FINE;
    const double disk = disk_of(&shares);
    if (disk >= shares.busy / 2)
        return PT_WORKERS_WAIT_FOR_FILES;
    /* What is neither is computing, or waiting for a CPU to compute; unless it is known that most of it is not. */
    if (disk + shares.other < shares.busy / 2 && have_no_cpu_left(&shares) &&
        !(shares.cpu + shares.queue < (shares.busy - disk - shares.other) / 2))
        return PT_WORKERS_COMPUTE;
    return PT_WORKERS_TOO_FEW;
}

/* As above: workers of which there are as many as CPUs are too few only where they wait, for whatever it is. */
struct pt_worker_waits pt_worker_waits(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct worker_shares shares = shares_of(profile, finding);
    const double known = disk_of(&shares) + shares.other, beside_cpu = shares.busy - shares.cpu - shares.queue;
    const double waits = shares.of_loaders < shares.cpus ? known : fmax(known, beside_cpu);
    if (!(shares.busy >= 50)) /* they wait for work */
        return (struct pt_worker_waits){NAN, NAN};
    return (struct pt_worker_waits){.other_percent = 100 * shares.other / shares.busy,
                                    .all_percent = 100 * waits / shares.busy};
}

/* Who only calls a model has no steps that would be counted: the processes that have workers. */
static double loaders_at_once(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    const double trainings = pt_finding_number(finding, metrics, "training.processes.at_once");
    const double of_one = pt_finding_number(finding, metrics, "helpers.workers.of_one_process");
    const double have_workers = round(pt_finding_number(finding, metrics, "helpers.workers.at_once") / of_one);
    return fmax(isnan(trainings) ? have_workers : trainings, 1);
}

double pt_workers_of_loader(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct pt_metrics *metrics = &profile->metrics;
    const double of_loader = pt_finding_number(finding, metrics, "training.workers.count");
    const double at_once = pt_finding_number(finding, metrics, "helpers.workers.at_once");
    const double loaders = loaders_at_once(finding, metrics);
    if (of_loader > 0)
        return of_loader;
    return at_once < loaders
               ? pt_finding_number(finding, metrics, "helpers.workers.of_one_process") /* not each loads */
               : floor(at_once / loaders);
}

/* Of a training; or, who only calls a model, of the process that waited longest: others may wait beside it. */
double pt_times_as_fast(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct pt_metrics *metrics = &profile->metrics;
    const double trains_s = pt_finding_number(finding, metrics, "training.total_s");
    const double waits_s = pt_finding_number(finding, metrics, "helpers.of_one_process.wait_s");
    const double lived_s = pt_finding_number(finding, metrics, "helpers.of_one_process.lived_s");
    const double all_s = isnan(trains_s) ? fmin(pt_own_wall_s(profile, finding), lived_s) : trains_s;
    const double data_s = isnan(trains_s) ? waits_s : pt_finding_number(finding, metrics, "training.data_s");
    return all_s > data_s ? all_s / (all_s - data_s) : NAN;
}

struct pt_workers_needed pt_waiting_workers_needed(const struct pt_profile *profile, const struct pt_finding *finding)
{
    enum { MOSTLY_PERCENT = 50, FEWEST_TIMES = 2, MOST_TIMES = 8 };
    const struct pt_metrics *metrics = &profile->metrics;
    const double times = pt_times_as_fast(profile, finding);
    if (!(pt_worker_waits(profile, finding).all_percent >= MOSTLY_PERCENT))
        return (struct pt_workers_needed){NAN, NAN};
    const double more = isnan(times) ? MOST_TIMES : fmin(fmax(times, FEWEST_TIMES), MOST_TIMES);
    return (struct pt_workers_needed){.of_loader = ceil(pt_workers_of_loader(profile, finding) * more),
                                      .in_all = ceil(workers_of_loaders(finding, metrics) * more)};
}

double pt_cpus_of_loader(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const double cpus = pt_finding_number(finding, &profile->metrics, "cpus.usable");
    return isnan(cpus) ? NAN : fmax(floor(cpus / loaders_at_once(finding, &profile->metrics)), 1);
}

double pt_looking_for_work_s(const struct pt_profile *profile, const struct pt_finding *finding)
{
    return pt_finding_number_or_0(finding, &profile->metrics, "cpu.spinning_s") +
           pt_finding_number_or_0(finding, &profile->metrics, "cpu.yielding_s");
}

/* From a GPU's first work to its last that is in the trace; 0 = none is. */
static double gpu_window_s(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct pt_table *devices = pt_view_table(&profile->metrics, (pt_u32)finding->stage, PT_VIEW_gpu_devices);
    double window_s = 0;
    for (size_t row = 0; devices && row < devices->n_rows; row++)
        window_s = fmax(window_s, pt_table_number(devices, row, "window_s"));
    return window_s;
}

/* Of a run of hours the ring holds the GPU's work of the last minutes: how idle it was before, nobody knows. */
static double gpu_unwatched_s(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const double window_s = gpu_window_s(profile, finding);
    const double training_s = pt_finding_number(finding, &profile->metrics, "training.window_s");
    const double of_s =
        training_s > 0 ? training_s : (double)pt_profile_stage_wall_ns(profile, (pt_u32)finding->stage) / 1e9;
    return window_s > 0 ? fmax(of_s - window_s, 0) : 0;
}

/* Loading of 30 ms beside 90 ms of kernels a step was told to save a third of a training whose GPU was busy for 98 %.
 */
void pt_bound_by_idle_gpu(const struct pt_profile *profile, double inside_s, struct pt_finding *finding)
{
    const double idle_s = pt_finding_number(finding, &profile->metrics, "gpu.gaps.all_s") +
                          pt_finding_number_or_0(finding, &profile->metrics, "gpu.not_seen_s") +
                          gpu_unwatched_s(profile, finding);
    const double outside_s = fmax(finding->gain_upper_s - inside_s, 0);
    finding->gain_upper_s = fmin(finding->gain_upper_s, outside_s + idle_s); /* NAN: no GPU */
}

double pt_gpu_busy_percent(const struct pt_profile *profile, const struct pt_finding *finding, double of_s)
{
    return of_s - gpu_window_s(profile, finding) < finding->time_s / 2
               ? pt_finding_number(finding, &profile->metrics, "gpu.gaps.busy_percent")
               : NAN;
}

double pt_stretch_of(const struct pt_profile *profile, const struct pt_finding *finding)
{
    /* What has no place in the code was timed by phases, from beginning to end, its queueing included. */
    const bool is_timed_as_a_whole = finding->is_wait || finding->place_kind == PT_PLACE_NOWHERE;
    const double stretch =
        finding->stage >= 0 && finding->part < PT_PART__COUNT && !is_timed_as_a_whole
            ? pt_stage_number(profile, (pt_u32)finding->stage, pt_time_parts[finding->part].stretch_metric)
            : NAN;
    return stretch > 1 ? stretch : 1;
}

bool pt_steps_wait_for_data(const struct pt_profile *profile, const struct pt_finding *finding)
{
    enum { LEAST_PERCENT = 20 };
    return pt_finding_number(finding, &profile->metrics, "training.waits_percent") >= LEAST_PERCENT;
}

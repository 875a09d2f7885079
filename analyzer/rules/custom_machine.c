/* SPDX-License-Identifier: MIT
 *
 * Owns: the rules about memory, pages and disks that the machine had too little of, CPUs that it had no more of, and
 * the thresholds of the configuration. Threads: one. Never: sees an event.
 */
#include <math.h>

#include "conditions.h"
#include "custom.h"
#include "lines/growing.h"
#include "model/window.h"
#include "pickling.h"
#include "util/whole.h"

/* Of all bytes: a remedy for the rest would show next to nothing. */
#define MOST_GROWING 0.8
#define MIB (1024.0 * 1024.0)
#define GIB (1024.0 * MIB)
/* A disk under random reads of single pages, or a file server far away, gives this much at least. */
#define LEAST_BYTES_PER_S 1e5

/* Programs touch their memory at least once, and a training its activations a few times more. */
static bool maps_again(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    return !(pt_finding_number(finding, metrics, "faults.minor.calls") * 4096 <
             3 * pt_finding_number(finding, metrics, "rss.max_bytes"));
}

/* What page faults are for: shares of all of them. */
struct faults {
    double of_malloc; /* large blocks that malloc gave back and takes again */
    double of_python; /* arenas of Python's objects, which come and go with these */
};

static struct faults faults_of(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    const double all_bytes = 4096 * pt_finding_number_or_0(finding, metrics, "faults.minor.calls");
    if (!(all_bytes > 0))
        return (struct faults){0};
    const double of_python = fmin(1, pt_finding_number_or_0(finding, metrics, "heap.arenas.bytes") / all_bytes);
    /* Where most of the bytes are in blocks above the largest threshold, the remedy is one for these, too. */
    const bool are_huge = pt_finding_number(finding, metrics, "heap.huge.percent") >= 50;
    const double again_bytes = pt_finding_number_or_0(finding, metrics, "heap.remapped_large.bytes") +
                               (are_huge ? pt_finding_number_or_0(finding, metrics, "heap.remapped_huge.bytes") : 0);
    return (struct faults){fmin(1 - of_python, again_bytes / all_bytes), of_python};
}

/* Those of objects that go between processes have a finding of their own. */
static double share_beside_pickling(const struct pt_profile *profile, pt_i64 stage)
{
    return 1 - pt_pickling_of(profile, stage).fault_percent / 100;
}

/* What several threads do at once is saved once: as much as the critical one does. But the others keep it waiting, as
 * they map pages of the same address space, and give it back cold memory. Of five trainings on two threads each of
 * which brings 1.0 to 2.5 s, this is 0.8 to 1.6 times the gain. */
#define OF_OTHERS 0.25

/* Enough to matter for the time of the stage, and of its processes together. */
static bool maps_much(const struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding, double share)
{
    const struct pt_metrics *metrics = &profile->metrics;
    const double own_share = share_beside_pickling(profile, stage) * share;
    const double cost_s = own_share * pt_finding_number(finding, metrics, "faults.cost_s");
    const double main_s = own_share * pt_finding_number(finding, metrics, "faults.main.cost_s");
    const double stretch = pt_finding_number(finding, metrics, "queue.stretch.native");
    const double took_s = isnan(stretch) ? cost_s : cost_s * stretch;
    finding->gain_upper_s = isnan(main_s) ? cost_s : main_s + OF_OTHERS * fmax(cost_s - main_s, 0);
    return stage >= 0 && took_s * 1e9 >= 0.1 * (double)pt_profile_stage_wall_ns(profile, (pt_u32)stage) &&
           !(cost_s < 0.1 * pt_finding_number(finding, metrics, "cpu.total_s")) && maps_again(finding, metrics);
}

/* Who forks a process for each request maps what that one touches, a few megabytes, once: no buffer is there to be
 * kept. */
#define MANY_PROCESSES 20
#define FEWEST_FAULTS_OF_EACH 2048

static bool are_of_starts(const struct pt_profile *profile, pt_i64 stage, const struct pt_finding *finding)
{
    const pt_u32 n = profile->stages.items[stage].n_processes; /* of its whole life: of a window nobody knows */
    return n >= MANY_PROCESSES && !pt_session_is_window(profile->session) &&
           pt_finding_number_or_0(finding, &profile->metrics, "faults.minor.calls") < (double)FEWEST_FAULTS_OF_EACH * n;
}

bool pt_rule_page_fault_storm(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct faults faults = faults_of(finding, metrics);
    if (faults.of_malloc > 0.5 || !maps_much(profile, stage, finding, 1 - faults.of_malloc - faults.of_python) ||
        pt_reads_its_pages_again(profile, finding) || are_of_starts(profile, stage, finding))
        return false;
    pt_finding_add_metrics(
        finding, metrics,
        "page_faults:faults.minor.calls major_faults:faults.major.calls rate_per_s:faults.rate_per_s "
        "rss_max_bytes:rss.max_bytes");
    pt_finding_add_rows(finding, metrics, "cpu.functions", "self_s"); /* the kernel's work counts to its caller */
    return true;
}

/* What is larger each time does not fit where the last one was. */
static bool is_of_growing(const struct pt_profile *profile, pt_i64 stage)
{
    double all_bytes = 0;
    for (size_t i = 0; i < profile->stacks.n; i++)
        all_bytes += (pt_i64)profile->stacks.items[i].stage == stage
                         ? profile->stacks.items[i].cost[PT_STACK_ALLOCATED_BYTES]
                         : 0;
    return all_bytes > 0 && pt_growing_bytes(profile, stage) >= MOST_GROWING * all_bytes;
}

bool pt_rule_large_blocks_remapped(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct faults faults = faults_of(finding, metrics);
    /* Where memory is short, what malloc keeps would be missing elsewhere. */
    if (!maps_much(profile, stage, finding, faults.of_malloc) || is_of_growing(profile, stage) ||
        pt_reads_its_pages_again(profile, finding))
        return false;
    /* What is not given back need not be taken again either. */
    finding->gain_upper_s +=
        share_beside_pickling(profile, stage) * pt_finding_number_or_0(finding, metrics, "cpu.main_mapping_s");
    pt_finding_add_metrics(finding, metrics, "page_faults:faults.minor.calls");
    pt_finding_add_evidence(finding, "saved_page_faults",
                            pt_integer(pt_whole(share_beside_pickling(profile, stage) * faults.of_malloc *
                                                pt_finding_number(finding, metrics, "faults.minor.calls"))));
    pt_finding_add_metrics(
        finding, metrics,
        "rate_per_s:faults.rate_per_s large_blocks_bytes:heap.large.bytes rss_max_bytes:rss.max_bytes");
    pt_finding_add_rows(finding, metrics, "heap.sites", "bytes");
    return true;
}

/* A read that was interrupted by another program took long, too: then next to nothing came from the device. */
static bool came_from_the_device(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    const double device_bytes = pt_finding_number(finding, metrics, "resource.disk_read_bytes.last");
    return isnan(device_bytes) ||
           device_bytes >= 0.1 * pt_finding_number(finding, metrics, "storage.slow_read.bytes") ||
           /* not a disk, but files of a network or of a program in user space */
           pt_finding_number(finding, metrics, "storage.slow_read.total_s") >=
               0.8 * pt_finding_number(finding, metrics, "io.read.wait_s");
}

bool pt_rule_slow_device(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    finding->is_wait = true;
    (void)stage;
    if (!(pt_finding_number(finding, metrics, "storage.slow_read.cost_s") >= 0.5) ||
        !came_from_the_device(finding, metrics))
        return false;
    finding->gain_upper_s = pt_finding_number(finding, metrics, "storage.slow_read.cost_s");
    /* Nearly the same complaint: the one about the workers says more. */
    if (pt_worker_complaint(profile, finding) == PT_WORKERS_WAIT_FOR_FILES)
        finding->gain_upper_s =
            fmin(finding->gain_upper_s, 0.97 * pt_finding_number(finding, metrics, "helpers.wait_s"));
    pt_finding_add_metrics(finding, metrics,
                           "slow_read_calls:storage.slow_read.calls slow_read_bytes:storage.slow_read.bytes "
                           "rate_bytes_per_s:storage.slow_read.rate.bytes_per_s mean_s:storage.slow_read.mean_s "
                           "device_read_bytes:resource.disk_read_bytes.last");
    pt_finding_add_rows(finding, metrics, "storage.files", "slow_read_s");
    return true;
}

/* Pressure is the whole machine's: a stage that moves almost no data does not contribute to it. */
static bool uses_the_disks(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    return !(pt_finding_number(finding, metrics, "storage.device.bytes") < 16.0 * 1024 * 1024);
}

/* What nearer findings say about waits for the disks: those for workers that wait for them, or those in the stage's own
 * calls; and for pages of mapped files, which are no call. */
static double known_disk_waits_s(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct pt_metrics *metrics = &profile->metrics;
    const double in_workers_s = pt_worker_complaint(profile, finding) == PT_WORKERS_WAIT_FOR_FILES
                                    ? pt_finding_number_or_0(finding, metrics, "helpers.wait_s")
                                    : 0;
    const double in_reads_s = pt_finding_number_or_0(finding, metrics, "storage.slow_read.cost_s");
    return fmax(in_workers_s, in_reads_s) + pt_finding_number_or_0(finding, metrics, "storage.sync.cost_s") +
           pt_finding_number_or_0(finding, metrics, "pressure.memory.cost_s") +
           pt_finding_number_or_0(finding, metrics, "time.page_fault_s");
}

/* Of the whole machine: shown where nothing nearer says which files are waited for. */
bool pt_rule_io_pressure(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    finding->is_wait = true;
    const double pressure_percent = pt_finding_number(finding, metrics, "resource.io_pressure_percent.mean");
    const double busy_percent = pt_finding_number(finding, metrics, "resource.disk_busy_percent.mean");
    /* Kernels without pressure stall information: no process waits for a disk longer than the disk is busy. */
    const double wall_s = stage < 0 ? 0 : (double)pt_profile_stage_wall_ns(profile, (pt_u32)stage) / 1e9;
    const double cost_s = isnan(pressure_percent) ? busy_percent / 100 * wall_s
                                                  : pt_finding_number(finding, metrics, "pressure.io.cost_s");
    /* If the time of waits for pages is unknown, a large number of them explains it, too. */
    const bool are_pages = isnan(pt_finding_number(finding, metrics, "time.page_fault_s")) &&
                           pt_finding_number(finding, metrics, "faults.major.calls") > 500;
    if (!(isnan(pressure_percent) ? busy_percent > 50 : pressure_percent > 20) ||
        known_disk_waits_s(profile, finding) > cost_s / 2 || are_pages || !uses_the_disks(finding, metrics))
        return false;
    finding->gain_upper_s = cost_s;
    pt_finding_add_metrics(finding, metrics,
                           "io_pressure_percent:resource.io_pressure_percent.mean "
                           "disk_busy_percent:resource.disk_busy_percent.mean "
                           "disk_read_bytes:resource.disk_read_bytes.last "
                           "disk_write_bytes:resource.disk_write_bytes.last");
    pt_finding_add_rows(finding, metrics, "io.files", "total_s");
    return true;
}

/* The kernel's own work for missing pages, those that are new, too: for each another one has to be thrown out. On a
 * busy machine the CPU for it had to be waited for. */
static double fault_work_s(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    const double work_s = pt_finding_number_or_0(finding, metrics, "cpu.main_fault_s");
    const double on_s = pt_finding_number_or_0(finding, metrics, "cpu.main_on_s");
    const double queued_s = pt_finding_number_or_0(finding, metrics, "time.runnable_s");
    return work_s + (on_s > 0 ? queued_s * work_s / on_s : 0);
}

bool pt_rule_swapping(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    (void)stage;
    if (!pt_reads_its_pages_again(profile, finding))
        return false;
    /* Waiting for pages, and mapping them and making room for them; the kernel's pressure is some of both. */
    const double waited_s = pt_finding_number(finding, metrics, "time.page_fault_s");
    const double pressure_s = pt_finding_number(finding, metrics, "pressure.memory.cost_s");
    /* Nothing but the whole machine's pressure. */
    if (isnan(pt_finding_number(finding, metrics, "resource.group_memory_pressure_percent.mean")) &&
        isnan(pt_finding_number(finding, metrics, "resource.group_refaults.last")) && isnan(waited_s))
        finding->confidence = PT_CONFIDENCE_LOW;
    finding->gain_upper_s = isnan(pressure_s) && isnan(waited_s)
                                ? pt_finding_number(finding, metrics, "faults.cost_s")
                                : fmax(isnan(pressure_s) ? 0 : pressure_s, fault_work_s(finding, metrics)) +
                                      (isnan(waited_s) ? 0 : waited_s);
    pt_finding_add_metrics(finding, metrics,
                           "memory_pressure_percent:resource.memory_pressure_percent.mean "
                           "group_pressure_percent:resource.group_memory_pressure_percent.mean "
                           "group_refaults:resource.group_refaults.last "
                           "memory_max_percent:resource.machine_memory_percent.max "
                           "major_faults:resource.major_faults.last page_fault_wait_s:time.page_fault_s "
                           "page_fault_cpu_s:cpu.main_fault_s rss_max_bytes:rss.max_bytes");
    return true;
}

/* Pages without a file, or evicted again for lack of memory, belong to the finding about swapping, where reading
 * ahead harms. */
bool pt_rule_cold_mapping(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    (void)stage;
    /* A slow device needs few of them; and who waits for a device that long gets data from it, else it was stopped. */
    const double waited_s = pt_finding_number(finding, metrics, "time.page_fault_s");
    const bool is_slow = waited_s >= 0.5 && !(pt_finding_number(finding, metrics, "resource.disk_read_bytes.last") <
                                              LEAST_BYTES_PER_S * waited_s);
    if (!(pt_finding_number(finding, metrics, "fault.major.calls") >= 100 || is_slow) ||
        pt_reads_its_pages_again(profile, finding) || !pt_maps_data(profile, finding))
        return false;
    finding->gain_upper_s = waited_s;
    pt_finding_add_metrics(finding, metrics,
                           "major_fault_calls:fault.major.calls waited_by_all_s:fault.wait_s where:place");
    pt_finding_add_rows(finding, metrics, "mapped_files", "bytes");
    return true;
}

/* ---- not in seconds: what would be gained is not known ---- */

#define MOST_USED 95.0
#define HALF_PERCENT 50

static bool is_above(struct pt_profile *profile, struct pt_finding *finding, const char *metric, double least,
                     const char *evidence)
{
    if (!(pt_finding_number(finding, &profile->metrics, metric) > least))
        return false;
    finding->always_shown = true;
    pt_finding_add_metrics(finding, &profile->metrics, evidence);
    return true;
}

/* Nothing is wrong with that: it says where the limit is. A thread of a BLAS that looks for work keeps a CPU, but does
 * none: it was told that only more CPUs help a search on one thread. */
bool pt_rule_cpu_saturated(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    finding->is_observation = true;
    finding->time_s = stage < 0 ? 0 : (double)pt_profile_stage_wall_ns(profile, (pt_u32)stage) / 1e9;
    const double on_s = pt_finding_number(finding, &profile->metrics, "cpu.total_s");
    const double works = on_s > 0 ? 1 - pt_looking_for_work_s(profile, finding) / on_s : 1;
    return is_above(profile, finding, "cpu.used_percent", MOST_USED / fmax(works, MOST_USED / 100),
                    "cpu_percent:cpu.used_percent cpu_s:cpu.total_s cpus:cpus.usable");
}

static bool is_mostly_shared(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    return pt_finding_number(finding, metrics, "resource.processes.max") > 1 &&
           pt_finding_number(finding, metrics, "resource.pss_bytes.max") < 8 * GIB; /* it is looked at less often */
}

bool pt_rule_high_memory(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    /* Resident memory counts what processes share in each of them: workers that map one data set, or were forked. And
     * pages of mapped files, which the kernel takes away when it needs memory, as it does those of files that are read.
     */
    const double mapped_bytes = pt_finding_number_or_0(finding, &profile->metrics, "io.mapped_data.distinct.bytes");
    /* Eight ranks with 3 GB each are nothing to fix on a machine of 1 TB. */
    if (pt_finding_number(finding, &profile->metrics, "resource.machine_memory_percent.max") < HALF_PERCENT) {
        finding->is_observation = true;
        finding->title = "The stage needs more than 16,000 MiB of memory, less than half of what there is";
        finding->remedy = "nothing: there is room; smaller batches or fewer workers only if others need it";
    }
    return !is_mostly_shared(finding, &profile->metrics) &&
           is_above(profile, finding, "rss.max_bytes", 16000 * MIB + mapped_bytes,
                    "rss_max_bytes:rss.max_bytes pss_max_bytes:resource.pss_bytes.max "
                    "processes:resource.processes.max");
}

bool pt_rule_memory_near_limit(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    return is_above(profile, finding, "resource.machine_memory_percent.max", 90,
                    "memory_max_percent:resource.machine_memory_percent.max rss_max_bytes:rss.max_bytes "
                    "processes:resource.processes.max");
}

/* ---- thresholds of the configuration ---- */

static bool stayed_above(struct pt_profile *profile, struct pt_finding *finding, const char *above_s,
                         const char *evidence)
{
    struct pt_metrics *metrics = &profile->metrics;
    const double longest_s = pt_finding_number(finding, metrics, above_s);
    if (isnan(longest_s))
        return false;
    finding->always_shown = true;
    pt_finding_add_evidence(finding, "longest_above_s", pt_real(longest_s));
    pt_finding_add_metrics(finding, metrics, evidence);
    return true;
}

bool pt_rule_cpu_above_threshold(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    return stayed_above(profile, finding, "alert.cpu.above_s",
                        "threshold_percent:alert.cpu.threshold_percent mean_percent:resource.machine_cpu_percent.mean "
                        "max_percent:resource.machine_cpu_percent.max");
}

bool pt_rule_memory_above_threshold(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    return stayed_above(
        profile, finding, "alert.memory.above_s",
        "threshold_percent:alert.memory.threshold_percent mean_percent:resource.machine_memory_percent.mean "
        "max_percent:resource.machine_memory_percent.max");
}

/* Growth that is not steady is no leak; who set a limit wants to know it all the same. */
bool pt_rule_memory_growth_above_threshold(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    struct pt_metrics *metrics = &profile->metrics;
    if (!(pt_finding_number(finding, metrics, "heap.growth.bytes") >=
          pt_finding_number(finding, metrics, "alert.growth.limit_bytes")))
        return false;
    finding->always_shown = true;
    pt_finding_add_metrics(finding, metrics,
                           "growth_bytes:heap.growth.bytes growth_limit_bytes:alert.growth.limit_bytes");
    pt_finding_add_rows(finding, metrics, "heap.sites", "live_peak_bytes");
    return true;
}

bool pt_rule_disk_above_threshold(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    return stayed_above(profile, finding, "alert.disk.above_s",
                        "threshold_percent:alert.disk.threshold_percent mean_percent:resource.disk_busy_percent.mean "
                        "max_percent:resource.disk_busy_percent.max");
}

/* SPDX-License-Identifier: MIT
 *
 * What the machine had too little of, in seconds of the stage: CPUs for its threads, quota, memory pages, GPU work.
 * From the launcher's samples.
 *
 * Threads: one. State: none. Never: a cost above the stage's wall time, nor one without a sample.
 */
#include "derive.h"

#include <math.h>

#include "model/window.h"

/* Of one page fault: the trap, a page that is cleared and mapped, and its way back; measured on virtual machines, where
 * it is dearest. Of one machine it was 5.3 us at times. */
#define MINOR_FAULT_S 2.5e-6
/* Where the kernel was sampled, what it did for pages is known: that, and unmapping them. Nothing is slower than this.
 */
#define MOST_OF_SAMPLES 1.15
#define SLOWEST_MINOR_FAULT_S 1e-5
#define LEAST_SAMPLED_S 0.03
/* Of one page read from storage: an SSD needs a tenth of a millisecond, a disk or a network ten. */
#define MAJOR_FAULT_S 1e-3
#define SLOWEST_MAJOR_FAULT_S 1e-2
/* The faults of starting any process, and of tracing it: without subtracting them, a run of many short commands
 * would get a finding about its memory. Measured with /bin/true under glibc 2.36: 51 minor faults and no major one
 * without the library, 77 and one (its trace file is touched first) with it; with room for larger tables and a
 * second file. */
#define PROCESS_MINOR_FAULTS 96
#define PROCESS_MAJOR_FAULTS 2
/* Of the trace, as the kernel counts it towards storage; measured: 29.6 kB for each /bin/true. */
#define PROCESS_TRACE_BYTES 32768.0
#define EVENT_BYTES 64.0

static const char not_sampled[] = "was not sampled";

/* Unknown stays unknown, which fmin would hide. */
static double at_most(double most, double value)
{
    return value > most ? most : value;
}

static void set_cpus(struct pt_profile *profile, pt_u32 stage, double wall_s)
{
    const double machine_cpus = profile->run ? profile->run->cpus : NAN, cpus = pt_profile_usable_cpus(profile);
    /* Threads that end between two looks take their count with them; the kernel's records of switches have them all,
     * but not what a thread queues after it was woken. */
    const double run_queue_s = fmax(pt_stage_number(profile, stage, "resource.run_queue_s.last"),
                                    pt_stage_number(profile, stage, "cpu.queued_s"));
    /* Threads that compute are counted in one process, all threads in all. */
    const double threads_per_process = fmax(pt_stage_number(profile, stage, "resource.threads.max") /
                                                pt_stage_number(profile, stage, "resource.processes.max"),
                                            pt_stage_number(profile, stage, "cpu.computing_threads"));
    const double cpu_s = pt_stage_number(profile, stage, "cpu.total_s");
    pt_stage_set_number(profile, stage, "machine.cpus", machine_cpus, not_sampled);
    pt_stage_set_number(profile, stage, "cpus.usable", cpus, not_sampled);
    pt_stage_set_number(profile, stage, "cpu.run_queue_s", run_queue_s, not_sampled);
    /* At an instant at which threads queue, work is done on every CPU: what queues is not lost, but the switches and
     * the spinning at barriers are. The time in which there was a queue bounds both. */
    /* Of all that only what it would have queued without other programs. */
    const double own_queue_s = run_queue_s * (1 - pt_stage_number_or_0(profile, stage, "queue.others_percent") / 100);
    pt_stage_set_number(profile, stage, "cpu.oversubscribed.cost_s", at_most(wall_s, own_queue_s / cpus), not_sampled);
    pt_stage_set_number(profile, stage, "cpu.oversubscribed.at_once", wall_s > 0 ? (run_queue_s + cpu_s) / wall_s : NAN,
                        not_sampled);
    pt_stage_set_number(profile, stage, "cpu.oversubscribed.threads_per_process", threads_per_process, not_sampled);
    pt_stage_set_number(profile, stage, "cpu.oversubscribed.queue_share", cpu_s > 0 ? own_queue_s / cpu_s : NAN,
                        not_sampled);
    pt_stage_set_number(profile, stage, "cpu.used_percent", cpu_s > 0 && wall_s > 0 ? 100 * cpu_s / wall_s / cpus : NAN,
                        not_sampled);
    /* A group that may run again queues once more before it does. */
    const double throttled_s = pt_stage_number(profile, stage, "resource.cpu_throttled_s.last");
    const double queued_s = isnan(run_queue_s) ? 0 : at_most(throttled_s / 4, run_queue_s);
    /* What it computed it would have computed anyway, on all CPUs at best. */
    const double most_s = isnan(cpu_s) || isnan(machine_cpus) ? wall_s : fmax(wall_s - cpu_s / machine_cpus, 0);
    pt_stage_set_number(profile, stage, "cpu.throttled.cost_s", at_most(most_s, throttled_s + queued_s), not_sampled);
}

/* Of the stage; of a window those that started in it. */
static double processes_started(const struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_session *session = profile->session;
    pt_u32 n = 0;
    if (!pt_session_is_window(session))
        return profile->stages.items[stage].n_processes;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        n += pt_profile_stage_of(profile, session->processes[i]) == stage &&
             session->processes[i]->start_ns > session->window_from_ns;
    return n;
}

/* Without those of starting and tracing the stage's processes. */
static double own_faults(const struct pt_profile *profile, pt_u32 stage, const char *metric, double of_a_process)
{
    const double faults = pt_stage_number(profile, stage, metric) - of_a_process * processes_started(profile, stage);
    return faults < 0 ? 0 : faults;
}

/* Mapping a page is work of the kernel: CPU time of the stage, of which samples have a part. */
static double minor_faults_s(const struct pt_profile *profile, pt_u32 stage, double wall_s, double faults,
                             const char *sampled_metric)
{
    const double cpu_s = pt_stage_number(profile, stage, "cpu.total_s");
    const double sampled_s = MOST_OF_SAMPLES * pt_stage_number(profile, stage, sampled_metric) + LEAST_SAMPLED_S;
    const double each_s = isnan(sampled_s) ? MINOR_FAULT_S : SLOWEST_MINOR_FAULT_S;
    const double most_s = at_most(isnan(cpu_s) ? wall_s : cpu_s, faults * each_s);
    return isnan(sampled_s) ? most_s : at_most(sampled_s, most_s);
}

static void set_faults(struct pt_profile *profile, pt_u32 stage, double wall_s)
{
    const double minor = own_faults(profile, stage, "resource.minor_faults.last", PROCESS_MINOR_FAULTS);
    const double major = own_faults(profile, stage, "resource.major_faults.last", PROCESS_MAJOR_FAULTS);
    /* Whoever waits for a page is counted by the kernel's pressure, which bounds what the pages took. */
    const double pressure_percent = pt_stage_number(profile, stage, "resource.io_pressure_percent.mean") +
                                    pt_stage_number(profile, stage, "resource.memory_pressure_percent.mean");
    const double major_s = isnan(pressure_percent)
                               ? major * MAJOR_FAULT_S
                               : at_most(pressure_percent / 100 * wall_s, major * SLOWEST_MAJOR_FAULT_S);
    const double cost_s = minor_faults_s(profile, stage, wall_s, minor, "cpu.fault_s") + major_s;
    const double main_s = minor_faults_s(profile, stage, wall_s, minor, "cpu.main_fault_s") + major_s;
    pt_stage_set_number(profile, stage, "faults.minor.calls", minor, not_sampled);
    pt_stage_set_number(profile, stage, "faults.major.calls", major, not_sampled);
    pt_stage_set_number(profile, stage, "faults.rate_per_s", wall_s > 0 ? (minor + major) / wall_s : NAN, not_sampled);
    pt_stage_set_number(profile, stage, "faults.cost_s", at_most(wall_s, cost_s), not_sampled);
    pt_stage_set_number(profile, stage, "faults.main.cost_s", at_most(wall_s, main_s), not_sampled);
}

/* What of the stage's time can have been spent waiting for disks: not that on a CPU or queueing for one, nor that in
 * waits for something else. While other processes are waited for, these may wait for disks, but not while they compute.
 */
static double may_wait_for_disks_s(const struct pt_profile *profile, pt_u32 stage, double wall_s)
{
    static const char *const elsewhere[] = {"time.gpu_wait_s", "time.network_s", "time.lock_s",
                                            "time.gil_wait_s", "time.sleep_s",   "time.runnable_s"};
    double elsewhere_s = 0;
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        elsewhere_s += pt_stage_number_or_0(profile, stage, elsewhere[i]);
    /* The account's parts leave out the CPU time within calls. */
    const double on_s = fmax(pt_stage_number_or_0(profile, stage, "cpu.main_on_s"),
                             pt_stage_number_or_0(profile, stage, "time.python_s") +
                                 pt_stage_number_or_0(profile, stage, "time.native_s") +
                                 pt_stage_number_or_0(profile, stage, "time.heap_s"));
    const double others = fmax(pt_stage_number_or_0(profile, stage, "resource.processes.max") - 1, 1);
    const double others_on_s = fmax(pt_stage_number_or_0(profile, stage, "cpu.total_s") - on_s, 0) / others;
    const double for_others_s = pt_stage_number_or_0(profile, stage, "time.child_wait_s") +
                                pt_stage_number_or_0(profile, stage, "time.data_wait_s") +
                                pt_stage_number_or_0(profile, stage, "time.idle_s");
    return fmax(wall_s - elsewhere_s - on_s - fmin(for_others_s, others_on_s), 0);
}

/* Between the stage and storage, without the trace: it is written by the stage's processes, too. */
static double device_bytes(const struct pt_profile *profile, pt_u32 stage)
{
    const double read_bytes = pt_stage_number(profile, stage, "resource.disk_read_bytes.last");
    const double write_bytes = pt_stage_number(profile, stage, "resource.disk_write_bytes.last");
    if (isnan(read_bytes) && isnan(write_bytes))
        return NAN;
    const double trace_bytes = PROCESS_TRACE_BYTES * processes_started(profile, stage) +
                               EVENT_BYTES * pt_stage_number_or_0(profile, stage, "capture.events");
    return (isnan(read_bytes) ? 0 : read_bytes) + (isnan(write_bytes) ? 0 : fmax(write_bytes - trace_bytes, 0));
}

static void set_shares(struct pt_profile *profile, pt_u32 stage, double wall_s)
{
    /* That of the stage's own control group, where it has one: another one may be what is short of memory. */
    const double of_group_percent = pt_stage_number(profile, stage, "resource.group_memory_pressure_percent.mean");
    const double memory_percent = isnan(of_group_percent)
                                      ? pt_stage_number(profile, stage, "resource.memory_pressure_percent.mean")
                                      : of_group_percent;
    const double io_percent = pt_stage_number(profile, stage, "resource.io_pressure_percent.mean");
    /* Pressure is a mean over the CPUs at work, so that one which others keep busy halves it. */
    const double machine_percent = pt_stage_number(profile, stage, "resource.machine_cpu_percent.mean");
    const double cpus_at_work = machine_percent / 100 * pt_stage_number(profile, stage, "machine.cpus");
    const double of_one = cpus_at_work > 1 ? memory_percent * cpus_at_work : memory_percent;
    pt_stage_set_number(profile, stage, "pressure.memory.cost_s", at_most(wall_s, of_one / 100 * wall_s), not_sampled);
    /* Pressure is the whole machine's: another program may be the one that waits. And it is a mean over the CPUs at
     * work: others that compute make it less than the share of time in which the stage waited. */
    const double in_files_s = pt_stage_number_or_0(profile, stage, "time.file_read_s") +
                              pt_stage_number_or_0(profile, stage, "time.file_write_s");
    const double pressure_s = io_percent / 100 * wall_s;
    pt_stage_set_number(
        profile, stage, "pressure.io.cost_s",
        at_most(may_wait_for_disks_s(profile, stage, wall_s), pressure_s < in_files_s ? in_files_s : pressure_s),
        not_sampled);
    pt_stage_set_number(profile, stage, "storage.device.bytes", device_bytes(profile, stage), not_sampled);
    pt_stage_set_number(profile, stage, "gpu.idle.cost_s",
                        wall_s * (1 - pt_stage_number(profile, stage, "resource.gpu_util_percent.mean") / 100),
                        not_sampled);
}

void pt_derive_saturation(struct pt_profile *profile)
{
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        const double wall_s = (double)pt_profile_stage_wall_ns(profile, stage) / 1e9;
        if (!profile->stages.items[stage].run)
            continue;
        set_cpus(profile, stage, wall_s);
        set_faults(profile, stage, wall_s);
        set_shares(profile, stage, wall_s);
    }
}

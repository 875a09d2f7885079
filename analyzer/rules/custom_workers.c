/* SPDX-License-Identifier: MIT
 *
 * Owns: the rules about workers and about what goes on at once: each complaint excludes the others, so that the advice
 * fits. Threads: one. Never: sees an event.
 */
#include <math.h>

#include "rule.h"

enum { FEWEST_MESSAGES = 10, FEWEST_REQUESTS = 10 };

/* Shares of the workers' lives, in percent. */
struct worker_shares {
    double wait_s, wall_percent, feeds, at_once, cpus, busy, file, fault, cpu, queue, other;
};

static struct worker_shares shares_of(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct pt_metrics *metrics = &profile->metrics;
    const double wall_s =
        finding->stage < 0 ? 0 : (double)pt_profile_stage_wall_ns(profile, (pt_u32)finding->stage) / 1e9;
    const double wait_s = pt_finding_number(finding, metrics, "helpers.wait_s");
    return (struct worker_shares){
        .wait_s = wait_s,
        .wall_percent = wall_s > 0 ? 100 * wait_s / wall_s : 0,
        .feeds = pt_finding_number(finding, metrics, "helpers.feed.calls"),
        .at_once = pt_finding_number(finding, metrics, "helpers.workers.at_once"),
        .cpus = pt_finding_number(finding, metrics, "machine.cpus"),
        .busy = pt_finding_number(finding, metrics, "helpers.busy_percent"),
        .file = pt_finding_number(finding, metrics, "helpers.file_percent"),
        /* Pages of mapped files, the program's own code among them, come from the same disks; those of swap do not. */
        .fault = pt_rule_reads_its_pages_again(profile, finding)
                     ? 0
                     : pt_finding_number_or_0(finding, metrics, "helpers.fault_percent"),
        .cpu = pt_finding_number(finding, metrics, "helpers.cpu_percent"),
        .queue = pt_finding_number(finding, metrics, "helpers.queue_percent"),
        .other = pt_finding_number(finding, metrics, "helpers.other_percent"),
    };
}

enum complaint { NONE, DISK, CPU, TOO_FEW, TOO_MANY };

static enum complaint complaint_about(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct worker_shares shares = shares_of(profile, finding);
    if (!(shares.feeds >= FEWEST_MESSAGES))
        return NONE;
    /* They live, but neither compute nor wait for anything outside: they start, queue for a CPU, and end. */
    if (shares.at_once > 2 * shares.cpus && shares.cpu + shares.file + shares.fault + shares.other < 50)
        return TOO_MANY;
    if (!(shares.wall_percent >= 5) || !(shares.busy >= 50))
        return NONE;
    const double disk = shares.file + shares.fault;
    if (disk >= shares.busy / 2)
        return DISK;
    /* What is neither is computing, or waiting for a CPU to compute; unless it is known that most of it is not. */
    if (disk + shares.other < shares.busy / 2 && !(shares.at_once < shares.cpus) &&
        !(shares.cpu + shares.queue < (shares.busy - disk - shares.other) / 2))
        return CPU;
    return TOO_FEW;
}

bool pt_rule_workers_wait_for_files(const struct pt_profile *profile, const struct pt_finding *finding)
{
    return complaint_about(profile, finding) == DISK;
}

static bool complain(struct pt_profile *profile, struct pt_finding *finding, enum complaint which, const char *cost,
                     const char *table, const char *column)
{
    if (complaint_about(profile, finding) != which)
        return false;
    finding->gain_upper_s = pt_finding_number(finding, &profile->metrics, cost);
    pt_finding_add_metrics(finding, &profile->metrics,
                           "wait_s:helpers.wait_s workers:helpers.workers.at_once "
                           "workers_started:helpers.workers.count cpus:machine.cpus "
                           "workers_busy_percent:helpers.busy_percent workers_on_cpu_percent:helpers.cpu_percent "
                           "workers_in_files_percent:helpers.file_percent "
                           "workers_in_page_faults_percent:helpers.fault_percent "
                           "workers_in_network_or_sleep_percent:helpers.other_percent");
    pt_finding_add_rows(finding, &profile->metrics, table, column);
    return true;
}

bool pt_rule_dataloader_disk_bound(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    return complain(profile, finding, DISK, "helpers.wait_s", "io.files", "total_s");
}

bool pt_rule_dataloader_cpu_bound(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    const struct pt_metrics *metrics = &profile->metrics;
    if (!complain(profile, finding, CPU, "helpers.wait_s", "helpers.workers", "busy_s"))
        return false;
    /* They also take the CPUs that the main process wants. */
    const double main_s = pt_finding_number(finding, metrics, "cpu.main_runnable_s");
    const double queued_s = pt_finding_number(finding, metrics, "cpu.run_queue_s") /
                            (pt_finding_number(finding, metrics, "helpers.workers.at_once") + 1);
    const double more_s = fmax(main_s, queued_s); /* of one unknown the other */
    finding->gain_upper_s += isnan(more_s) ? 0 : more_s;
    return true;
}

bool pt_rule_too_few_workers(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    return complain(profile, finding, TOO_FEW, "helpers.wait_s", "helpers.workers", "busy_s");
}

bool pt_rule_too_many_workers(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    return complain(profile, finding, TOO_MANY, "helpers.total_s", "helpers.workers", "busy_s");
}

bool pt_rule_worker_imbalance(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    (void)stage;
    if (!(pt_finding_number(finding, metrics, "helpers.imbalance.ratio") >= 1.3) ||
        complaint_about(profile, finding) != NONE)
        return false;
    finding->gain_upper_s = pt_finding_number(finding, metrics, "helpers.imbalance.cost_s");
    pt_finding_add_metrics(finding, metrics,
                           "busiest_s:helpers.imbalance.most_s mean_s:helpers.imbalance.mean_s "
                           "busiest_pid:helpers.imbalance.pid workers:helpers.workers.at_once wait_s:helpers.wait_s");
    pt_finding_add_rows(finding, metrics, "helpers.workers", "busy_s");
    return true;
}

bool pt_rule_serial_fetches(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    (void)stage;
    const double connects = pt_finding_number(finding, metrics, "net.connect.calls");
    if (!(pt_finding_number(finding, metrics, "net.request.calls") >= FEWEST_REQUESTS || connects >= FEWEST_REQUESTS) ||
        !(pt_finding_number(finding, metrics, "net.at_once") < 2))
        return false;
    finding->gain_upper_s = pt_finding_number(finding, metrics, "net.cost_s");
    pt_finding_add_metrics(finding, metrics,
                           "requests:net.request.calls connections:net.connect.calls bytes:net.bytes wait_s:net.wait_s "
                           "mean_s:net.request.mean_s requests_at_once:net.at_once where:where.network");
    pt_finding_add_rows(finding, metrics, "net.hosts", "total_s");
    return true;
}

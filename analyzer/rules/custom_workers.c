/* SPDX-License-Identifier: MIT
 *
 * Owns: the rules about workers and about what runs at the same time: each finding excludes the others, so that the
 * advice fits. Threads: one. Never: sees an event.
 */
#include <math.h>

#include "conditions.h"
#include "custom.h"
#include "pickling.h"

enum { FEWEST_REQUESTS = 10, FEWEST_POOLS = 2 /* after the first one */, FEWEST_REPLACED = 4 };
#define MOSTLY_COMPUTING_PERCENT 50

static bool complain(struct pt_profile *profile, struct pt_finding *finding, enum pt_worker_complaint which,
                     const char *cost, const char *table, const char *column)
{
    if (pt_worker_complaint(profile, finding) != which)
        return false;
    finding->gain_upper_s = pt_finding_number(finding, &profile->metrics, cost);
    /* Of other pools nobody knows whether they worked for the training; first batches came before the GPU's work. */
    pt_bound_by_idle_gpu(profile, pt_finding_number_or_0(finding, &profile->metrics, "training.waits.cost_s"), finding);
    pt_finding_add_metrics(finding, &profile->metrics,
                           "workers_wait_s:helpers.wait_s workers:helpers.workers.at_once "
                           "workers_started:helpers.workers.count cpus:cpus.usable "
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
    return complain(profile, finding, PT_WORKERS_WAIT_FOR_FILES, "helpers.wait_s", "io.files", "total_s");
}

bool pt_rule_dataloader_cpu_bound(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    const struct pt_metrics *metrics = &profile->metrics;
    if (!complain(profile, finding, PT_WORKERS_COMPUTE, "helpers.wait_s", "helpers.workers", "busy_s"))
        return false;
    if (pt_finding_number(finding, metrics, "helpers.cpu_percent") < MOSTLY_COMPUTING_PERCENT)
        finding->title = "The main process waits for workers that compute, or wait for a CPU to compute";
    /* They also use the CPUs that the main process needs. */
    const double main_s = pt_finding_number(finding, metrics, "cpu.main_runnable_s");
    const double queued_s = pt_finding_number(finding, metrics, "cpu.run_queue_s") /
                            (pt_finding_number(finding, metrics, "helpers.workers.at_once") + 1);
    const double more_s = fmax(main_s, queued_s); /* of one unknown the other */
    /* Not what they would not have queued without other programs. */
    const double others = pt_finding_number_or_0(finding, metrics, "queue.others_percent") / 100;
    finding->gain_upper_s += isnan(more_s) ? 0 : more_s * (1 - others);
    return true;
}

/* With as many workers as are advised: what they do takes as long as all of them need for it, or all CPUs, and the main
 * process hides what it does itself meanwhile. */
static double still_waits_s(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const struct pt_metrics *metrics = &profile->metrics;
    const double workers = pt_waiting_workers_needed(profile, finding).in_all;
    const double loading_s = isnan(workers) ? pt_finding_number_or_0(finding, metrics, "helpers.cpu_s") /
                                                  pt_finding_number(finding, metrics, "cpus.usable")
                                            : pt_finding_number_or_0(finding, metrics, "helpers.busy_s") / workers;
    const double training_s = pt_finding_number(finding, metrics, "training.total_s") -
                              pt_finding_number(finding, metrics, "training.data_s");
    const double own_s =
        isnan(training_s) && finding->stage >= 0 ? pt_own_wall_s(profile, finding) - finding->gain_upper_s : training_s;
    return fmax(loading_s - own_s, 0); /* 0 also where one is not known */
}

/* For the remedies. */
static void set_percent(struct pt_profile *profile, pt_i64 stage, const char *metric, double percent)
{
    if (!isnan(percent))
        pt_metrics_set(&profile->metrics, pt_scope_stage((pt_u32)stage), metric, pt_real(percent));
}

bool pt_rule_too_few_workers(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    if (!complain(profile, finding, PT_WORKERS_TOO_FEW, "helpers.wait_s", "helpers.workers", "busy_s"))
        return false;
    const struct pt_worker_waits waits = pt_worker_waits(profile, finding);
    const bool is_pool = pt_finding_number(finding, &profile->metrics, "helpers.of_pool_percent") > 0;
    set_percent(profile, stage, is_pool ? "helpers.pool.other_of_busy_percent" : "helpers.other_of_busy_percent",
                waits.other_percent);
    set_percent(profile, stage, is_pool ? "helpers.pool.waits_of_busy_percent" : "helpers.waits_of_busy_percent",
                waits.all_percent);
    const double waits_s = pt_finding_number_or_0(finding, &profile->metrics, "helpers.wait_s");
    finding->gain_upper_s = fmin(finding->gain_upper_s, fmax(waits_s - still_waits_s(profile, finding), 0));
    return true;
}

bool pt_rule_too_many_workers(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    const struct pt_metrics *metrics = &profile->metrics;
    if (!complain(profile, finding, PT_WORKERS_TOO_MANY, "helpers.total_s", "helpers.workers", "busy_s"))
        return false;
    /* As many as there are CPUs still start, once; of that half is waited for, where nobody else wants a CPU. */
    const double started = pt_finding_number(finding, metrics, "helpers.workers.count");
    const double left = pt_finding_number(finding, metrics, "cpus.usable") / started;
    finding->gain_upper_s *= 1 - (left < 1 ? left / 2 : 0);
    return true;
}

bool pt_rule_workers_start(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    if (!complain(profile, finding, PT_WORKERS_START, "helpers.start_s", "helpers.workers", "busy_s"))
        return false;
    pt_finding_add_metrics(finding, &profile->metrics, "starting_s:helpers.start_s");
    const double pickling_s = pt_pickling_at_start_s(profile, stage, finding->gain_upper_s);
    if (pickling_s > 0) {
        finding->title = "The main process waits for workers that start: the data set is pickled to each of them";
        pt_finding_add_evidence(finding, "pickling_s", pt_real(pickling_s));
    }
    return true;
}

/* Where the main thread takes its data from the workers itself, the rules above know more: those of a DataLoader. */
bool pt_rule_pools_made_again(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    const struct pt_metrics *metrics = &profile->metrics;
    (void)stage;
    const bool is_made_again = pt_finding_number(finding, metrics, "helpers.again.pools.count") >= FEWEST_POOLS;
    const bool is_replaced = pt_finding_number(finding, metrics, "helpers.again.replaced.count") >= FEWEST_REPLACED;
    if (!(is_made_again || is_replaced) || pt_worker_complaint(profile, finding) != PT_WORKERS_FINE)
        return false;
    finding->is_wait = true;
    if (!is_made_again) {
        finding->gain_upper_s = pt_finding_number(finding, metrics, "helpers.again.empty_s");
        finding->remedy = "keep the processes of the pool: no maxtasksperchild, or a larger one";
        pt_finding_add_metrics(
            finding, &profile->metrics,
            "replaced_workers:helpers.again.replaced.count empty_s:helpers.again.empty_s where:place");
        pt_finding_add_rows(finding, metrics, "helpers.workers", "busy_s");
        return true;
    }
    finding->gain_upper_s = pt_finding_number(finding, metrics, "helpers.again.start_s") +
                            pt_finding_number(finding, metrics, "helpers.again.end_s");
    pt_finding_add_metrics(finding, &profile->metrics,
                           "pools:helpers.again.pools.count workers_started:helpers.again.workers.count "
                           "starting_s:helpers.again.start_s ending_s:helpers.again.end_s where:place");
    pt_finding_add_rows(finding, metrics, "helpers.workers", "busy_s");
    return true;
}

bool pt_rule_worker_imbalance(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    (void)stage;
    const enum pt_worker_complaint complaint = pt_worker_complaint(profile, finding);
    if (complaint != PT_WORKERS_UNEVEN &&
        (complaint != PT_WORKERS_FINE || !(pt_finding_number(finding, metrics, "helpers.imbalance.ratio") >= 1.3)))
        return false;
    finding->gain_upper_s = pt_finding_number(finding, metrics, "helpers.imbalance.cost_s");
    pt_finding_add_metrics(
        finding, metrics,
        "busiest_s:helpers.imbalance.most_s mean_s:helpers.imbalance.mean_s "
        "busiest_pid:helpers.imbalance.pid workers:helpers.workers.at_once workers_wait_s:helpers.wait_s");
    pt_finding_add_rows(finding, metrics, "helpers.workers", "busy_s");
    return true;
}

/* Several threads fetch already, and it is a lock that lets only one of them do so at a time: more threads would bring
 * nothing. */
static bool fetch_under_a_lock(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    const struct pt_table *threads = pt_view_table(metrics, (pt_u32)finding->stage, PT_VIEW_thread_time);
    size_t n = 0;
    for (size_t row = 0; threads && row < threads->n_rows; row++) {
        const double network_s = pt_table_number(threads, row, pt_time_parts[PT_PART_network].key);
        const double lock_s = pt_table_number(threads, row, pt_time_parts[PT_PART_lock].key);
        n += network_s > 0 && lock_s >= network_s;
    }
    return n >= 2 && pt_finding_number(finding, metrics, "lock.contended.cost_s") >=
                         pt_finding_number(finding, metrics, "net.cost_s") / 2;
}

/* What servers of this run computed for the answers: to ask for more at once has them compute no less. */
static double computed_by_servers_s(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    const struct pt_table *waits = pt_view_table(metrics, (pt_u32)finding->stage, PT_VIEW_waits);
    double computing_s = 0;
    for (size_t row = 0; waits && row < waits->n_rows; row++)
        if ((enum pt_time_part)pt_table_number(waits, row, "part") == PT_PART_network)
            computing_s += pt_table_number(waits, row, pt_time_parts[PT_PART_computing].key);
    return computing_s;
}

/* gRPC has a few connections, each with many requests on their way: where one begins, nobody sees. */
static bool share_connections(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    enum { MOSTLY_PERCENT = 50, MANY_REQUESTS = 10 };
    return pt_finding_number(finding, metrics, "net.by_grpc.percent") >= MOSTLY_PERCENT &&
           pt_finding_number(finding, metrics, "net.request.calls") >=
               MANY_REQUESTS * pt_finding_number_or_0(finding, metrics, "net.connect.calls");
}

/* Then more at once save little: that one takes as long as before. */
static bool has_one_long_request(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    enum { MOST_PARTS = 3 };
    const struct pt_table *hosts = pt_view_table(metrics, (pt_u32)finding->stage, PT_VIEW_hosts);
    double longest_s = 0, total_s = 0;
    for (size_t row = 0; hosts && row < hosts->n_rows; row++) {
        longest_s = fmax(longest_s, pt_table_number(hosts, row, "longest_s"));
        total_s += pt_table_number(hosts, row, "total_s");
    }
    return longest_s > total_s / MOST_PARTS;
}

bool pt_rule_serial_fetches(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    if (stage < 0)
        return false;
    const double connects = pt_finding_number(finding, metrics, "net.connect.calls");
    if (!(pt_finding_number(finding, metrics, "net.request.calls") >= FEWEST_REQUESTS || connects >= FEWEST_REQUESTS) ||
        !(pt_finding_number(finding, metrics, "net.at_once") < 2) || fetch_under_a_lock(finding, metrics) ||
        share_connections(finding, metrics) || has_one_long_request(finding, metrics))
        return false;
    const double cost_s = pt_finding_number(finding, metrics, "net.cost_s");
    finding->gain_upper_s = fmax(cost_s - computed_by_servers_s(finding, metrics), 0);
    if (finding->gain_upper_s < cost_s / 5)
        return false;
    if (pt_finding_number(finding, metrics, "net.in_python_loop.percent") >= 50)
        finding->place_kind = PT_PLACE_IN_LOOP;
    pt_finding_add_metrics(finding, metrics,
                           "requests:net.request.calls connections:net.connect.calls bytes:net.bytes wait_s:net.wait_s "
                           "mean_s:net.request.mean_s requests_at_once:net.at_once where:place");
    pt_finding_add_rows(finding, metrics, "net.hosts", "total_s");
    return true;
}

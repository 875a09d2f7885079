/* SPDX-License-Identifier: MIT
 *
 * run_record.c - Owns: the translation of results into run.json. Threads: main only. Never: writes the file.
 */
#include "run_record.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "run_file/launcher.h"
#include "run_file/write.h"
#include "sampler/usable_cpus.h"
#include "util/auto.h"
#include "util/clock.h"

void pt_run_stage_take(struct pt_run_stage *stage, const struct pt_launch_result *result,
                       const struct pt_session_dir *dir)
{
    const struct pt_samples *samples = result->samples;
    const bool is_unseen = result->running && !samples->n; /* its 0 would be taken for a measurement */
    const double cpu_ns = is_unseen ? NAN : (double)samples->cpu_ns;
    const double average = result->duration_ns ? 100.0 * cpu_ns / (double)result->duration_ns : NAN;
    stage->pid = result->pid;
    stage->start_ns = (double)(result->start_ns - dir->start_monotonic_ns);
    stage->duration_ns = (double)result->duration_ns;
    stage->stop_ns = result->how != PT_LAUNCH_ENDED && !result->running ? (double)result->stop_ns : NAN;
    stage->exit = result->running ? NULL : result->exit;
    stage->exit_code = result->running ? NAN : pt_status_exit_code(result->wait_status);
    stage->rss_max_bytes = is_unseen ? NAN : (double)samples->rss_max_bytes;
    stage->cpu_percent_avg = average;
    /* Unknown when it was too short for a sample. */
    stage->cpu_percent_max = isnan(samples->cpu_percent_max) ? NAN : fmax(samples->cpu_percent_max, average);
    stage->cpu_s = floor(cpu_ns / 1e3) / 1e6;
    memcpy(stage->resources, samples->resources, sizeof stage->resources);
    stage->sample_t_s = samples->t_s;
    stage->n_samples = (pt_u32)samples->n;
}

void pt_run_take_gpus(struct pt_run_info *run, const struct pt_samples *samples)
{
    if (!run->gpus && samples->n_gpus)
        run->gpus = (const char **)(size_t)samples->gpu_names;
}

void pt_run_take_target(struct pt_run_info *run, const char *stage, const struct pt_target *target)
{
    if (!target->traced)
        run->untraced[run->n_untraced++] = (struct pt_run_untraced){stage, target->binary, target->reason};
}

void pt_run_drop_target(struct pt_run_info *run, const char *stage)
{
    if (run->n_untraced && !strcmp(run->untraced[run->n_untraced - 1].stage, stage))
        run->n_untraced--;
}

int pt_run_record_write(const struct pt_session_dir *dir, const struct pt_run_info *run, struct pt_error *err)
{
    struct pt_run_info whole = *run;
    char host[256] = "";
    PT_AUTO(pt_freep) char *cwd = getcwd(NULL, 0);
    whole.cwd = cwd;
    whole.host = gethostname(host, sizeof host - 1) == 0 ? host : NULL;
    whole.git_commit = *dir->git_commit ? dir->git_commit : NULL;
    whole.start_realtime_ns = dir->start_realtime_ns;
    whole.start_monotonic_ns = dir->start_monotonic_ns;
    whole.written_realtime_ns = pt_clock_ns(CLOCK_REALTIME);
    pt_run_launcher_note(&whole.launcher);
    whole.cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    whole.cpus_usable = pt_usable_cpus("/proc", "/sys");
    whole.memory_bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    return pt_run_info_write(dir->fd, dir->shown, &whole, err);
}

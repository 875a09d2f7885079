/* SPDX-License-Identifier: MIT
 *
 * Owns: the life and name of each thread, the CPU time of a process. Threads: any, once the facts are open; the CPU
 * profile's names one at a time. Never: counts a thread twice because of an exec.
 */
#include "state.h"

#include <math.h>

#include "model/window.h"
#include "workers.h"

static const char *why_no_cpu_time(const struct pt_process *process)
{
    return pt_session_is_window(process->session) ? pt_window_no_counters
           : process->is_running                  ? "the process runs, and has not noted its CPU time yet"
                                                  : "the process ended before it noted its CPU time";
}

struct pt_value pt_image_cpu_s(const struct pt_facts *facts, const struct pt_process *process)
{
    const struct pt_image_use use = pt_image_use(facts, process);
    return isnan(use.cpu_ns) ? pt_unknown(why_no_cpu_time(process))
           : pt_may_be_much_more(use.unheard_ns, use.cpu_ns)
               ? pt_unknown("the process was killed, or runs still, and noted its CPU time long before")
               : pt_real(use.cpu_ns / 1e9);
}

static bool is_main(const struct pt_thread *thread)
{
    return thread == pt_main_thread(thread->process);
}

const struct pt_thread *pt_thread_before_exec(const struct pt_thread *thread)
{
    const struct pt_process *before = is_main(thread) ? thread->process->previous_image : NULL;
    return before ? pt_main_thread(before) : NULL;
}

struct pt_thread_life pt_thread_life(const struct pt_facts *facts, const struct pt_thread *thread)
{
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(facts, pt_profile_stage_of(facts->profile, thread->process));
    const pt_u32 number = pt_facts_cpu_thread(facts, thread);
    const pt_i64 last_ns = pt_facts_timeline(facts, thread)->last_ns;
    struct pt_thread_life life = {is_main(thread) ? thread->process->start_ns : thread->start_ns,
                                  is_main(thread) ? thread->process->end_ns : thread->end_ns, false};
    for (const struct pt_thread *before = pt_thread_before_exec(thread); before; before = pt_thread_before_exec(before))
        life.start_ns = before->process->start_ns;
    life.end_ns = last_ns > life.end_ns ? last_ns : life.end_ns;
    if (!number)
        return life;
    /* The kernel saw it begin before the library was there, and end after. */
    const pt_i64 seen_ns = (pt_i64)cpu->data->threads[number].start_ns + cpu->shift_ns;
    const pt_i64 gone_ns = (pt_i64)cpu->data->times[number].end_ns + cpu->shift_ns;
    life.start_ns = seen_ns < life.start_ns ? seen_ns : life.start_ns;
    life.end_ns = gone_ns > life.end_ns ? gone_ns : life.end_ns;
    life.is_exact = true;
    return life;
}

/* Of its life. Who is asked hundreds of times a second works. */
#define LEAST_IDLE 0.9
#define LEAST_MEAN_NS 5e6

bool pt_is_idle_helper(const struct pt_facts *facts, const struct pt_thread *thread)
{
    const struct pt_thread_life life = pt_thread_life(facts, thread);
    const struct pt_thread_waits *waits = &facts->waits[pt_thread_number(&facts->ids, thread)];
    const double waited_ns = (double)waits->for_work_ns;
    return (!is_main(thread) || pt_is_worker(thread->process)) && waits->n_for_work &&
           waited_ns >= LEAST_MEAN_NS * (double)waits->n_for_work &&
           waited_ns >= LEAST_IDLE * (double)(life.end_ns - life.start_ns);
}

void pt_mark_idle_helpers(const struct pt_profile *profile, pt_u32 stage, pt_u8 *marks, pt_u8 mark)
{
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        for (pt_u32 j = 0; j < process->n_threads && pt_profile_stage_of(profile, process) == stage; j++) {
            const pt_u32 number = pt_facts_cpu_thread(profile->facts, &process->threads[j]);
            if (number && pt_is_idle_helper(profile->facts, &process->threads[j]))
                marks[number] = mark;
        }
    }
}

const char *pt_thread_name(const struct pt_profile *profile, const struct pt_thread *thread)
{
    const pt_u32 number = pt_facts_cpu_thread(profile->facts, thread);
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(profile->facts, pt_profile_stage_of(profile, thread->process));
    return number && cpu->data->threads[number].comm[0] ? cpu->data->threads[number].comm : NULL;
}

const char *pt_thread_label(struct pt_profile *profile, const struct pt_thread *thread)
{
    const char *name = pt_thread_name(profile, thread);
    const char *main_one = thread->tid == thread->process->pid ? "main " : "";
    return name ? pt_metrics_format(&profile->metrics, "%s (%sthread %u)", name, main_one, thread->tid)
                : pt_metrics_format(&profile->metrics, "%sthread %u", main_one, thread->tid);
}

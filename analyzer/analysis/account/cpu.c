/* SPDX-License-Identifier: MIT
 *
 * The CPU figures of a thread, from the best source there is. Threads: one. Never: uses the CPU time of a process with
 * several threads for one of them.
 */
#include "cpu.h"

#include <math.h>

#include "facts/python.h"

/* A critical thread that was alone in its process used all of the process's CPU time. */
static double alone_on_s(const struct pt_profile *profile, const struct pt_process *root)
{
    double on_s = 0;
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        if (process != root && process->previous_image != root)
            continue;
        root = process;
        if (process->n_threads > 1 || !process->cpu_ns)
            return NAN;
        if (process->state != PT_PROCESS_EXECED) /* the kernel counts across exec */
            on_s += (double)process->cpu_ns / 1e9;
    }
    return on_s;
}

/* No more than the kernel counted when it was asked last, and all the time since. */
static double most_on_s(const struct pt_account *account, const struct pt_thread *thread, double on_s)
{
    const struct pt_kernel_count *count = &account->facts->counts.threads[pt_account_number(account, thread)];
    if (!isnan(on_s) || !count->is_read)
        return on_s;
    const pt_i64 since_ns = pt_thread_life(account->facts, thread).end_ns - count->last.at_ns;
    return ((double)count->last.on_cpu_ns + (double)(since_ns > 0 ? since_ns : 0)) / 1e9;
}

/* What its own clock says, over all images of its process. */
static void add_clock(const struct pt_account *account, const struct pt_thread *thread, struct pt_account_cpu *cpu)
{
    cpu->computing_s = cpu->between_preempted_s = NAN;
    for (; thread; thread = pt_thread_before_exec(thread)) {
        const struct account_clock *clock = &account->threads[pt_account_number(account, thread)].clock;
        cpu->has_python |= pt_process_has_python(thread->process);
        if (!clock->is_read)
            continue;
        cpu->computing_s = clock->computing_ns / 1e9 + (isnan(cpu->computing_s) ? 0 : cpu->computing_s);
        cpu->between_preempted_s =
            clock->preempted_ns / 1e9 + (isnan(cpu->between_preempted_s) ? 0 : cpu->between_preempted_s);
    }
}

/* What the CPU profile has of it outside of its calls. */
static void add_life(const struct pt_account *account, pt_u32 stage, pt_u32 thread, struct pt_account_cpu *cpu)
{
    const struct pt_cpu_timeline *timeline = pt_facts_cpu(account->facts, stage);
    const struct pt_cpu_data *data = timeline->data;
    cpu->fault_s = cpu->samples_s = NAN;
    cpu->no_sampler = pt_profile_why_not_sampled(account->profile, stage);
    cpu->fault_reason = !data || !account->profile->stages.items[stage].root ? cpu->no_sampler
                        : data->note
                            ? pt_metrics_text(&account->profile->metrics, data->note)
                            : "the CPU profile has no page faults: the kernel refused them, or it is an old one";
    if (!thread)
        return;
    const struct pt_cpu_life life = pt_cpu_life(timeline, &account->facts->views[stage], thread);
    const bool has_samples = data->totals.samples <= data->n_samples;
    cpu->preempted_s = life.preempted_ns / 1e9;
    cpu->fault_s = life.fault_ns / 1e9;
    if (data->header.flags & PT_CPU_USER_ONLY && has_samples)
        cpu->samples_s = life.samples * (double)data->header.period_ns / 1e9;
    if (has_samples && life.samples > 0)
        cpu->python_share = life.python / life.samples;
}

static const struct pt_thread *last_image(const struct pt_account *account, const struct pt_process *root)
{
    const struct pt_session *session = account->profile->session;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (account->critical[i] && session->processes[i]->previous_image == root)
            root = session->processes[i];
    return pt_main_thread(root);
}

struct pt_account_cpu pt_account_cpu(const struct pt_account *account, pt_u32 stage)
{
    const struct pt_profile *profile = account->profile;
    const struct pt_process *root = profile->stages.items[stage].root;
    const struct pt_thread *thread = pt_main_thread(root);
    struct pt_account_cpu cpu = {
        .on_s = pt_stage_number(profile, stage, "cpu.main_on_s"),
        .runnable_s = pt_stage_number(profile, stage, "cpu.main_runnable_s"),
        .python_share = pt_stage_number(profile, stage, "cpu.main_python_share"),
        .python_reason = pt_metrics_get(&profile->metrics, pt_scope_stage(stage), "cpu.main_python_share").reason,
    };
    add_clock(account, last_image(account, root), &cpu);
    if (isnan(cpu.on_s) && isnan(cpu.computing_s))
        cpu.on_s = alone_on_s(profile, root);
    if (!profile->stages.items[stage].run)
        cpu.python_reason = pt_profile_why_not_sampled(profile, stage);
    if (!cpu.python_reason)
        cpu.python_reason = "no CPU samples were taken";
    add_life(account, stage, thread ? pt_facts_cpu_thread(account->facts, thread) : 0, &cpu);
    thread = last_image(account, root);
    cpu.most_s = thread ? most_on_s(account, thread, cpu.on_s) : cpu.on_s;
    return cpu;
}

struct pt_account_cpu pt_account_cpu_of(const struct pt_account *account, pt_u32 stage, const struct pt_thread *thread)
{
    const struct pt_cpu_data *data = pt_facts_cpu(account->facts, stage)->data;
    const pt_u32 number = pt_facts_cpu_thread(account->facts, thread);
    struct pt_account_cpu cpu = {.on_s = NAN, .runnable_s = NAN, .python_share = NAN};
    add_clock(account, thread, &cpu);
    if (number) {
        cpu.on_s = (double)data->times[number].on_cpu_ns / 1e9;
        cpu.runnable_s = (double)pt_cpu_runnable_ns(&data->times[number]) / 1e9;
        cpu.python_reason = data->note ? data->note : "no CPU sample of this thread was taken";
    } else {
        const struct pt_process *first = thread->process;
        while (first->previous_image)
            first = first->previous_image;
        if (isnan(cpu.computing_s))
            cpu.on_s = alone_on_s(account->profile, first);
        cpu.python_reason =
            data ? "the thread is not in the CPU profile" : pt_profile_why_not_sampled(account->profile, stage);
    }
    add_life(account, stage, number, &cpu);
    if (!number && data)
        cpu.fault_reason = cpu.python_reason;
    cpu.most_s = most_on_s(account, thread, cpu.on_s);
    return cpu;
}

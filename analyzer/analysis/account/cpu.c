/* SPDX-License-Identifier: MIT
 *
 * The CPU figures of a thread, from the best source there is. Threads: one. Never: uses the CPU time of a process with
 * several threads for one of them.
 */
#include "cpu.h"

#include <math.h>

#include "facts/python.h"

/* A thread that was alone in its process used all of the process's CPU time; NAN = it was not, or that is not known. */
static double alone_on_s(const struct pt_process *process)
{
    if (process->n_threads > 1 || !process->cpu_ns)
        return NAN;
    return process->state == PT_PROCESS_EXECED ? 0 : (double)process->cpu_ns / 1e9; /* the kernel counts across exec */
}

/* Of all images of a process. */
static double alone_in_images_s(const struct pt_process *last)
{
    double on_s = 0;
    for (const struct pt_process *image = last; image; image = image->previous_image)
        on_s += alone_on_s(image);
    return on_s;
}

/* Of all processes of a stage's critical path. */
static double alone_on_path_s(const struct pt_account *account, pt_u32 stage)
{
    const struct pt_session *session = account->profile->session;
    double on_s = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (pt_account_is_critical(account, stage, session->processes[i]))
            on_s += pt_path_share(account->facts->paths, session->processes[i]) * alone_on_s(session->processes[i]);
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

/* The same of all processes of a stage's critical path. */
static double most_on_path_s(const struct pt_account *account, pt_u32 stage, double on_s)
{
    const struct pt_session *session = account->profile->session;
    double most_s = 0;
    for (pt_u32 i = 0; isnan(on_s) && i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        const struct pt_thread *thread = pt_main_thread(process);
        const struct pt_path_helpers *helpers = &account->facts->paths->processes[i].helpers;
        if (!thread || !pt_account_is_critical(account, stage, process))
            continue;
        most_s += pt_path_share(account->facts->paths, process) * most_on_s(account, thread, NAN);
        for (size_t j = 0; j < helpers->n; j++)
            most_s += helpers->items[j].share * most_on_s(account, helpers->items[j].thread, NAN);
    }
    return isnan(on_s) ? most_s : on_s;
}

static double plus(double sum, double more)
{
    return isnan(sum) ? more : sum + more;
}

/* What its own clock says of a share of its life. */
static void add_clock(const struct pt_account *account, const struct pt_thread *thread, double share,
                      struct pt_account_cpu *cpu)
{
    const struct pt_thread_clock *clock = pt_account_clock(account, thread);
    cpu->has_python |= pt_process_has_python(thread->process);
    if (!clock->is_read)
        return;
    cpu->computing_s = plus(cpu->computing_s, share * clock->computing_ns / 1e9);
    cpu->between_preempted_s = plus(cpu->between_preempted_s, share * clock->preempted_ns / 1e9);
    cpu->starting_s += share * clock->starting_ns / 1e9;
}

static void begin_life(const struct pt_account *account, pt_u32 stage, struct pt_account_cpu *cpu)
{
    const struct pt_cpu_data *data = pt_facts_cpu(account->facts, stage)->data;
    cpu->fault_s = cpu->samples_s = cpu->computing_s = cpu->between_preempted_s = NAN;
    cpu->no_sampler = pt_profile_why_not_sampled(account->profile, stage);
    cpu->fault_reason = !data || !account->profile->stages.items[stage].root ? cpu->no_sampler
                        : data->note
                            ? pt_metrics_text(&account->profile->metrics, data->note)
                            : "the CPU profile has no page faults: the kernel refused them, or it is an old one";
}

/* What the CPU profile has of a share of a thread's life outside of its calls, but for the times in which it waits for
 * children as a launcher (`process`; NULL = it is none). */
static void add_life(const struct pt_account *account, pt_u32 stage, pt_u32 thread, const struct pt_process *process,
                     double share, struct pt_account_cpu *cpu)
{
    const struct pt_cpu_timeline *timeline = pt_facts_cpu(account->facts, stage);
    const struct pt_cpu_data *data = timeline->data;
    if (!thread)
        return;
    struct pt_cpu_life life = pt_cpu_life(timeline, &account->facts->views[stage], thread);
    const struct pt_path_windows *windows = process ? &account->facts->paths->processes[process->index].windows : NULL;
    for (size_t i = 0; windows && i < windows->n; i++) {
        const struct pt_cpu_between between = pt_cpu_between(timeline, &account->facts->views[stage], thread,
                                                             windows->items[i].from_ns, windows->items[i].until_ns);
        life.preempted_ns -= fmin(between.preempted_ns, life.preempted_ns);
        life.fault_ns -= fmin(between.fault_ns, life.fault_ns);
        life.python -= fmin(between.python, life.python);
        life.samples -= fmin(between.python + between.native, life.samples);
    }
    const bool has_samples = data->totals.samples <= data->n_samples;
    cpu->preempted_s += share * life.preempted_ns / 1e9;
    cpu->fault_s = plus(cpu->fault_s, share * life.fault_ns / 1e9);
    if (data->header.flags & PT_CPU_USER_ONLY && has_samples)
        cpu->samples_s = plus(cpu->samples_s, share * life.samples * (double)data->header.period_ns / 1e9);
    cpu->python += has_samples ? share * life.python : 0;
    cpu->samples += has_samples ? share * life.samples : 0;
    if (cpu->samples > 0)
        cpu->python_share = cpu->python / cpu->samples;
}

static void add_helpers(const struct pt_account *account, pt_u32 stage, const struct pt_path_helpers *helpers,
                        struct pt_account_cpu *cpu)
{
    for (size_t i = 0; i < helpers->n; i++) {
        const struct pt_path_helper *helper = &helpers->items[i];
        add_clock(account, helper->thread, helper->share, cpu);
        add_life(account, stage, pt_facts_cpu_thread(account->facts, helper->thread), NULL, helper->share, cpu);
    }
}

/* Exec keeps the thread. */
static bool is_seen_before(const struct pt_account *account, pt_u32 stage, const struct pt_process *process)
{
    return process->previous_image && pt_account_is_critical(account, stage, process->previous_image);
}

struct pt_account_cpu pt_account_cpu(const struct pt_account *account, pt_u32 stage)
{
    const struct pt_profile *profile = account->profile;
    struct pt_account_cpu cpu = {
        .on_s = pt_stage_number(profile, stage, "cpu.main_on_s"),
        .runnable_s = pt_stage_number(profile, stage, "cpu.main_runnable_s"),
        .python_share = pt_stage_number(profile, stage, "cpu.main_python_share"),
        .python_reason = pt_metrics_get(&profile->metrics, pt_scope_stage(stage), "cpu.main_python_share").reason,
    };
    begin_life(account, stage, &cpu);
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        const struct pt_thread *thread = pt_main_thread(process);
        if (!thread || !pt_account_is_critical(account, stage, process))
            continue;
        add_clock(account, thread, pt_path_share(account->facts->paths, process), &cpu);
        if (!is_seen_before(account, stage, process))
            add_life(account, stage, pt_facts_cpu_thread(account->facts, thread), process, 1, &cpu);
        add_helpers(account, stage, &account->facts->paths->processes[i].helpers, &cpu);
    }
    if (isnan(cpu.on_s) && isnan(cpu.computing_s))
        cpu.on_s = alone_on_path_s(account, stage);
    if (!profile->stages.items[stage].run)
        cpu.python_reason = pt_profile_why_not_sampled(profile, stage);
    if (!cpu.python_reason)
        cpu.python_reason = "no CPU samples were taken";
    cpu.most_s = most_on_path_s(account, stage, cpu.on_s);
    return cpu;
}

struct pt_account_cpu pt_account_cpu_of(const struct pt_account *account, pt_u32 stage, const struct pt_thread *thread)
{
    const struct pt_cpu_data *data = pt_facts_cpu(account->facts, stage)->data;
    const pt_u32 number = pt_facts_cpu_thread(account->facts, thread);
    struct pt_account_cpu cpu = {.on_s = NAN, .runnable_s = NAN, .python_share = NAN};
    begin_life(account, stage, &cpu);
    for (const struct pt_thread *image = thread; image; image = pt_thread_before_exec(image))
        add_clock(account, image, 1, &cpu);
    if (number) {
        cpu.on_s = (double)data->times[number].on_cpu_ns / 1e9;
        cpu.runnable_s = (double)pt_cpu_runnable_ns(&data->times[number]) / 1e9;
        cpu.python_reason = data->note ? data->note : "no CPU sample of this thread was taken";
    } else {
        if (isnan(cpu.computing_s))
            cpu.on_s = alone_in_images_s(thread->process);
        cpu.python_reason =
            data ? "the thread is not in the CPU profile" : pt_profile_why_not_sampled(account->profile, stage);
    }
    add_life(account, stage, number, NULL, 1, &cpu);
    if (!number && data)
        cpu.fault_reason = cpu.python_reason;
    cpu.most_s = most_on_s(account, thread, cpu.on_s);
    return cpu;
}

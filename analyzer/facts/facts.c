/* SPDX-License-Identifier: MIT
 *
 * Owns: the order in which the facts about an event are found. Threads: one while there are events, then any. Never:
 * looks at an event twice.
 */
#include "facts.h"

#include <stdlib.h>

#include "util/mem.h"

struct pt_facts *pt_facts_open(struct pt_profile *profile)
{
    struct pt_facts *facts = pt_calloc(1, sizeof *facts);
    facts->profile = profile;
    pt_thread_ids_open(&facts->ids, profile->session);
    pt_cpu_profiles_open(&facts->cpu, profile->session, &profile->stages, &facts->ids, NULL);
    facts->views = pt_calloc(profile->stages.n, sizeof *facts->views);
    for (size_t stage = 0; stage < profile->stages.n; stage++)
        if (facts->cpu.timelines[stage].data)
            pt_cpu_view_of(&facts->views[stage], facts->cpu.timelines[stage].data);
    return facts;
}

void pt_facts_close(struct pt_facts *facts)
{
    if (!facts)
        return;
    for (pt_u32 stage = 0; stage < facts->cpu.n_stages; stage++)
        if (facts->views[stage].data)
            pt_cpu_view_close(&facts->views[stage]);
    free(facts->views);
    pt_cpu_profiles_close(&facts->cpu);
    pt_thread_ids_close(&facts->ids);
    pt_channels_fini(&facts->channels);
    free(facts);
}

void pt_facts_event(struct pt_facts *facts, const struct pt_event *event)
{
    if (event->desc->role != PT_ROLE_SPAN) {
        pt_thread_ids_event(&facts->ids, event);
        return;
    }
    const pt_u32 thread = pt_thread_number(&facts->ids, event->thread);
    facts->call.channel = pt_channels_note(&facts->channels, event);
    facts->call.preempted_ns = pt_cpu_profiles_call(&facts->cpu, thread, event, pt_time_part_of_event(event));
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

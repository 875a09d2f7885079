/* SPDX-License-Identifier: MIT
 *
 * facts/cpu_profiles.h - the CPU profiles of a run's stages, and which of their threads is which of the trace.
 */
#ifndef PT_FACTS_CPU_PROFILES_H
#define PT_FACTS_CPU_PROFILES_H

#include "off_cpu.h"
#include "thread_ids.h"

struct pt_cpu_profiles {
    pt_u32 n_stages;
    struct pt_cpu_timeline *timelines; /* by stage; without data: it has none */
    struct pt_off_calls *off_calls;    /* by stage */
    struct pt_error *problems;         /* by stage: why its profile could not be read; no text = it could */
    const pt_u32 *stage_of;            /* by process */
    pt_u32 *numbers;                   /* by thread: its number in its stage's profile; 0 = it is not there */
};

/* Of the stage of that name, of all where it is NULL. The stages and ids stay the caller's. */
void pt_cpu_profiles_open(struct pt_cpu_profiles *profiles, const struct pt_session *session,
                          const struct pt_stages *stages, const struct pt_thread_ids *ids, const char *only_stage);
void pt_cpu_profiles_close(struct pt_cpu_profiles *profiles);

/* A recorded call of a thread (its number, as in ids); returns for how long of it alone the thread was preempted. Calls
 * come as feeds have them. */
static inline pt_i64 pt_cpu_profiles_call(struct pt_cpu_profiles *profiles, pt_u32 thread, const struct pt_event *call,
                                          pt_u32 part)
{
    const pt_u32 number = profiles->numbers[thread];
    if (!number)
        return 0;
    const pt_u32 stage = profiles->stage_of[call->process->index];
    pt_off_calls_call(&profiles->off_calls[stage], number, call->start_ns, pt_event_end_ns(call), part);
    return pt_cpu_timeline_call(&profiles->timelines[stage], number, call->start_ns, pt_event_end_ns(call), part);
}

#endif

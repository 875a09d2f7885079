/* SPDX-License-Identifier: MIT
 *
 * facts.h - what several analyses ask about the events of a run, found once per event: which thread an id means, who is
 * at the other end of a channel.
 *
 * The pass gives each event to pt_facts_event() before the analyses that say `asks_facts` see it, in the same thread:
 * they ask while it is the current one, and when all are over. Other analyses see events in a thread beside, and ask
 * nothing.
 */
#ifndef PT_FACTS_FACTS_H
#define PT_FACTS_FACTS_H

#include "profile/profile.h"
#include "channels.h"
#include "cpu_profiles.h"
#include "thread_ids.h"

struct pt_facts {
    struct pt_profile *profile;
    struct pt_thread_ids ids;
    struct pt_channels channels;
    struct pt_cpu_profiles cpu;
    struct pt_cpu_view *views; /* by stage: its CPU profile with names; empty where it has none */
    struct {
        pt_u32 channel;      /* as pt_channels_note() gave it; 0 = none */
        pt_i64 preempted_ns; /* of it, and of no call that it contains */
    } call;                  /* the current event, where it is a span */
};

/* Of these categories it wants all events. */
#define PT_FACTS_CATEGORIES                                                                                            \
    (PT_CATEGORY_IO | PT_CATEGORY_STDIO | PT_CATEGORY_META | PT_CATEGORY_MAP | PT_CATEGORY_PROC | PT_CATEGORY_WAIT |   \
     PT_CATEGORY_NET | PT_CATEGORY_CUDA)

/* The stages are known. Stays until the profile is freed. */
struct pt_facts *pt_facts_open(struct pt_profile *profile);
void pt_facts_close(struct pt_facts *facts);
void pt_facts_event(struct pt_facts *facts, const struct pt_event *event);

/* The CPU profile of a stage; without data: it has none. */
static inline const struct pt_cpu_timeline *pt_facts_cpu(const struct pt_facts *facts, pt_u32 stage)
{
    return &facts->cpu.timelines[stage];
}
/* The number of a thread in the CPU profile of its stage; 0 = it is not there. */
static inline pt_u32 pt_facts_cpu_thread(const struct pt_facts *facts, const struct pt_thread *thread)
{
    return facts->cpu.numbers[pt_thread_number(&facts->ids, thread)];
}

/* Its name in the CPU profile; NULL = not known. */
const char *pt_thread_name(const struct pt_profile *profile, const struct pt_thread *thread);
/* "io-thread (thread 123)", or "thread 123" where nobody saw its name. */
const char *pt_thread_label(struct pt_profile *profile, const struct pt_thread *thread);

#endif

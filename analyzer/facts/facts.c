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
    return facts;
}

void pt_facts_close(struct pt_facts *facts)
{
    if (!facts)
        return;
    pt_thread_ids_close(&facts->ids);
    pt_channels_fini(&facts->channels);
    free(facts);
}

void pt_facts_event(struct pt_facts *facts, const struct pt_event *event)
{
    if (event->desc->role != PT_ROLE_SPAN)
        pt_thread_ids_event(&facts->ids, event);
    else
        facts->call.channel = pt_channels_note(&facts->channels, event);
}

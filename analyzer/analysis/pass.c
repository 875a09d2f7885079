/* SPDX-License-Identifier: MIT
 *
 * Owns: the one pass over the events. Threads: the caller's, for the analyses that ask facts, and of a long trace the
 * one that puts the events in order, for the others (decoding has threads of its own). Never: knows what an analysis
 * does with an event.
 */
#include "analysis.h"

#include <stdlib.h>
#include <string.h>

#include "derive/derive.h"
#include "facts/facts.h"
#include "facts/wait_kind.h"
#include "merge/chunks.h"
#include "merge/feed.h"
#include "profile/possible.h"
#include "util/auto.h"
#include "util/mem.h"

const struct pt_analysis *const pt_analyses[] = {
#define ANALYSIS(name) &pt_analysis_##name,
#define AFTER(later, earlier)
#include "analyses.def"
#undef ANALYSIS
#undef AFTER
    NULL,
};

enum finish_order {
#define ANALYSIS(name) FINISHES_##name,
#define AFTER(later, earlier)
#include "analyses.def"
#undef ANALYSIS
#undef AFTER
};
#define ANALYSIS(name)
#define AFTER(later, earlier)                                                                                          \
    _Static_assert(FINISHES_##earlier < FINISHES_##later, #later " looks at metrics of " #earlier);
#include "analyses.def"
#undef ANALYSIS
#undef AFTER

enum { N_ANALYSES = sizeof pt_analyses / sizeof *pt_analyses - 1 };
/* With fewer events, starting a thread takes longer than it saves. */
#ifdef PROFTRACE_THREADS_ALWAYS
enum { MANY_EVENTS = 0 };
#else
enum { MANY_EVENTS = 100000 };
#endif

/* The analyses of each kind of events, so that an event costs one call for each analysis that wants it. */
struct lane {
    struct subscriber {
        void (*event)(void *state, const struct pt_event *event);
        void *state;
    } subscribers[PT_KIND__COUNT][N_ANALYSES];
    pt_u8 n[PT_KIND__COUNT];
    pt_u32 categories;
};

struct dispatch {
    struct pt_facts *facts;
    struct lane with_facts, without_facts;
    bool wants_facts[PT_KIND__COUNT]; /* somebody who asks facts, or the facts themselves */
    pt_u64 n_events;
    void *states[N_ANALYSES];
};

static void subscribe(struct lane *lane, const struct pt_analysis *analysis, void *state)
{
    lane->categories |= analysis->categories;
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++)
        if (pt_event_descs[kind].category & analysis->categories && (!analysis->wants || analysis->wants(state, kind)))
            lane->subscribers[kind][lane->n[kind]++] = (struct subscriber){analysis->event, state};
}

static void dispatch_prepare(struct dispatch *dispatch, struct pt_profile *profile)
{
    dispatch->facts = profile->facts;
    dispatch->with_facts.categories = PT_FACTS_CATEGORIES;
    for (int i = 0; i < N_ANALYSES; i++) {
        const struct pt_analysis *analysis = pt_analyses[i];
        dispatch->states[i] = pt_calloc(1, analysis->state_size);
        if (analysis->begin)
            analysis->begin(dispatch->states[i], profile);
        if (!analysis->event)
            continue;
        subscribe(analysis->asks_facts ? &dispatch->with_facts : &dispatch->without_facts, analysis,
                  dispatch->states[i]);
    }
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++)
        dispatch->wants_facts[kind] =
            dispatch->with_facts.n[kind] || pt_event_descs[kind].category & PT_FACTS_CATEGORIES;
}

static inline void deliver(const struct lane *lane, const struct pt_event *event)
{
    const pt_u32 kind = event->desc->kind;
    for (pt_u32 i = 0; i < lane->n[kind]; i++)
        lane->subscribers[kind][i].event(lane->subscribers[kind][i].state, event);
}

static inline void deliver_with_facts(const struct dispatch *dispatch, const struct pt_event *event)
{
    if (event->desc->category & PT_FACTS_CATEGORIES)
        pt_facts_event(dispatch->facts, event);
    deliver(&dispatch->with_facts, event);
}

static int deliver_all(struct dispatch *dispatch, struct pt_feed *feed, struct pt_error *err)
{
    struct pt_event event;
    int got;
    for (; (got = feed->next(feed, &event, err)) > 0; dispatch->n_events++) {
        pt_wait_kind_note(&event);
        deliver_with_facts(dispatch, &event);
        deliver(&dispatch->without_facts, &event);
    }
    return got;
}

/* Blocks in the heap are most of some traces, and nobody asks facts about them: they are left out of the chunk. One
 * loop for all, and no branch for the copy: which kind an event has cannot be predicted, but once in each loop is
 * enough. */
static void deliver_without_facts(void *context, struct pt_chunk *chunk)
{
    struct dispatch *dispatch = context;
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < chunk->n; i++) {
        struct pt_event *event = &chunk->events[i];
        pt_wait_kind_note(event);
        deliver(&dispatch->without_facts, event);
        const bool is_wanted = dispatch->wants_facts[event->desc->kind];
        chunk->events[n] = *event;
        n += is_wanted;
    }
    dispatch->n_events += chunk->n;
    chunk->n = n;
}

/* Takes the feed over, unless no thread can be started. */
static struct pt_chunks *chunks_of(struct dispatch *dispatch, const struct pt_profile *profile, struct pt_feed **feed)
{
    if (profile->session->quality.events < MANY_EVENTS)
        return NULL;
    struct pt_chunks *chunks = pt_chunks_begin(*feed, deliver_without_facts, dispatch);
    *feed = chunks ? NULL : *feed;
    return chunks;
}

static int dispatch_events(struct dispatch *dispatch, const struct pt_profile *profile, struct pt_error *err)
{
    const struct pt_filter filter = {.categories =
                                         dispatch->with_facts.categories | dispatch->without_facts.categories};
    PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(profile->session, &filter, err);
    if (!feed)
        return -1;
    struct pt_chunks *chunks = chunks_of(dispatch, profile, &feed);
    if (!chunks)
        return deliver_all(dispatch, feed, err);
    for (const struct pt_chunk *chunk; (chunk = pt_chunks_next(chunks));)
        for (pt_u32 i = 0; i < chunk->n; i++)
            deliver_with_facts(dispatch, &chunk->events[i]);
    return pt_chunks_end(chunks, err);
}

int pt_analyze(struct pt_profile *profile, struct pt_error *err)
{
    struct pt_session *session = profile->session;
    pt_stages_build(&profile->stages, session, profile->run);
    profile->facts = pt_facts_open(profile);
    struct dispatch *dispatch = pt_calloc(1, sizeof *dispatch);
    dispatch_prepare(dispatch, profile);
    const int result = session->n_processes ? dispatch_events(dispatch, profile, err) : 0;
    profile->n_events = dispatch->n_events;
    pt_facts_settle(profile->facts);
    pt_derive(profile, PT_DERIVE_BEFORE);
    for (int i = 0; i < N_ANALYSES; i++) {
        pt_analyses[i]->finish(dispatch->states[i], profile);
        free(dispatch->states[i]);
    }
    free(dispatch);
    pt_derive(profile, PT_DERIVE_AFTER);
    pt_profile_refuse_impossible(profile);
    return result < 0 ? pt_error_context(err, "analyzing %s", session->name ? session->name : "the run") : 0;
}

void pt_profile_free(struct pt_profile *profile)
{
    pt_facts_close(profile->facts);
    pt_stages_free(&profile->stages);
    pt_metrics_free(&profile->metrics);
    pt_stacks_free(&profile->stacks);
    *profile = (struct pt_profile){0};
}

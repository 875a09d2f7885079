/* SPDX-License-Identifier: MIT
 *
 * Owns: the one pass over the events. Threads: the caller's, for the analyses that ask facts, and of a long trace a
 * second one for the others (the feed decodes in threads of its own). Never: knows what an analysis does with an
 * event.
 */
#include "analysis.h"

#include <pthread.h>
#include <signal.h>
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

enum { N_ANALYSES = sizeof pt_analyses / sizeof *pt_analyses - 1, N_CATEGORIES = 16 };
/* With fewer events, starting a thread takes longer than it saves. */
#ifdef PROFTRACE_THREADS_ALWAYS
enum { MANY_EVENTS = 0 };
#else
enum { MANY_EVENTS = 100000 };
#endif
enum { WITH_FACTS, WITHOUT_FACTS }; /* readers of chunks */

/* The analyses of each category, so that an event costs one call for each analysis that wants it. */
struct lane {
    struct subscriber {
        void (*event)(void *state, const struct pt_event *event);
        void *state;
    } subscribers[N_CATEGORIES][N_ANALYSES];
    pt_u32 n[N_CATEGORIES];
};

struct dispatch {
    struct pt_facts *facts;
    struct lane with_facts, without_facts;
    struct pt_chunks *chunks; /* NULL = a short trace */
    pt_u32 categories;
    void *states[N_ANALYSES];
};

static void subscribe(struct lane *lane, const struct pt_analysis *analysis, void *state)
{
    for (pt_u32 bit = 0; bit < N_CATEGORIES; bit++)
        if (analysis->categories >> bit & 1)
            lane->subscribers[bit][lane->n[bit]++] = (struct subscriber){analysis->event, state};
}

static void dispatch_prepare(struct dispatch *dispatch, struct pt_profile *profile)
{
    dispatch->facts = profile->facts;
    dispatch->categories = PT_FACTS_CATEGORIES;
    for (int i = 0; i < N_ANALYSES; i++) {
        const struct pt_analysis *analysis = pt_analyses[i];
        dispatch->states[i] = pt_calloc(1, analysis->state_size);
        if (analysis->begin)
            analysis->begin(dispatch->states[i], profile);
        if (!analysis->event)
            continue;
        dispatch->categories |= analysis->categories;
        subscribe(analysis->asks_facts ? &dispatch->with_facts : &dispatch->without_facts, analysis,
                  dispatch->states[i]);
    }
}

/* `facts`: NULL = of no concern to this lane. */
static void deliver(const struct lane *lane, struct pt_facts *facts, const struct pt_event *events, pt_u32 n_events)
{
    for (const struct pt_event *event = events; event < events + n_events; event++) {
        if (facts && event->desc->category & PT_FACTS_CATEGORIES)
            pt_facts_event(facts, event);
        const pt_u32 bit = (pt_u32)__builtin_ctz(event->desc->category);
        for (pt_u32 i = 0; i < lane->n[bit]; i++)
            lane->subscribers[bit][i].event(lane->subscribers[bit][i].state, event);
    }
}

static int deliver_all(struct dispatch *dispatch, struct pt_feed *feed, pt_u64 *n_events, struct pt_error *err)
{
    struct pt_event event;
    int got;
    for (; (got = feed->next(feed, &event, err)) > 0; ++*n_events) {
        pt_wait_kind_note(&event);
        deliver(&dispatch->with_facts, dispatch->facts, &event, 1);
        deliver(&dispatch->without_facts, NULL, &event, 1);
    }
    return got;
}

static void *deliver_without_facts(void *argument)
{
    struct dispatch *dispatch = argument;
    for (const struct pt_chunk *chunk; (chunk = pt_chunks_next(dispatch->chunks, WITHOUT_FACTS));)
        deliver(&dispatch->without_facts, NULL, chunk->events, chunk->n);
    return NULL;
}

/* One thread puts the events in order, two more deliver them to analyses. */
static int deliver_in_two_threads(struct dispatch *dispatch, pt_u64 *n_events, struct pt_error *err)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    const bool has_no_thread = pthread_create(&thread, NULL, deliver_without_facts, dispatch) != 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (has_no_thread)
        pt_chunks_without(dispatch->chunks, WITHOUT_FACTS);
    for (const struct pt_chunk *chunk; (chunk = pt_chunks_next(dispatch->chunks, WITH_FACTS)); *n_events += chunk->n) {
        deliver(&dispatch->with_facts, dispatch->facts, chunk->events, chunk->n);
        if (has_no_thread)
            deliver(&dispatch->without_facts, NULL, chunk->events, chunk->n);
    }
    if (!has_no_thread)
        pthread_join(thread, NULL);
    return pt_chunks_end(dispatch->chunks, err);
}

static int dispatch_events(struct dispatch *dispatch, struct pt_profile *profile, struct pt_error *err)
{
    const struct pt_filter filter = {.categories = dispatch->categories};
    PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(profile->session, &filter, err);
    if (!feed)
        return -1;
    if (profile->session->quality.events >= MANY_EVENTS)
        dispatch->chunks = pt_chunks_begin(feed, pt_wait_kind_note);
    if (!dispatch->chunks)
        return deliver_all(dispatch, feed, &profile->n_events, err);
    feed = NULL;
    return deliver_in_two_threads(dispatch, &profile->n_events, err);
}

int pt_analyze(struct pt_profile *profile, struct pt_error *err)
{
    struct pt_session *session = profile->session;
    pt_stages_build(&profile->stages, session, profile->run);
    profile->facts = pt_facts_open(profile);
    struct dispatch *dispatch = pt_calloc(1, sizeof *dispatch);
    dispatch_prepare(dispatch, profile);
    const int result = session->n_processes ? dispatch_events(dispatch, profile, err) : 0;
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

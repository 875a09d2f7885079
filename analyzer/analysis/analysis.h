/* SPDX-License-Identifier: MIT
 *
 * analysis.h - one pass over the events of a run, many analyses.
 *
 * An analysis is a file that defines `const struct pt_analysis pt_analysis_<name>` and a row: ANALYSIS_TABLE in
 * profile/views.def when it has one table, else ANALYSIS in analyses.def. Its state is zeroed memory of state_size
 * bytes. begin() may look at the session; event() is called for each event that it wants, in the order of time;
 * finish() stores metrics and tables and frees what the state holds. An analysis bounds its state, whatever the length
 * of the trace, and allocates nothing per event.
 */
#ifndef PT_ANALYSIS_ANALYSIS_H
#define PT_ANALYSIS_ANALYSIS_H

#include "decode/event.h"
#include "profile/profile.h"

struct pt_analysis {
    const char *name;
    const char *summary;
    pt_u32 categories; /* PT_CATEGORY_ bits */
    size_t state_size;
    void (*begin)(void *state, struct pt_profile *profile); /* NULL = nothing to prepare */
    bool (*wants)(const void *state, pt_u32 kind); /* after begin(), of its categories; NULL = all kinds of them */
    void (*event)(void *state, const struct pt_event *event);
    bool asks_facts; /* it reads profile->facts, which get each event first. The other analyses run in a second thread:
                        they share nothing with these that changes during the pass but absolute paths, and metrics
                        must not be used before finish */
    void (*finish)(void *state, struct pt_profile *profile);
};

#define ANALYSIS(name) extern const struct pt_analysis pt_analysis_##name;
#define AFTER(later, earlier)
#include "analyses.def"
#undef ANALYSIS
#undef AFTER

/* All analyses, closed by NULL. */
extern const struct pt_analysis *const pt_analyses[];

/* Run all analyses over all events of profile->session; the rest of `profile` but `run` is zeroed before the call and
 * must be freed whatever the result. Session and run stay the caller's. */
int pt_analyze(struct pt_profile *profile, struct pt_error *err);
void pt_profile_free(struct pt_profile *profile);

#endif

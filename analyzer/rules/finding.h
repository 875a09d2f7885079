/* SPDX-License-Identifier: MIT
 *
 * finding.h - one complaint: what it costs at most, its evidence, what to try. Rules fill it in, reports show it.
 */
#ifndef PT_RULES_FINDING_H
#define PT_RULES_FINDING_H

#include "facts/wait_kind.h"
#include "profile/profile.h"

enum pt_severity { PT_SEVERITY_ERROR, PT_SEVERITY_WARNING, PT_SEVERITY_INFO };
enum pt_confidence { PT_CONFIDENCE_HIGH, PT_CONFIDENCE_MEDIUM, PT_CONFIDENCE_LOW };

/* How the place in the program's code is found that a finding is about. */
enum pt_place_kind {
    PT_PLACE_NOWHERE,
    PT_PLACE_WAIT, /* of the main thread, in the part of the finding */
    PT_PLACE_WAIT_OF_ALL,
    PT_PLACE_WORKERS,    /* what workers do while the main thread waits for them */
    PT_PLACE_DISK,       /* waits for files of all kinds */
    PT_PLACE_READ_AGAIN, /* reads of files that were read before */
    PT_PLACE_IMPORT,     /* waits for files of modules */
    PT_PLACE_CPU,
    PT_PLACE_STEPS,       /* what a training computes, without what it starts with */
    PT_PLACE_FORWARD,     /* of it, what is no backward pass: that does again what was called here */
    PT_PLACE_PREPARING,   /* of what a training computes, what is not the model */
    PT_PLACE_IMPORTING,   /* who imports, or ends */
    PT_PLACE_TRAINING,    /* of a training, from its first step to its last */
    PT_PLACE_BESIDE,      /* of a training, what is no phase of its steps */
    PT_PLACE_BEHIND,      /* of that, what is called behind the backward passes */
    PT_PLACE_FETCH,       /* what it reads samples with, in its own process */
    PT_PLACE_FETCH_WAIT,  /* what it waits for there, in the part of the finding */
    PT_PLACE_HAND_OVER,   /* lines of the program's own that hand work to other processes or wait for it, in any part */
    PT_PLACE_HANDED_OVER, /* where no such line is known: who does that for it */
    PT_PLACE_IN_LOOP,     /* the main thread's calls in the part of the finding: it waits for them in its event loop */
    PT_PLACE_RANK,        /* what the late rank does more than the others */
    PT_PLACE_FAULT,       /* pages touched for the first time */
    PT_PLACE_FORK,
    PT_PLACE_ALLOCATED,
    PT_PLACE_GROWTH,
    PT_PLACE_HELD, /* what was held at once */
    PT_PLACE_CHURN,
};

/* Large arrays and copies push the steps' data out of the caches; measured: what follows takes longer by nothing to a
 * tenth of their own time. */
#define PT_WITH_COLD_CACHES 1.1

/* A place in a program's code, as far as it is known. */
struct pt_place {
    const char *function; /* NULL = unknown */
    const char *file;     /* of its source; NULL = unknown */
    pt_u32 line;          /* 0 = unknown */
    const char *module;   /* the program or library; NULL = unknown */
    const char *language; /* "native", "python" */
    const char *text;     /* the same for people, with the share of the time; NULL = nothing is known */
    const char *reason;   /* why the function is unknown */
};

struct pt_evidence {
    const char *key; /* unit last */
    enum pt_show show;
    struct pt_value value;
    bool is_place; /* the place itself: known when the rule has fired */
};

enum { PT_MAX_EVIDENCE = 12, PT_MAX_EVIDENCE_ROWS = 5, PT_MAX_EXPLAINED = 4 };

struct pt_finding {
    const char *rule;
    enum pt_severity severity;
    enum pt_confidence confidence;
    pt_u32 order; /* of its row: of two that cost the same the first goes first */
    pt_i64 stage; /* index; -1 = the run */
    double gain_upper_s, gain_upper_percent;
    struct pt_gain_of {        /* what the gain is made of; measured_s 0 = it promises none */
        double measured_s;     /* times 1 + around_percent / 100, times stretch; at most the stage */
        double around_percent; /* what is saved with it: the work around it, and what it makes slower */
        double stretch;        /* it was measured in CPU time, and had to wait for CPUs; 1 = it had not */
    } gain_of;
    double with_what_follows; /* the rule has multiplied what it measured by that; 0 = by nothing */
    bool always_shown;        /* about the capture or about memory: not measured in seconds */
    bool is_general;          /* a part of the time that no rule explains: a row of general.def */
    bool is_of_workers;       /* its title says so: titles.def */
    const char *others;       /* "Other programs" cost it: no change of this one saves it; NULL = it does */
    bool is_exact;            /* it is timed to the end, and nothing is done around it: a sleep */
    bool is_wait;             /* what it costs was waited for, or timed by phases: queueing is in it, if there is any */
    bool is_observation;      /* says where time goes: no problem, and no promise; its time instead of a gain */
    double time_s, time_percent; /* of an observation: of the stage's main thread; percent of the run */
    enum pt_time_part part;      /* of the stage's time account, where it lies; PT_PART__COUNT = in none */
    enum pt_place_kind place_kind;
    const char *in_function; /* of its stacks only those in this function of Python, or below it; NULL = all */
    const char *in_file;     /* of that function */
    pt_u32 in_line;          /* in that line of it; 0 = in any */
    struct pt_explained_line {
        const char *file;
        pt_u32 line;
    } explained[PT_MAX_EXPLAINED]; /* of a part of the time: lines whose stacks are others' */
    pt_u32 n_explained;
    struct pt_place place;
    const char *title, *remedy, *advice; /* see rules.def */
    bool knows_remedy;                   /* it is for a library that was seen: remedies.def */
    struct pt_evidence evidence[PT_MAX_EVIDENCE];
    pt_u32 n_evidence;
    const struct pt_table *table; /* NULL = none */
    size_t rows[PT_MAX_EVIDENCE_ROWS];
    pt_u32 n_rows;
};

/* Problems, errors first, then by gain, but what other programs took and what others explain behind those; then
 * observations, the largest time first. */
struct pt_findings {
    PT_VEC(struct pt_finding);
};

/* The first of a rule in a stage; NULL = none. */
const struct pt_finding *pt_findings_of_rule(const struct pt_findings *findings, pt_i64 stage, const char *rule);

/* Of one that is about no time, as memory, there is none to show. */
static inline bool pt_finding_has_time(const struct pt_finding *finding)
{
    return finding->is_observation && finding->time_s > 0;
}
/* What people read for a key of evidence; NULL = evidence.def has no row for it. */
const char *pt_evidence_label(const char *key);
/* What to try, in a sentence or two: of what fits the program nothing else. */
static inline const char *pt_finding_try(const struct pt_finding *finding)
{
    return finding->knows_remedy ? finding->remedy : finding->advice;
}
const char *pt_severity_name(enum pt_severity severity);
const char *pt_confidence_name(enum pt_confidence confidence);

void pt_finding_add_evidence(struct pt_finding *finding, const char *key, struct pt_value value);
/* "key:metric key:metric" */
void pt_finding_add_metrics(struct pt_finding *finding, struct pt_metrics *metrics, const char *list);
/* A metric of the finding's stage; NAN = unknown: no comparison with it holds. */
double pt_finding_number(const struct pt_finding *finding, const struct pt_metrics *metrics, const char *metric);
/* The same; 0 = unknown: for sums of what is known. */
double pt_finding_number_or_0(const struct pt_finding *finding, const struct pt_metrics *metrics, const char *metric);
/* How long the finding's stage lasted without the time in which its main thread waited for a CPU: on a busy machine a
 * part is as large as on a quiet one. */
double pt_own_wall_s(const struct pt_profile *profile, const struct pt_finding *finding);
/* Show the rows of a stage's table with the most in a column. */
void pt_finding_add_rows(struct pt_finding *finding, const struct pt_metrics *metrics, const char *table,
                         const char *column);

#endif

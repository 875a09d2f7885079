/* SPDX-License-Identifier: MIT
 *
 * peers.h - the runs of a baseline that a run can be held against: of the same dataset, version and kind of machine.
 */
#ifndef PT_REGRESSION_PEERS_H
#define PT_REGRESSION_PEERS_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "report/doc/doc.h"

struct pt_peer {
    const cJSON *run;
    bool is_same_machine; /* its times count, too */
};

struct pt_peers {
    PT_VEC(struct pt_peer); /* the newest first */
    const char *reason;     /* why nothing can be told; NULL = it can */
    const char *left_out;   /* which runs were left out, and why; NULL = none */
    const char *no_times;   /* why times cannot be compared; NULL = they can */
};

/* `runs` is an array of entries; `entry` the run that is checked. Free the items. */
struct pt_peers pt_peers_of(struct pt_doc *doc, const cJSON *runs, const cJSON *entry);
/* Why the n-th run that is checked cannot be taken together with the first; NULL = it can. */
const char *pt_peers_differ(struct pt_doc *doc, const cJSON *first, const cJSON *entry, size_t n, bool with_times);
/* Could one be held against the other? By its times, too? */
bool pt_peers_are_alike(struct pt_doc *doc, const cJSON *a, const cJSON *b, bool with_machine);
/* Processes of an entry that could not be traced. */
double pt_peers_untraced(const cJSON *entry);

#endif

/* SPDX-License-Identifier: MIT
 *
 * change.h - a row of a table in one run beside the same row in another.
 */
#ifndef PT_DIFF_CHANGE_H
#define PT_DIFF_CHANGE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdlib.h>

#include "util/str.h"
#include "util/vec.h"

enum pt_diff_side { PT_DIFF_A, PT_DIFF_B, PT_DIFF__SIDES };

enum pt_diff_table {
#define TABLE(id, path, label, apart, seconds, count, bytes, title) PT_DIFF_##id,
#include "tables.def"
#undef TABLE
    PT_DIFF__TABLES
};

/* How a table is read: see tables.def. "" = it has no such member. */
struct pt_diff_table_kind {
    const char *key, *path, *label, *apart, *seconds, *count, *bytes, *title;
};
extern const struct pt_diff_table_kind pt_diff_tables[PT_DIFF__TABLES];

/* Sums of the rows of one name; 0 where a run has none. Texts live in the documents, and are hostile. */
struct pt_change {
    const char *label, *apart; /* apart: NULL = nothing */
    const char *file;          /* of a function; NULL = not known */
    double line;               /* where most time goes in the later run, else in the earlier; 0 = not known */
    double line_s;             /* that time */
    enum pt_diff_side line_of; /* that run */
    double seconds[PT_DIFF__SIDES], count[PT_DIFF__SIDES], bytes[PT_DIFF__SIDES];
    bool is_in[PT_DIFF__SIDES];
};

struct pt_changes {
    PT_VEC(struct pt_change);
};

/* By what the table ranks: seconds, or bytes where it has none. B - A. */
double pt_change_of(const struct pt_diff_table_kind *kind, const struct pt_change *change);
/* Samples are chance, and need a CPU profile. */
bool pt_counts_samples(const struct pt_diff_table_kind *kind);
static inline void pt_changes_fini(struct pt_changes *changes)
{
    free(changes->items);
}

/* "[not sampled]" and its like are sums of what nobody knows: no cause. "[gzip]" is code of a file without names. */
static inline bool pt_change_is_named(const struct pt_change *change)
{
    return *change->label != '[' || (change->apart && *change->apart == '/');
}

/* A stage of both runs. NULL = that run has none of this name; never both. */
struct pt_stage_pair {
    const char *name;
    const cJSON *of[PT_DIFF__SIDES];
    struct pt_changes changes[PT_DIFF__TABLES];
    bool has_lost;         /* one of the runs lost events, so that rows made of them are too few */
    const char *unsampled; /* "A" or "B": which of the two has no CPU profile while the other has; NULL = neither */
    const char *unrecorded, *why_unrecorded; /* likewise, of a family of calls; and why */
};

/* Fills in the changes of all tables. Those of CPU samples stay empty where only one of the stages has any, and those
 * of calls lack what one of the stages did not record. */
void pt_pair_take_changes(struct pt_stage_pair *pair);

/* The largest change of a table among those that fit (NULL = all), in a direction: +1 where B has more, -1 where it has
 * less. What went the other way explains nothing. NULL = none. */
const struct pt_change *pt_change_largest(const struct pt_stage_pair *pair, enum pt_diff_table table, double direction,
                                          bool (*fits)(const struct pt_change *, const char *), const char *what);
/* The function whose CPU time changed most: the one of Python, unless less than half of it is in that one. */
const struct pt_change *pt_change_of_function(const struct pt_stage_pair *pair, double direction);

#endif

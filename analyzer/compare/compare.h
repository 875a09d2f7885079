/* SPDX-License-Identifier: MIT
 *
 * compare.h - many runs in one table: architectures, sizes of batches, hyper-parameters. The best of each column is
 * named, and which runs no other beats in both quality and cost.
 */
#ifndef PT_COMPARE_COMPARE_H
#define PT_COMPARE_COMPARE_H

#include <cjson/cJSON.h>
#include <stdlib.h>

#include "report/doc/doc.h"
#include "util/error.h"

enum pt_dimension {
#define DIMENSION(id, key, show, title, better, role, reason) PT_DIMENSION_##id,
#include "dimensions.def"
#undef DIMENSION
    PT_DIMENSION__FIXED,
    PT_DIMENSION__MOST = PT_MAX_COLUMNS - 3, /* the others are quality metrics, as the runs have them */
    PT_DIMENSION_NONE = PT_DIMENSION__MOST,
};

enum pt_better { PT_BETTER_NEITHER, PT_BETTER_LESS, PT_BETTER_MORE };
enum pt_axis_role { PT_AXIS_NONE, PT_AXIS_COST, PT_AXIS_QUALITY };

struct pt_dimension_kind {
    const char *key, *title, *reason; /* those of quality metrics are hostile */
    enum pt_show show;
    enum pt_better better;
    enum pt_axis_role role;
};

/* One row. Unknown is NAN. */
struct pt_compared {
    const char *name; /* hostile */
    double values[PT_DIMENSION__MOST];
    const cJSON *document; /* of the whole run; NULL = the row is of one stage */
    bool was_cut;     /* a stage of it did not end well, or trace files are missing: it is neither short nor cheap */
    bool is_part;     /* it left out what another run did: it is neither, too */
    bool is_on_front; /* no other run has both more quality and less cost */
};

struct pt_comparison {
    PT_VEC(struct pt_compared);
    struct pt_dimension_kind dimensions[PT_DIMENSION__MOST];
    int n_dimensions;
    const char *wanted; /* the quality metric that must not be left out; NULL = any */
    struct {
        PT_VEC(const char *);
    } left_out;        /* hostile keys of quality metrics for which there was no column */
    int quality, cost; /* the axes of the front: dimensions; PT_DIMENSION_NONE = nothing to put there */
};

/* Without runs. `quality`: the metric that will be asked for; NULL = any. */
struct pt_comparison pt_comparison_new(const char *quality);
static inline void pt_comparison_fini(struct pt_comparison *comparison)
{
    free(comparison->items);
    free(comparison->left_out.items);
}

/* A row of a run, or of one stage of it. -1: it has no such stage. The document must outlive it. */
int pt_comparison_add(struct pt_comparison *comparison, const char *name, const cJSON *document, const char *stage,
                      struct pt_error *err);
/* When all runs are there: choose the axes by their keys (NULL = the first that two runs have) and find the front. -1:
 * there is no such key. */
int pt_comparison_front(struct pt_comparison *comparison, const char *quality, const char *cost, struct pt_error *err);
void pt_comparison_document(const struct pt_comparison *comparison, struct pt_doc *doc);

#endif

/* SPDX-License-Identifier: MIT
 *
 * top/rows.h - two looks as tables: a row for each process, stage or rank.
 */
#ifndef PT_CMD_TOP_ROWS_H
#define PT_CMD_TOP_ROWS_H

#include "report/doc/doc.h"
#include "look.h"
#include "phases.h"

enum pt_top_by { PT_TOP_BY_PROCESS, PT_TOP_BY_STAGE, PT_TOP_BY_RANK, PT_TOP_BY__COUNT };
enum pt_top_sort { PT_TOP_SORT_START, PT_TOP_SORT_CPU, PT_TOP_SORT_MEMORY, PT_TOP_SORT_IO, PT_TOP_SORT__COUNT };

extern const char *const pt_top_by_names[PT_TOP_BY__COUNT]; /* as people read them */
extern const char *const pt_top_sort_names[PT_TOP_SORT__COUNT];

struct pt_top_view {
    enum pt_top_by by;
    enum pt_top_sort sort;
    bool is_for_people; /* the columns that a terminal has room for; else all */
};

/* What is shown is of those that run; of a run that has ended, of all. The counts of a stage or a rank of which
 * anything runs are those of its processes that have ended, too. `now` - `before` is the window of rates. */
struct pt_panel *pt_top_panel(struct pt_doc *doc, const struct pt_top_look *before, const struct pt_top_look *now,
                              const struct pt_top_phases *phases, const struct pt_top_view *view);

#endif

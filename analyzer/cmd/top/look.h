/* SPDX-License-Identifier: MIT
 *
 * top/look.h - a run at one instant, and what each of its processes did since an earlier one.
 */
#ifndef PT_CMD_TOP_LOOK_H
#define PT_CMD_TOP_LOOK_H

#include "facts/call_class.h"
#include "profile/open.h"
#include "util/process_stat.h"
#include "util/map.h"

/* What time went to, of all threads together. */
enum pt_top_part {
    PT_TOP_READ,
    PT_TOP_WRITE,
    PT_TOP_FILES, /* opens, metadata, directories */
    PT_TOP_NETWORK,
    PT_TOP_LOCK,
    PT_TOP_SLEEP,
    PT_TOP_WAIT, /* for descriptors, signals and messages */
    PT_TOP_CHILD,
    PT_TOP_PART__COUNT
};

/* Counts that only grow. */
struct pt_top_sums {
    pt_u64 steps, phases, cpu_ticks, gpu_kernels, allocations, allocated_bytes, releases;
    struct pt_kind_totals read, written;
    pt_u64 part_ns[PT_TOP_PART__COUNT];
};

/* As /proc has a process now. */
struct pt_top_outside {
    struct pt_process_stat stat; /* threads 0 = it does not run */
    pt_u64 anonymous_bytes;
    pt_i64 open_files; /* -1 = another user's */
};

struct pt_top_look {
    struct pt_run run;
    pt_u64 at_ns;
    struct pt_top_outside *outside; /* by process index */
    struct pt_top_sums *sums;       /* likewise */
    struct pt_map by_trace_id;      /* -> index, plus 1 */
    pt_u32 n_running;
};

/* Close it whatever the result. */
int pt_top_look_open(struct pt_top_look *look, const char *path, struct pt_error *err);
void pt_top_look_close(struct pt_top_look *look);

/* What had been done by an earlier look; all 0 = it was not there. */
struct pt_top_before {
    struct pt_top_sums sums; /* of the same image */
    bool is_cpu_known;       /* the kernel counts CPU time for the whole process, whatever it executed by then */
};
struct pt_top_before pt_top_before(const struct pt_top_look *earlier, const struct pt_top_look *now, pt_u32 index);

#endif

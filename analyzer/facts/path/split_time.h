/* SPDX-License-Identifier: MIT
 *
 * path/split_time.h - time that something took: on the critical path of a stage, in its workers, and in all that runs
 * beside them: other threads, processes that nobody waits for, ranks.
 *
 * The path could be shorter by all of its own part; by what others did no more than it waits for them.
 */
#ifndef PT_FACTS_PATH_SPLIT_TIME_H
#define PT_FACTS_PATH_SPLIT_TIME_H

#include "profile/profile.h"
#include "facts/time_union.h"

enum pt_whose { PT_ON_PATH, PT_OF_WORKERS, PT_BESIDE, PT_WHOSE__COUNT };

struct pt_split_time {
    struct pt_time_union of[PT_WHOSE__COUNT];
    pt_i64 path_waits_ns; /* of the path's: in calls that may be waits for others */
    pt_u32 more_parts;    /* what else of the path may be waits for those beside it: 1 << enum pt_time_part */
};

struct pt_critical_paths;
struct pt_span;

/* Mostly, of [start_ns, end_ns). A worker is one also where it is the path: the analysis `children` knows of that. */
enum pt_whose pt_whose_time(const struct pt_critical_paths *paths, const struct pt_thread *thread, pt_i64 start_ns,
                            pt_i64 end_ns);
static inline enum pt_whose pt_whose_event(const struct pt_critical_paths *paths, const struct pt_event *event)
{
    return pt_whose_time(paths, event->thread, event->start_ns, pt_event_end_ns(event));
}
/* Its main thread, in most of its life. */
enum pt_whose pt_whose_process(const struct pt_critical_paths *paths, const struct pt_process *process);

/* From start_ns to the end of the event. */
void pt_split_time_add(struct pt_split_time *time, const struct pt_critical_paths *paths, const struct pt_event *event,
                       pt_i64 start_ns);
/* The same where it is known whose it is. */
void pt_split_time_add_as(struct pt_split_time *time, enum pt_whose whose, const struct pt_critical_paths *paths,
                          const struct pt_event *event, pt_i64 start_ns);
/* Another time of the event's thread, in calls of a part. */
void pt_split_time_add_span(struct pt_split_time *time, const struct pt_critical_paths *paths,
                            const struct pt_event *event, const struct pt_span *span);
/* Waits of a process that did not overlap. */
void pt_split_time_add_waits(struct pt_split_time *time, const struct pt_critical_paths *paths,
                             const struct pt_process *process, pt_i64 ns);

/* How long the path is in calls in which it may wait for others; INFINITY = not known. After the last event. */
double pt_path_waits_s(const struct pt_profile *profile, pt_u32 stage);
/* What could be gained without it. Needs the metrics of the analysis `children`, and all events. */
struct pt_value pt_split_time_cost(const struct pt_split_time *time, const struct pt_profile *profile, pt_u32 stage);

/* The same of a part of it: the sums, over all threads, of what it took. */
struct pt_split_sum {
    double ns[PT_WHOSE__COUNT];
};
double pt_split_time_part_s(const struct pt_split_time *time, const struct pt_split_sum *part,
                            const struct pt_profile *profile, pt_u32 stage);

#endif

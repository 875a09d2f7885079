/* SPDX-License-Identifier: MIT
 *
 * python/places.h - where in Python time was spent in calls: python_place comes right before the event that it belongs
 * to. Sums by what the call was about, so that each row of a table can name the place of most of its time.
 *
 * Places are samples: each stands for the time of its thread's calls since the one before. Bounded: what finds no room
 * is left out; by then what costs much is there.
 */
#ifndef PT_FACTS_PYTHON_PLACES_H
#define PT_FACTS_PYTHON_PLACES_H

#include "decode/event.h"
#include "facts/wait_kind.h"
#include "profile/profile.h"
#include "util/map.h"

enum pt_place_subject {
    PT_PLACE_OF_FILE,     /* a: the stage, b: its absolute path, which is one for each */
    PT_PLACE_OF_LOCK,     /* a: index of the process, b: its address */
    PT_PLACE_OF_THREAD,   /* a: number of the thread, b: enum pt_time_part */
    PT_PLACE_OF_PART,     /* a: the stage, b: enum pt_time_part */
    PT_PLACE_OF_COMMANDS, /* a: index of the process that waits for those that it has started; b: 0 */
};

struct pt_place_sum {
    enum pt_place_subject subject;
    pt_u64 a, b;
    const struct pt_process *process; /* whose stack it is */
    pt_u32 stack;
    double s, main_s, worker_s; /* main threads of others and of workers are part of the first */
};

struct pt_python_places {
    struct pt_pending_place {
        pt_u32 stack;
        pt_u64 stands_for_ns;
    } * pending; /* by number of a thread */
    struct {
        PT_VEC(struct pt_place_sum);
    } sums;
    struct pt_map by_key;     /* hash of all but the times -> index in sums, plus 1 */
    struct pt_map by_subject; /* hash of the subject -> index of the sum that costs most, plus 1 */
};

void pt_python_places_open(struct pt_python_places *places, pt_u32 n_threads);
void pt_python_places_close(struct pt_python_places *places);

/* A python_place of a thread. */
void pt_python_places_note(struct pt_python_places *places, const struct pt_event *event, pt_u32 thread);
/* A call, with the part of the time account that it is; on the critical path of its process or not. */
void pt_python_places_call(struct pt_python_places *places, struct pt_profile *profile, const struct pt_event *event,
                           pt_u32 thread, enum pt_time_part part, bool is_critical);

/* After the last event: the one that costs most; NULL = no place is known. */
const struct pt_place_sum *pt_python_heaviest_place(const struct pt_python_places *places,
                                                    enum pt_place_subject subject, pt_u64 a, pt_u64 b);

/* The same as text: "data.py:41 Set.load" of what costs most; unknown where no place is known. */
struct pt_value pt_python_place_of(const struct pt_python_places *places, struct pt_profile *profile,
                                   enum pt_place_subject subject, pt_u64 a, pt_u64 b);

/* The same of a single stack. */
struct pt_value pt_python_place_of_stack(struct pt_profile *profile, const struct pt_process *process, pt_u32 stack);

/* The column of tables for it, and what a table without any place is without. */
#define PT_PYTHON_PLACE_COLUMN(row) PT_COLUMN(row, python_place, TEXT, "Python")
static inline const char *pt_without_python_place(const struct pt_python_places *places)
{
    return places->sums.n ? NULL : "python_place";
}

#endif

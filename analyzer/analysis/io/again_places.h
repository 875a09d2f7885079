/* SPDX-License-Identifier: MIT
 *
 * io/again_places.h - where in Python the files are read that are read again and again, or the commands started that
 * read them. Zeroed = none.
 */
#ifndef PT_ANALYSIS_IO_AGAIN_PLACES_H
#define PT_ANALYSIS_IO_AGAIN_PLACES_H

#include "facts/python/places.h"
#include "file_use.h"

struct pt_again_place {
    const struct pt_place_sum *place;
    double s;
};

struct pt_again_places {
    PT_VEC(struct pt_again_place);
    struct pt_map by_place; /* the place -> index, plus 1 */
};

/* A file, and what reading it again took. */
void pt_again_places_add(struct pt_again_places *places, const struct pt_profile *profile,
                         const struct pt_file_use *file, double s);
/* As stacks for the findings of a stage, and frees them. */
void pt_again_places_finish(struct pt_again_places *places, struct pt_profile *profile, pt_u32 stage);

#endif

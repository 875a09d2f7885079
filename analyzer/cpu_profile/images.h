/* SPDX-License-Identifier: MIT
 *
 * images.h - the code mappings of each process, from the kernel's records, so that they are known for processes that
 * have ended when their samples are read.
 */
#ifndef PT_CPU_PROFILE_IMAGES_H
#define PT_CPU_PROFILE_IMAGES_H

#include "code_modules.h"

struct pt_mapping {
    pt_u64 start, end, file_offset;
    struct pt_code_module *module;
};

/* By address, without overlaps. */
struct pt_image {
    PT_VEC(struct pt_mapping);
};

struct pt_images {
    struct pt_map by_pid; /* -> struct pt_image *; 0 = gone */
};

/* Of a living process; made when it was not known. */
struct pt_image *pt_images_of(struct pt_images *images, pt_u32 pid);
/* A fork has what its parent has; an exec has nothing. */
void pt_images_fork(struct pt_images *images, pt_u32 parent, pt_u32 child);
void pt_images_exec(struct pt_images *images, pt_u32 pid);
void pt_images_end(struct pt_images *images, pt_u32 pid);
void pt_images_fini(struct pt_images *images);

void pt_image_map(struct pt_image *image, const struct pt_mapping *mapping);
const struct pt_mapping *pt_image_find(const struct pt_image *image, pt_u64 address);

#endif

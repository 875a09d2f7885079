/* SPDX-License-Identifier: MIT
 *
 * image.h - the trace file of this process image: made at the first event, its header kept fresh.
 */
#ifndef PT_CORE_FILE_IMAGE_H
#define PT_CORE_FILE_IMAGE_H

#include "proftrace/format.h"

/* Reserve the wiped memory. -1 when the kernel refuses. */
int pt_image_reserve(void);
/* The live image, made now if this process has none yet; NULL when it cannot be had. Signals blocked. */
struct pt_image *pt_image_live(void);
/* A forked child for which there is no memory: it is counted, and records nothing. Signals blocked. */
void pt_image_give_up(enum pt_refusal why);
/* A forked child that must not make an image is counted, once. Makes no system call. */
void pt_image_refuse(void);
/* Refresh the header's clock pair, CPU time and peak RSS. */
void pt_image_refresh(void);
/* What is known of the host's Python, for this file's header and those of children forked from now on. */
void pt_image_set_python(const struct pt_python_header *python);
void pt_image_set_arguments(int argc, char **argv);

/* Not 0: the working directory is another one than the header names, so a relative name is not of that. Atomic. */
extern int pt_is_elsewhere __attribute__((visibility("hidden")));

#endif

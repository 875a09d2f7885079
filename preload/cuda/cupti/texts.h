/* SPDX-License-Identifier: MIT
 *
 * cupti/texts.h - the texts in GPU events as ids.
 */
#ifndef PT_CUDA_CUPTI_TEXTS_H
#define PT_CUDA_CUPTI_TEXTS_H

#include "state.h"

/* "device/context/stream", "-" where one is unknown. */
pt_u32 pt_cupti_queue(struct pt_cupti *c, pt_u32 device, pt_u32 context, pt_u32 stream);
/* Of the record of a kernel: "x,y,z x,y,z regs static+dynamic". */
pt_u32 pt_cupti_config(struct pt_cupti *c, const pt_u8 *kernel);
/* "device/kind" or "device/kind/pool" */
pt_u32 pt_cupti_place(pt_u32 device, pt_u32 kind, pt_u64 pool);
/* A name of CUPTI's by its pointer; 0 for NULL. */
pt_u32 pt_cupti_name(struct pt_cupti *c, pt_u64 pointer);

#endif

/* SPDX-License-Identifier: MIT
 *
 * chain_patch.h - one change to one trace file, and the head that its process would have as a small one.
 */
#ifndef PT_TESTS_CHAIN_PATCH_H
#define PT_TESTS_CHAIN_PATCH_H

#include <stdbool.h>

#include "chain_input.h"

void chain_patch_file(struct chain_file *file, const struct chain_patch *patch);
void chain_head_of(const struct chain_file *file, pt_u8 head[PT_HEAD_BYTES]);

#endif

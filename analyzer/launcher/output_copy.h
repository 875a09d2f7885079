/* SPDX-License-Identifier: MIT
 *
 * output_copy.h - what the halves of output.c share.
 */
#ifndef PT_LAUNCHER_OUTPUT_COPY_H
#define PT_LAUNCHER_OUTPUT_COPY_H

#include "output.h"

#define PT_OUTPUT_PIECE_BYTES (128u * 1024)

/* Put into the log what is not there yet, and count what could not be passed on. */
void pt_output_account(struct pt_output *output, struct pt_output_channel *channel);

#endif

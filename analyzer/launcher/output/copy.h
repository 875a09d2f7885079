/* SPDX-License-Identifier: MIT
 *
 * output/copy.h - what the halves of output.c share.
 */
#ifndef PT_LAUNCHER_OUTPUT_COPY_H
#define PT_LAUNCHER_OUTPUT_COPY_H

#include "output.h"

#define PT_OUTPUT_PIECE_BYTES (128u * 1024)

/* From now on reading tells when nobody else can write. */
void pt_output_close_child(struct pt_output_channel *channel);

/* With our own writing end closed: put what is still there into the log, and count what could not be passed on. True:
 * somebody else holds a writing end. */
bool pt_output_read_rest(struct pt_output *output, struct pt_output_channel *channel);

#endif

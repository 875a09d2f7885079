/* SPDX-License-Identifier: MIT
 *
 * own_file.h - the trace file of one process image.
 */
#ifndef PT_CORE_FILE_OWN_FILE_H
#define PT_CORE_FILE_OWN_FILE_H

#include "core/compiler.h"

/* The head moves to a file of this process's own, unless it has; -1 when limits or the disk refuse. Signals blocked, on
 * the private stack of an attached thread. */
int pt_own_file_make(void);
/* The same where the image is made, by the one thread that the process has. */
int pt_own_file_make_first(void);

#endif

/* SPDX-License-Identifier: MIT
 *
 * small_file.h - the file that the processes of a session share as long as they are small.
 */
#ifndef PT_CORE_FILE_SMALL_FILE_H
#define PT_CORE_FILE_SMALL_FILE_H

/* Append the head to it and map that in its place; -1 when it cannot be done, and the head is as it was. One thread, at
 * the start of a process image or in a forked child. */
int pt_small_file_append(void);

#endif

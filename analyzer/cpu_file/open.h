/* SPDX-License-Identifier: MIT
 *
 * cpu_file/open.h - opening a CPU profile: a regular file of this version, and nothing else. For cpu_data.c.
 */
#ifndef PT_CPU_FILE_OPEN_H
#define PT_CPU_FILE_OPEN_H

#include <stdbool.h>
#include <stdio.h>

#include "format.h"

/* NULL and errno when it cannot be read; a link, a FIFO or a device is EINVAL or ELOOP. */
FILE *pt_cpu_file_open(const char *path, pt_u64 *ret_bytes);
/* False for a foreign file, or one of another version; then the place in the file is anywhere. */
bool pt_cpu_file_read_header(FILE *file, struct pt_cpu_header *ret_header, pt_u64 *left_bytes);

#endif

/* SPDX-License-Identifier: MIT
 *
 * cpu_file/read.h - from the file of a profile to what it says: a regular file of this version, and nothing else.
 */
#ifndef PT_CPU_FILE_READ_H
#define PT_CPU_FILE_READ_H

#include "util/error.h"
#include "cpu_data.h"

/* 0 = there is none (*ret_data is NULL) or it was read; -1 = it is there and cannot be read. */
int pt_cpu_data_read(const char *directory, pt_u32 stage, struct pt_cpu_data **ret_data, struct pt_error *err);

/* Only when its threads began and ended; NULL = nothing is known. */
struct pt_cpu_data *pt_cpu_data_read_times(const char *directory, pt_u32 stage);

#endif

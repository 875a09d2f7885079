/* SPDX-License-Identifier: MIT
 *
 * cpu_file/jit_maps.h - the names of code that the processes of a stage made while they ran.
 */
#ifndef PT_CPU_FILE_JIT_MAPS_H
#define PT_CPU_FILE_JIT_MAPS_H

#include "cpu_data.h"

/* Sets data->jit_maps, where code ran that is in no file. */
void pt_jit_maps_read(struct pt_cpu_data *data, const char *directory, pt_u32 stage);

#endif

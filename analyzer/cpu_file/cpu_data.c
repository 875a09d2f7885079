/* SPDX-License-Identifier: MIT
 *
 * cpu_data.c - Owns: the memory of a CPU profile. Threads: any. Never: reads a file.
 */
#include "cpu_data.h"

#include <stdlib.h>

void pt_cpu_data_free(struct pt_cpu_data *data)
{
    if (!data)
        return;
    free(data->modules);
    free(data->python_names);
    free(data->threads);
    free(data->times);
    free(data->nodes);
    free(data->samples);
    free(data->waits);
    free(data->wait_sums);
    free(data->intervals);
    free(data->fault_sums);
    free(data->kernel);
    free(data->counts);
    for (size_t i = 0; data->jit_maps && i < data->n_threads; i++)
        pt_jit_map_free(data->jit_maps[i]);
    free(data->jit_maps);
    pt_arena_fini(&data->texts);
    free(data);
}

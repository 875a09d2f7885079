/* SPDX-License-Identifier: MIT
 *
 * Owns: finding the names of code that processes of a stage made. Threads: any. Never: asks for a file of each process:
 * few have one, and a stage may have a hundred thousand.
 */
#include "jit_maps.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"
#include "format.h"
#include "jit_map.h"

/* Whose names a file of the directory has: the number of a process's main thread; 0 = of none of this stage. */
static pt_u32 thread_of_jit_map(const char *file_name, pt_u32 stage)
{
    char expected[64];
    unsigned of_stage, thread;
    if (sscanf(file_name, PT_CPU_JIT_FORMAT, &of_stage, &thread) != 2 || of_stage != stage)
        return 0;
    snprintf(expected, sizeof expected, PT_CPU_JIT_FORMAT, of_stage, thread);
    return strcmp(file_name, expected) ? 0 : thread;
}

void pt_jit_maps_read(struct pt_cpu_data *data, const char *directory, pt_u32 stage)
{
    bool ran = false;
    for (size_t i = PT_CPU_MODULE__FIRST; i < data->n_modules && !ran; i++)
        ran = !*data->modules[i].path && i != data->python_module;
    DIR *listed = ran ? opendir(directory) : NULL;
    for (struct dirent *entry; listed && (entry = readdir(listed));) {
        const pt_u32 i = thread_of_jit_map(entry->d_name, stage);
        struct pt_jit_map *map = i && i < data->n_threads && data->threads[i].pid == data->threads[i].tid
                                     ? pt_jit_map_read(directory, stage, i)
                                     : NULL;
        if (map && !data->jit_maps)
            data->jit_maps = pt_calloc(data->n_threads, sizeof *data->jit_maps);
        if (map)
            data->jit_maps[i] = map;
    }
    if (listed)
        closedir(listed);
}

/* SPDX-License-Identifier: MIT
 *
 * fuzz_cpu.c - the readers of CPU profiles and of names of code made at run time on any bytes: whatever they give out,
 * stacks end, numbers exist and names are found.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/cpu/flame.h"
#include "analysis/cpu/python.h"
#include "analysis/cpu/tables.h"
#include "cpu_file/jit_map.h"
#include "cpu_file/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char directory[] = "/tmp/fuzz-cpu-XXXXXX", path[64];
    if (!path[0])
        snprintf(path, sizeof path, "%s/cpu-0.pcp", mkdtemp(directory) ? directory : ".");
    FILE *file = fopen(path, "we");
    if (!file)
        return 0;
    fwrite(data, 1, size, file);
    fclose(file);
    struct pt_error err = {0};
    struct pt_cpu_data *read = NULL;
    struct pt_cpu_view view;
    struct pt_metrics metrics = {0};
    if (pt_cpu_data_read(directory, 0, &read, &err) == 0 && read) {
        struct pt_symbols *symbols = pt_symbols_open(NULL);
        pt_cpu_view_of(&view, read, symbols);
        pt_cpu_tables(&metrics, pt_scope_run(), &view);
        pt_cpu_python(&metrics, pt_scope_run(), &view);
        pt_cpu_flame(&metrics, pt_scope_run(), &view);
        pt_cpu_view_close(&view);
        pt_symbols_close(symbols);
        pt_cpu_data_free(read);
    }
    pt_metrics_free(&metrics);
    struct pt_jit_map *names = pt_jit_map_of_text((const char *)data, size);
    for (size_t i = 0; names && i < names->n; i++)
        if (!pt_jit_map_find(names, names->items[i].start))
            abort();
    pt_jit_map_free(names);
    unlink(path);
    return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * layers.c - Owns: the proof that a layer was not recorded: the library does not know its events, or the user switched
 * it off. Threads: one, while the session is opened. Never: takes a layer without events for one that was not recorded.
 */
#include "layers.h"

#include "proftrace/events.h"
#include "decode/schema_table.h"
#include "source/trace_file.h"

static const struct {
    const char *name;
    pt_u32 option;
    pt_u16 row; /* an event that every library with this layer has */
} layers[PT_LAYER__COUNT] = {
    [PT_LAYER_IO] = {"io", PT_OPTION_IO, PT_ROW_io_read},
    [PT_LAYER_STDIO] = {"stdio", PT_OPTION_STDIO, PT_ROW_stdio_read},
    [PT_LAYER_LOCKS] = {"locks", PT_OPTION_LOCKS, PT_ROW_lock_mutex},
    [PT_LAYER_WAITS] = {"waits", PT_OPTION_WAITS, PT_ROW_wait_poll},
    [PT_LAYER_NET] = {"net", PT_OPTION_NET, PT_ROW_net_receive},
};

const char *pt_layer_name(enum pt_layer layer)
{
    return layers[layer].name;
}

pt_u32 pt_layer_option(enum pt_layer layer)
{
    return layers[layer].option;
}

static bool knows_row(const struct pt_schema *schema, pt_u16 row)
{
    for (size_t i = 0; i < PT_TOTALS_ROWS; i++)
        if (schema->rows[i] == row)
            return true;
    return false;
}

void pt_process_fill_layers(struct pt_process *process, const struct pt_schema *schema)
{
    const pt_u32 options = process->file->header.options;
    for (int layer = 0; layer < PT_LAYER__COUNT; layer++) {
        if (!knows_row(schema, layers[layer].row))
            process->layers_unknown |= 1u << layer;
        else if ((options & PT_OPTION_LAYERS) && !(options & layers[layer].option))
            process->layers_off |= 1u << layer;
    }
}

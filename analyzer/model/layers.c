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
    pt_u16 kind; /* an event that every library with this layer has */
} layers[PT_LAYER__COUNT] = {
    [PT_LAYER_IO] = {"io", PT_OPTION_IO, PT_KIND_io_read},
    [PT_LAYER_STDIO] = {"stdio", PT_OPTION_STDIO, PT_KIND_stdio_read},
    [PT_LAYER_LOCKS] = {"locks", PT_OPTION_LOCKS, PT_KIND_lock_mutex},
    [PT_LAYER_WAITS] = {"waits", PT_OPTION_WAITS, PT_KIND_wait_poll},
    [PT_LAYER_NET] = {"net", PT_OPTION_NET, PT_KIND_net_receive},
};

const char *pt_layer_name(enum pt_layer layer)
{
    return layers[layer].name;
}

pt_u32 pt_layer_option(enum pt_layer layer)
{
    return layers[layer].option;
}

static bool knows_kind(const struct pt_schema *schema, pt_u16 kind)
{
    for (size_t i = 0; i < PT_TOTALS_ROWS; i++)
        if (schema->kind_of_row[i] == kind)
            return true;
    return false;
}

void pt_process_fill_layers(struct pt_process *process, const struct pt_schema *schema)
{
    const pt_u32 options = process->file->header->options;
    for (int layer = 0; layer < PT_LAYER__COUNT; layer++) {
        if (!knows_kind(schema, layers[layer].kind))
            process->layers_unknown |= 1u << layer;
        else if ((options & PT_OPTION_LAYERS) && !(options & layers[layer].option))
            process->layers_off |= 1u << layer;
    }
}

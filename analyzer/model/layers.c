/* SPDX-License-Identifier: MIT
 *
 * layers.c - Owns: the proof that a layer was not recorded: the library does not know its events, or the user switched
 * it off. Threads: one, while the session is opened. Never: takes a layer without events for one that was not recorded.
 */
#include "layers.h"

#include <string.h>

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

/* By the category of an event; WAIT has two. */
enum {
    LAYER_HEAP = PT_LAYER__COUNT,
    LAYER_MAP = PT_LAYER__COUNT,
    LAYER_CLOCK = PT_LAYER__COUNT,
    LAYER_PYTHON = PT_LAYER__COUNT,
    LAYER_USER = PT_LAYER__COUNT,
    LAYER_CUDA = PT_LAYER__COUNT,
    LAYER_GPU = PT_LAYER__COUNT,
    LAYER_IO = PT_LAYER_IO,
    LAYER_META = PT_LAYER_IO,
    LAYER_PROC = PT_LAYER_IO,
    LAYER_STDIO = PT_LAYER_STDIO,
    LAYER_WAIT = PT_LAYER_WAITS,
    LAYER_NET = PT_LAYER_NET,
};

static const struct {
    const char *name;
    pt_u8 layer;
} kinds[PT_KIND__COUNT] = {
#define EVENT(id, name, category, role, doc, ...) [PT_KIND_##name] = {#name, LAYER_##category},
#include "proftrace/events.def"
#undef EVENT
};

enum pt_layer pt_layer_of_kind(pt_u32 kind)
{
    if (kind >= PT_KIND__COUNT || !kinds[kind].name || kind == PT_KIND_thread_start)
        return PT_LAYER__COUNT;
    return strncmp(kinds[kind].name, "lock_", 5) ? (enum pt_layer)kinds[kind].layer : PT_LAYER_LOCKS;
}

const char *pt_process_why_no_layers(const struct pt_process *process, pt_u32 which)
{
    static const char *const were_off[] = {
        [PT_LAYER_IO] = "not recorded: PROFTRACE_IO was off",
        [PT_LAYER_STDIO] = "not recorded: PROFTRACE_STDIO was off",
        [PT_LAYER_LOCKS] = "not recorded: PROFTRACE_LOCKS was off",
        [PT_LAYER_WAITS] = "not recorded: PROFTRACE_WAITS was off",
        [PT_LAYER_NET] = "not recorded: PROFTRACE_NET was off",
    };
    static const char *const are_old[] = {
        [PT_LAYER_IO] = "recorded by an older library, without 'io'",
        [PT_LAYER_STDIO] = "recorded by an older library, without 'stdio'",
        [PT_LAYER_LOCKS] = "recorded by an older library, without 'locks'",
        [PT_LAYER_WAITS] = "recorded by an older library, without 'waits'",
        [PT_LAYER_NET] = "recorded by an older library, without 'net'",
    };
    const pt_u32 off = process->layers_off & which, unknown = process->layers_unknown & which;
    return off ? were_off[__builtin_ctz(off)] : unknown ? are_old[__builtin_ctz(unknown)] : NULL;
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

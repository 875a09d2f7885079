/* SPDX-License-Identifier: MIT
 *
 * layers.h - which families of calls a process did not record, and whether by choice.
 */
#ifndef PT_MODEL_LAYERS_H
#define PT_MODEL_LAYERS_H

#include "session_types.h"

struct pt_schema;

/* A family of calls that can be switched off by itself, or may be newer than the library that recorded. */
enum pt_layer { PT_LAYER_IO, PT_LAYER_STDIO, PT_LAYER_LOCKS, PT_LAYER_WAITS, PT_LAYER_NET, PT_LAYER__COUNT };

/* "locks"; as in the library's options. */
const char *pt_layer_name(enum pt_layer layer);
/* The bit of the file header's options that says that it was recorded. */
pt_u32 pt_layer_option(enum pt_layer layer);
/* The layer that the calls of a kind belong to; PT_LAYER__COUNT = none: they are always recorded. */
enum pt_layer pt_layer_of_kind(pt_u32 kind);
/* Why calls of these layers (1 << enum pt_layer) are not all known of a process; NULL = they are. */
const char *pt_process_why_no_layers(const struct pt_process *process, pt_u32 which);
/* Set layers_off and layers_unknown from the header of the process's file and the schema that it carries. */
void pt_process_fill_layers(struct pt_process *process, const struct pt_schema *schema);

#endif

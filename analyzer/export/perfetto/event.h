/* SPDX-License-Identifier: MIT
 *
 * perfetto/event.h - category, name and fields of a slice in a Perfetto trace.
 */
#ifndef PT_EXPORT_PERFETTO_EVENT_H
#define PT_EXPORT_PERFETTO_EVENT_H

#include "export/timeline/types.h"
#include "intern.h"
#include "packet.h"

/* A field of the event as an annotation. */
struct pt_perfetto_field {
    pt_u64 key;
    enum pt_annotation_field type;
    pt_u64 value;
};

struct pt_perfetto_named {
    pt_u64 category, name;
    pt_u32 n_fields;
    struct pt_perfetto_field fields[PT_MAX_FIELDS]; /* those that viewers show */
};

/* All texts of a slice become numbers: first, because that may write packets of its own. */
void pt_perfetto_name(struct pt_perfetto_intern *intern, const struct pt_timeline_slice *slice,
                      struct pt_perfetto_named *ret_named);
char *pt_perfetto_put_fields(char *at, const struct pt_perfetto_named *named);

#endif

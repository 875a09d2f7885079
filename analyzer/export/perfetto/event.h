/* SPDX-License-Identifier: MIT
 *
 * perfetto/event.h - category, name and fields of a slice in a Perfetto trace.
 */
#ifndef PT_EXPORT_PERFETTO_EVENT_H
#define PT_EXPORT_PERFETTO_EVENT_H

#include "export/timeline/types.h"
#include "intern.h"

struct pt_perfetto_named {
    const struct pt_perfetto_kind *kind;
    pt_u64 category, name;
    pt_u64 texts[PT_MAX_FIELDS]; /* of the event's fields; 0 = none */
};

/* All texts of a slice become numbers: first, because that may write packets of its own. */
void pt_perfetto_name(struct pt_perfetto_intern *intern, const struct pt_timeline_slice *slice,
                      struct pt_perfetto_named *ret_named);
char *pt_perfetto_put_fields(char *at, const struct pt_event *event, const struct pt_perfetto_named *named,
                             pt_u64 error_key);

#endif

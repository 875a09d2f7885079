/* SPDX-License-Identifier: MIT
 *
 * perfetto/intern.h - numbers for texts that a Perfetto trace says again and again, each text written once.
 */
#ifndef PT_EXPORT_PERFETTO_INTERN_H
#define PT_EXPORT_PERFETTO_INTERN_H

#include "decode/event.h"
#include "export/out/sink.h"
#include "util/map.h"

/* Each has numbers of its own; the values are the fields of InternedData. */
enum pt_perfetto_texts {
    PT_PERFETTO_CATEGORIES = 1,
    PT_PERFETTO_NAMES = 2,
    PT_PERFETTO_KEYS = 3,
    PT_PERFETTO_VALUES = 29,
    PT_PERFETTO_TEXTS__COUNT = 4
};

/* What slices of one event kind have in common. */
struct pt_perfetto_kind {
    bool is_ready;
    pt_u64 category, name;
    pt_u64 keys[PT_MAX_FIELDS];
};

struct pt_perfetto_intern {
    struct pt_sink *sink;
    struct pt_intern texts;
    struct pt_map by_text[PT_PERFETTO_TEXTS__COUNT]; /* by address of the one copy */
    struct pt_map by_key[PT_PERFETTO_TEXTS__COUNT];  /* by the caller's key */
    struct pt_perfetto_kind kinds[256];              /* by event id */
    pt_u64 error_key;
};

/* The number of a text, which may write a packet. Of equal keys but 0 the caller knows that the texts are equal. */
pt_u64 pt_perfetto_text(struct pt_perfetto_intern *intern, enum pt_perfetto_texts texts, pt_u64 key, const char *text);
const struct pt_perfetto_kind *pt_perfetto_kind(struct pt_perfetto_intern *intern, const struct pt_event_desc *desc);
void pt_perfetto_intern_free(struct pt_perfetto_intern *intern);

#endif

/* SPDX-License-Identifier: MIT
 *
 * perfetto/intern.c - Owns: the texts that were written and their numbers. One thread. Never: writes a text twice. */
#include "intern.h"

#include "export/timeline/event_text.h"
#include "packet.h"

static pt_u32 index_of(enum pt_perfetto_texts texts)
{
    return texts == PT_PERFETTO_VALUES ? 3 : (pt_u32)texts - 1;
}

static void write_text(struct pt_sink *sink, enum pt_perfetto_texts texts, pt_u64 number, const char *text)
{
    char *const packet = pt_proto_begin(pt_sink_room(sink), PT_TRACE_PACKET);
    char *const data = pt_proto_begin(pt_perfetto_sequence(packet), PT_PACKET_INTERNED_DATA);
    char *const entry = pt_proto_begin(data, (pt_u32)texts);
    char *at = pt_proto_u64(entry, 1, number);
    at = pt_proto_text(at, 2, text);
    at = pt_proto_end(entry, at);
    at = pt_proto_end(data, at);
    pt_sink_wrote(sink, pt_proto_end(packet, at));
}

pt_u64 pt_perfetto_text(struct pt_perfetto_intern *intern, enum pt_perfetto_texts texts, pt_u64 key, const char *text)
{
    const pt_u32 index = index_of(texts);
    uint64_t *known = key ? pt_map_find(&intern->by_key[index], key) : NULL;
    if (known)
        return *known;
    const char *copy = pt_intern_text(&intern->texts, text ? text : "");
    uint64_t *number = pt_map_at(&intern->by_text[index], (uintptr_t)copy);
    if (!*number) {
        *number = intern->by_text[index].n;
        write_text(intern->sink, texts, *number, copy);
    }
    const pt_u64 found = *number;
    if (key)
        *pt_map_at(&intern->by_key[index], key) = found;
    return found;
}

const struct pt_perfetto_kind *pt_perfetto_kind(struct pt_perfetto_intern *intern, const struct pt_event_desc *desc)
{
    struct pt_perfetto_kind *kind = &intern->kinds[desc->id];
    if (kind->is_ready)
        return kind;
    kind->category = pt_perfetto_text(intern, PT_PERFETTO_CATEGORIES, 0, pt_category_name(desc->category));
    kind->name = pt_perfetto_text(intern, PT_PERFETTO_NAMES, 0, pt_event_short_name(desc));
    for (pt_u32 i = 0; i < desc->n_fields; i++)
        kind->keys[i] = pt_perfetto_text(intern, PT_PERFETTO_KEYS, 0, desc->fields[i].name);
    intern->error_key = pt_perfetto_text(intern, PT_PERFETTO_KEYS, 0, "error");
    kind->is_ready = true;
    return kind;
}

void pt_perfetto_intern_free(struct pt_perfetto_intern *intern)
{
    for (pt_u32 i = 0; i < PT_PERFETTO_TEXTS__COUNT; i++) {
        pt_map_fini(&intern->by_text[i]);
        pt_map_fini(&intern->by_key[i]);
    }
    pt_intern_fini(&intern->texts);
}

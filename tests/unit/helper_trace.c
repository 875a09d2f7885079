/* SPDX-License-Identifier: MIT
 *
 * helper_trace.c - Owns: traces made for tests.
 */
#include "helper_trace.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proftrace/codec.h"
#include "proftrace/events.h"
#include "merge/feed.h"
#include "model/text/write.h"
#include "util/auto.h"

struct pt_trace_writer *helper_writer(void)
{
    static const char *const texts[] = {"/usr/bin/test", "/home/user", "train", "host",
                                        "test",          "2",          "test",  "argument"};
    struct pt_trace_writer *w = pt_trace_writer_new();
    struct pt_file_header *h = pt_writer_header(w);
    h->pid = 100;
    h->ppid = 1;
    h->trace_id = 0x1234;
    h->clock_base = 1000000000;
    h->clock_first = (struct pt_clock_pair){h->clock_base, h->clock_base};
    h->realtime_ns = 1700000000000000000ull;
    h->heap_mode = PT_HEAP_FULL;
    strcpy(h->boot_id, "boot");
    h->rank_plus_1 = 1;
    h->local_rank_plus_1 = 1;
    h->world_size = 2;
    pt_writer_text(w, texts, sizeof texts / sizeof texts[0]);
    return w;
}

struct pt_record helper_record(const struct pt_event_desc *desc, pt_u64 ticks, pt_u64 seed)
{
    struct pt_event event = {.desc = desc, .tag = -1};
    for (pt_u32 i = 0; i < desc->n_fields; i++) {
        const struct pt_field_desc *field = &desc->fields[i];
        const pt_u64 value = seed + i;
        if (field->place == PT_FIELD_AUX)
            event.aux = (pt_u32)value;
        else if (field->place == PT_FIELD_TAG)
            event.tag = (pt_i32)(value & 0x7fffff);
        else
            memcpy(event.payload + field->offset, &value, field->bytes);
    }
    struct pt_record record = {
        .stamp = ticks << PT_GENERATION_BITS,
        .aux = desc->role == PT_ROLE_SPAN ? pt_duration_pack(10 + seed % 5) : event.aux,
        .tag_kind = (pt_u32)event.tag << 8 | desc->id,
    };
    memcpy(record.payload, event.payload, sizeof record.payload);
    return record;
}

struct pt_trace_writer *helper_sample(void)
{
    struct pt_trace_writer *w = helper_writer();
    const pt_u64 frames[] = {0x401000, 0x401200, 0x7f0000001234};
    const struct pt_def_module module = {.start = 0x400000, .end = 0x500000, .build_id_bytes = 4};
    pt_u64 ticks = 1000;
    for (pt_u32 i = 0; i < 12; i++) {
        char name[32];
        snprintf(name, sizeof name, "/data/file-%u", i);
        pt_writer_string(w, name, (pt_u32)strlen(name));
    }
    pt_writer_stack(w, frames, 3);
    pt_writer_module(w, &module, 5, "\1\2\3\4", "/usr/bin/test");
    pt_writer_define(w, PT_DEF_UNTRACED, 1, 6, "static", 6);
    for (pt_u32 round = 0; round < 3; round++) {
        for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++) {
            const struct pt_event_desc *desc = &pt_event_descs[kind];
            const pt_u32 slot = kind & 1, tid = 100 + slot;
            ticks += 100;
            if (desc->role == PT_ROLE_UNIT) {
                const struct pt_unit16 unit = {(pt_u64)(0x7f0000000000 + kind * 64) << 16 | (pt_u64)desc->id
                                                                                                << PT_GENERATION_BITS,
                                               pt_unit_has_size(desc->id) ? kind * 100u : 0};
                pt_writer_unit(w, slot, 1, tid, ticks, unit);
                continue;
            }
            const struct pt_record record = helper_record(desc, ticks, kind % 7 + 1);
            pt_writer_record(w, slot, 1, tid, &record);
            pt_totals_add(&pt_writer_area(w, slot)->totals[0][kind], desc, record.payload, 0);
        }
        pt_writer_coding(w, (enum pt_block_coding)round); /* each way of storing a block */
        pt_writer_flush(w, 0);
        pt_writer_flush(w, 1);
    }
    pt_writer_area(w, 0)->tid = 100;
    pt_writer_area(w, 1)->tid = 101;
    return w;
}

struct helper_file helper_file(const void *bytes, size_t n)
{
    struct helper_file file = {.fd = memfd_create("trace", MFD_CLOEXEC)};
    assert_true(file.fd >= 0);
    assert_int_equal(write(file.fd, bytes, n), n);
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.fd);
    return file;
}

void helper_close(struct helper_file *file)
{
    close(file->fd);
}

struct pt_session *helper_session(struct pt_trace_writer *writer)
{
    pt_u64 n;
    const pt_u8 *bytes = pt_writer_finish(writer, &n);
    struct helper_file file = helper_file(bytes, n);
    struct pt_error err = {0};
    struct pt_session *session = pt_session_open(file.path, &err);
    if (!session)
        fail_msg("%s", err.text);
    helper_close(&file); /* the session has its own descriptor */
    return session;
}

size_t helper_read(struct pt_session *session, struct pt_event *ret_events, size_t room)
{
    struct pt_error err = {0};
    PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(session, NULL, &err);
    struct pt_event event;
    size_t n = 0;
    while (feed->next(feed, &event, &err) > 0) {
        if (n < room)
            ret_events[n] = event;
        n++;
    }
    return n;
}

int helper_digest(const char *path)
{
    struct pt_error err = {0};
    PT_AUTO(pt_session_closep) struct pt_session *session = pt_session_open(path, &err);
    if (!session)
        return 0;
    PT_AUTO(pt_fclosep) FILE *nowhere = fopen("/dev/null", "we");
    pt_session_write_text(session, nowhere, &err);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        pt_process_absolute_path(session->processes[i], 1, 2);
        pt_process_module(session->processes[i], 0x401000, 0);
    }
    return 1;
}

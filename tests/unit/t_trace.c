/* SPDX-License-Identifier: MIT
 *
 * t_trace.c - what is written is read: every event kind, every way of storing a block, raw buffers, duplicates, totals.
 */
#include "proftrace/payloads.h"
#include "helper_trace.h"

#include <stdlib.h>
#include <string.h>

#include "merge/feed.h"
#include "model/session_feed.h"
#include "source/open.h"
#include "util/auto.h"

static void every_kind_comes_back(void **state)
{
    (void)state;
    struct pt_trace_writer *w = helper_writer();
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++) {
        const struct pt_event_desc *desc = &pt_event_descs[kind];
        if (desc->role == PT_ROLE_UNIT)
            continue;
        const struct pt_record record = helper_record(desc, 1000 + kind * 100, kind * 1000003ull);
        pt_writer_record(w, 0, 1, 100, &record);
    }
    struct pt_session *session = helper_session(w);
    static struct pt_event events[PT_KIND__COUNT];
    const size_t n = helper_read(session, events, PT_KIND__COUNT);
    size_t at = 0;
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++) {
        const struct pt_event_desc *desc = &pt_event_descs[kind];
        if (desc->role == PT_ROLE_UNIT)
            continue;
        const struct pt_record record = helper_record(desc, 1000 + kind * 100, kind * 1000003ull);
        assert_true(at < n);
        const struct pt_event *event = &events[at++];
        assert_string_equal(event->desc->name, desc->name);
        assert_int_equal(event->start_ns, 1000 + kind * 100 - (session->processes[0]->start_ns));
        assert_int_equal(event->duration_ns, desc->role == PT_ROLE_SPAN ? (pt_i64)pt_duration_ticks(record.aux) : 0);
        assert_int_equal(event->aux, desc->role == PT_ROLE_SPAN ? 0 : record.aux);
        assert_int_equal(event->tag, (pt_i32)record.tag_kind >> 8);
        assert_memory_equal(event->payload, record.payload, 16);
        assert_int_equal(event->thread->tid, 100);
    }
    assert_int_equal(at, n);
    pt_session_close(session);
    pt_trace_writer_free(w);
}

static bool is_asked_for(const struct pt_event *event, const struct pt_filter *filter)
{
    const pt_u32 category = event->desc->category;
    const bool must_be_long = !filter->long_categories || category & filter->long_categories;
    return (!filter->categories || category & filter->categories) &&
           (!must_be_long || event->duration_ns >= filter->min_duration_ns);
}

/* Left out where a block is decoded: nothing else may be missing, nor come in another order. */
static void a_filter_leaves_out_what_it_says(void **state)
{
    (void)state;
    static const struct pt_filter filters[] = {
        {.categories = PT_CATEGORY_WAIT | PT_CATEGORY_PROC},
        {.min_duration_ns = 13},
        {.categories = PT_CATEGORY_WAIT | PT_CATEGORY_HEAP, .min_duration_ns = 13},
        {.categories = PT_CATEGORY_WAIT | PT_CATEGORY_IO, .long_categories = PT_CATEGORY_IO, .min_duration_ns = 13}};
    static struct pt_event all[4 * PT_KIND__COUNT];
    struct pt_trace_writer *w = helper_sample();
    struct pt_session *session = helper_session(w);
    const size_t n = helper_read(session, all, sizeof all / sizeof *all);
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        struct pt_error err = {0};
        PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(session, &filters[i], &err);
        struct pt_event event;
        size_t at = 0, delivered = 0;
        for (; feed->next(feed, &event, &err) > 0; delivered++) {
            while (at < n && !is_asked_for(&all[at], &filters[i]))
                at++;
            assert_true(at < n);
            assert_ptr_equal(event.desc, all[at].desc);
            assert_int_equal(event.start_ns, all[at].start_ns);
            assert_int_equal(event.duration_ns, all[at++].duration_ns);
        }
        while (at < n && !is_asked_for(&all[at], &filters[i]))
            at++;
        assert_int_equal(at, n);
        assert_true(delivered > 0 && delivered < n);
    }
    pt_session_close(session);
    pt_trace_writer_free(w);
}

static void heap_units_are_spread_between_clocks(void **state)
{
    (void)state;
    struct pt_trace_writer *w = helper_writer();
    for (pt_u64 i = 0; i < 64; i++) {
        struct pt_unit16 unit = {0x1000 + i * 16, 24};
        unit.head = (0x1000 + i * 16) << 16 | (pt_u64)PT_EV_heap_malloc << PT_GENERATION_BITS;
        if (i % 16 == 0)
            unit = (struct pt_unit16){PT_UNIT_CLOCK << PT_GENERATION_BITS, 1000 + i * 100};
        pt_writer_plain_unit(w, 0, 1, 100, unit);
    }
    struct pt_session *session = helper_session(w);
    struct pt_event events[64];
    assert_int_equal(helper_read(session, events, 64), 60);
    const pt_i64 zero = events[0].start_ns;
    for (int i = 1; i < 60; i++) {
        assert_true(events[i].start_ns >= events[i - 1].start_ns);
        assert_int_equal(events[i].words[0], events[i - 1].words[0] + (i % 15 ? 16 : 32));
    }
    assert_in_range(events[15].start_ns - zero, 1599, 1600);
    assert_in_range(events[22].start_ns - zero, 1600 + 740, 1600 + 750);
    assert_in_range(events[59].start_ns - zero, 4800, 6400);
    pt_session_close(session);
    pt_trace_writer_free(w);
}

static void raw_buffers_are_read_and_duplicates_are_not(void **state)
{
    (void)state;
    const struct pt_event_desc *desc = pt_event_desc_by_name("io_read");
    struct pt_trace_writer *w = helper_writer();
    pt_writer_area(w, 0)->tid = 100;
    for (pt_u64 i = 0; i < 10; i++) {
        const struct pt_record record = helper_record(desc, 1000 + i, i);
        pt_writer_record(w, 0, 1, 100, &record);
        if (i == 5)
            pt_writer_flush(w, 0);
    }
    pt_writer_keep_raw(w, true);
    pt_u64 n;
    const pt_u8 *bytes = pt_writer_finish(w, &n);
    struct pt_session *session = helper_session(w);
    assert_int_equal(helper_read(session, NULL, 0), 10);
    assert_int_equal(session->quality.events, 10);
    assert_int_equal(session->quality.overwritten, 0);
    pt_session_close(session);

    /* Killed between publishing a block and resetting the buffer: the buffer still carries the block's sequence. */
    pt_u8 *copy = malloc(n);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    struct pt_file_header header;
    memcpy(&header, copy, sizeof header);
    struct pt_thread_area *area = (struct pt_thread_area *)(void *)(copy + header.header_bytes);
    area->raw[PT_BUFFER_RECORDS].sequence = 1ull << PT_GENERATION_BITS | 2;
    area->raw[PT_BUFFER_RECORDS].flushed_events = 0;
    struct helper_file file = helper_file(copy, n);
    struct pt_error err = {0};
    session = pt_session_open(file.path, &err);
    assert_non_null(session);
    assert_int_equal(helper_read(session, NULL, 0), 6);
    assert_int_equal(session->quality.events, 6);
    assert_int_equal(session->quality.overwritten, 0);
    pt_session_close(session);
    helper_close(&file);
    free(copy);
    pt_trace_writer_free(w);
}

/* What devices report comes in blocks that overlap in time, each in no order; a call is the event of the thread that
 * made it. */
static void what_devices_report_is_put_in_order(void **state)
{
    (void)state;
    const struct pt_event_desc *kernel = pt_event_desc_by_name("gpu_kernel"),
                               *call = pt_event_desc_by_name("cuda_call"), *read = pt_event_desc_by_name("io_read");
    struct pt_trace_writer *w = helper_writer();
    pt_writer_area(w, 0)->tid = 100;
    pt_writer_area(w, 1)->tid = PT_DEVICE_TID;
    for (pt_u64 i = 0; i < 8; i++) {
        const struct pt_record record = helper_record(read, 1000 + 1000 * i, i);
        pt_writer_record(w, 0, 1, 100, &record);
    }
    static const pt_u64 ticks[] = {5500, 1500, 3500, 2500, 7500, 4500, 500, 6500};
    for (int i = 0; i < 8; i++) {
        struct pt_record record = helper_record(i % 2 ? call : kernel, ticks[i], (pt_u64)i);
        record.aux = pt_duration_pack(100);
        ((struct pt_ev_cuda_call *)(void *)record.payload)->tid = i % 2 ? 100 : 0;
        pt_writer_record(w, 1, 1, PT_DEVICE_TID, &record);
        if (i % 3 == 2)
            pt_writer_flush(w, 1);
    }
    struct pt_session *session = helper_session(w);
    struct pt_event events[16];
    assert_int_equal(helper_read(session, events, 16), 16);
    for (int i = 0; i < 16; i++) {
        assert_true(!i || pt_event_end_ns(&events[i - 1]) <= pt_event_end_ns(&events[i]));
        assert_int_equal(events[i].thread->tid, events[i].desc == kernel ? PT_DEVICE_TID : 100);
        assert_true(events[i].desc == read || events[i].duration_ns == 100);
    }
    pt_session_close(session);
    pt_trace_writer_free(w);
}

static void totals_are_bank_plus_what_it_does_not_cover(void **state)
{
    (void)state;
    const struct pt_event_desc *desc = pt_event_desc_by_name("io_read");
    struct pt_trace_writer *w = helper_writer();
    struct pt_thread_area *area = pt_writer_area(w, 0);
    area->tid = 100;
    area->totals[0][PT_KIND_io_read] = (struct pt_totals){1000, 1, 5000, 77};
    for (pt_u64 i = 0; i < 3; i++) {
        struct pt_record record = helper_record(desc, 1000 + i, 0);
        const pt_i32 result = i == 2 ? -5 : 100;
        memcpy(record.payload, &result, sizeof result);
        pt_writer_record(w, 0, 1, 100, &record);
        pt_writer_flush(w, 0);
    }
    pt_u64 n;
    const pt_u8 *bytes = pt_writer_finish(w, &n);
    pt_u8 *copy = malloc(n);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    struct pt_file_header header;
    memcpy(&header, copy, sizeof header);
    area = (struct pt_thread_area *)(void *)(copy + header.header_bytes);
    area->totals_seq = 1; /* block 1 is in bank 1; 2 and 3 are not; bank 0 is half written */
    memset(area->totals[0], 0xee, sizeof area->totals[0]);
    struct helper_file file = helper_file(copy, n);
    struct pt_error err = {0};
    struct pt_session *session = pt_session_open(file.path, &err);
    assert_non_null(session);
    const struct pt_kind_totals *totals = pt_totals_of(session->processes[0]->totals, PT_KIND_io_read);
    assert_int_equal(totals->calls, 1002);
    assert_int_equal(totals->errors, 2);
    assert_int_equal(totals->bytes, 5100);
    assert_int_equal(totals->ns, 77 + 20);
    assert_int_equal(pt_totals_of(session->processes[0]->threads[0].totals, PT_KIND_io_read)->calls, 1002);
    pt_session_close(session);
    helper_close(&file);
    free(copy);
    pt_trace_writer_free(w);
}

static void holes_are_stepped_over(void **state)
{
    (void)state;
    struct pt_trace_writer *w = helper_sample();
    pt_u64 n;
    const pt_u8 *bytes = pt_writer_finish(w, &n);
    pt_u8 *copy = malloc(n + 2 * PT_PAGE_BYTES);
    assert_non_null(copy);
    struct pt_file_header header;
    memcpy(&header, bytes, sizeof header);
    /* Two pages that were reserved and never set up, before the first segment. */
    memcpy(copy, bytes, header.header_bytes);
    memset(copy + header.header_bytes, 0, 2 * PT_PAGE_BYTES);
    memcpy(copy + header.header_bytes + 2 * PT_PAGE_BYTES, bytes + header.header_bytes, n - header.header_bytes);
    /* A definition that was never committed: the second string. */
    for (pt_u64 at = header.header_bytes, seen = 0; at + 8 < n; at += 8) {
        const pt_u32 magic = PT_DEF_MAGIC;
        if (!memcmp(copy + at, &magic, 4) && ++seen == 2) {
            memset(copy + at, 0, 8);
            break;
        }
    }
    struct helper_file file = helper_file(copy, n + 2 * PT_PAGE_BYTES);
    struct pt_error err = {0};
    struct pt_session *session = pt_session_open(file.path, &err);
    assert_non_null(session);
    const struct pt_process *p = session->processes[0];
    assert_int_equal(helper_read(session, NULL, 0), 3 * PT_KIND__COUNT);
    assert_string_equal(pt_process_string(p, 1), "/data/file-0");
    assert_null(pt_process_string(p, 2));
    assert_string_equal(pt_process_string(p, 3), "/data/file-2");
    assert_int_equal(p->n_untraced, 1);
    assert_string_equal(p->untraced[0].reason, "static");
    const pt_u64 *frames;
    assert_int_equal(pt_process_stack(p, 1, &frames), 3);
    assert_int_equal(frames[2], 0x7f0000001234);
    assert_string_equal(pt_process_module(p, 0x401000, 100)->path, "/usr/bin/test");
    pt_session_close(session);
    helper_close(&file);
    free(copy);
    pt_trace_writer_free(w);
}

static void what_is_not_a_trace_is_named(void **state)
{
    (void)state;
    struct pt_trace_writer *w = helper_sample();
    pt_u64 n;
    pt_u8 *bytes = (pt_u8 *)(size_t)pt_writer_finish(w, &n);
    const struct {
        size_t offset;
        pt_u8 value;
        const char *message;
    } cases[] = {{0, 'X', "not a proftrace file"}, {8, 99, "newer"}, {12, 1, "damaged header"}};
    for (size_t i = 0; i < 3; i++) {
        const pt_u8 before = bytes[cases[i].offset];
        bytes[cases[i].offset] = cases[i].value;
        struct helper_file file = helper_file(bytes, n);
        struct pt_error err = {0};
        assert_null(pt_session_open(file.path, &err));
        assert_int_equal(err.exit_code, 3);
        assert_non_null(strstr(err.text, cases[i].message));
        helper_close(&file);
        bytes[cases[i].offset] = before;
    }
    pt_trace_writer_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_comes_back),
        cmocka_unit_test(a_filter_leaves_out_what_it_says),
        cmocka_unit_test(heap_units_are_spread_between_clocks),
        cmocka_unit_test(what_devices_report_is_put_in_order),
        cmocka_unit_test(raw_buffers_are_read_and_duplicates_are_not),
        cmocka_unit_test(totals_are_bank_plus_what_it_does_not_cover),
        cmocka_unit_test(holes_are_stepped_over),
        cmocka_unit_test(what_is_not_a_trace_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * t_minutes.c - totals by minute: whatever the rows of a file say, all parts together are the totals, and none lies
 * outside of the process's life.
 */
#include <stdlib.h>
#include <string.h>

#include "proftrace/events.h"
#include "helper_trace.h"
#include "model/minutes.h"
#include "util/mem.h"

enum { CALLS = 1000, BYTES = 64000, NS = 5000000, ALLOCS = 70 };
#define SECOND 1000000000ull

struct sum {
    const struct pt_process *process;
    struct pt_kind_totals reads;
    pt_u64 allocs, rows, calls_in_rows;
    pt_i64 first_until_ns;
};

static void add(void *context, const struct pt_interval *interval)
{
    struct sum *sum = context;
    assert_true(interval->from_ns <= interval->until_ns);
    sum->rows += interval->is_row;
    if (interval->kind == PT_INTERVAL_OF_HEAP) {
        sum->allocs += interval->totals.calls;
        return;
    }
    assert_int_equal(interval->kind, PT_KIND_io_read);
    sum->first_until_ns = sum->first_until_ns ? sum->first_until_ns : interval->until_ns;
    sum->calls_in_rows += interval->is_row ? interval->totals.calls : 0;
    sum->reads.calls += interval->totals.calls;
    sum->reads.errors += interval->totals.errors;
    sum->reads.bytes += interval->totals.bytes;
    sum->reads.ns += interval->totals.ns;
}

/* A process of 100 s with a thousand reads in its totals, and these rows. */
static struct sum sum_of(const struct pt_minutes_entry *entries, size_t n, size_t damaged_byte)
{
    struct pt_trace_writer *writer = pt_trace_writer_new();
    struct pt_file_header *header = pt_writer_header(writer);
    header->pid = 7;
    header->clock_base = 1000 * SECOND;
    header->clock_first = (struct pt_clock_pair){1000 * SECOND, 1000 * SECOND};
    header->clock_last[1] = (struct pt_clock_pair){1100 * SECOND, 1100 * SECOND};
    header->clock_index = 1;
    header->state = PT_PROCESS_EXITED;
    header->end_counter = 1100 * SECOND;
    header->minute_ns = 10 * SECOND;
    struct pt_thread_area *area = pt_writer_area(writer, 0);
    area->tid = 7;
    area->totals[0][PT_KIND_io_read] = (struct pt_totals){CALLS, 3, BYTES, NS};
    area->heap_spilled[1] = (struct pt_heap_class){ALLOCS, ALLOCS * 16};
    for (size_t i = 0; i < n; i++)
        pt_writer_minutes(writer, 0, &entries[i]);
    pt_u64 bytes;
    const pt_u8 *made = pt_writer_finish(writer, &bytes);
    pt_u8 *content = memcpy(pt_malloc(bytes), made, bytes);
    if (damaged_byte) /* of the last page, which is the segment */
        content[bytes - PT_PAGE_BYTES + sizeof(struct pt_segment) + damaged_byte] ^= 0x41;
    struct helper_file file = helper_file(content, bytes);
    free(content);
    struct pt_error err = {0};
    struct pt_session *session = pt_session_open(file.path, &err);
    assert_non_null(session);
    struct sum sum = {.process = session->processes[0]};
    pt_process_intervals(session->processes[0], add, &sum);
    pt_session_close(session);
    helper_close(&file);
    pt_trace_writer_free(writer);
    assert_int_equal(sum.reads.calls, CALLS);
    assert_int_equal(sum.reads.errors, 3);
    assert_int_equal(sum.reads.bytes, BYTES);
    assert_int_equal(sum.reads.ns, NS);
    assert_int_equal(sum.allocs, ALLOCS);
    return sum;
}

static struct pt_minutes_entry row(pt_u64 first, pt_u64 n, pt_u64 calls)
{
    return (struct pt_minutes_entry){
        .first = first, .n = n, .n_kinds = 1, .kinds = {{PT_KIND_io_read, {calls, 0, calls * 64, calls}}}};
}

static void rows_and_the_rest_are_the_totals(void **state)
{
    (void)state;
    const struct pt_minutes_entry entries[] = {row(100, 1, 400), row(103, 2, 300)};
    const struct sum sum = sum_of(entries, 2, 0);
    assert_int_equal(sum.rows, 2);
    assert_int_equal(sum.calls_in_rows, 700);
    assert_int_equal(sum.first_until_ns, 10 * SECOND);
}

static void without_rows_all_is_one_part(void **state)
{
    (void)state;
    assert_int_equal(sum_of(NULL, 0, 0).rows, 0);
}

/* More than the totals, beyond the end, before the start, at the end of all times, of a buffer that is not covered. */
static void rows_that_cannot_be(void **state)
{
    (void)state;
    struct pt_minutes_entry entries[] = {row(100, 1, CALLS * 2), row(1, 1, 5), row(~0ull, ~0ull, 5),
                                         row(100, ~0ull - 3, 5), row(100, 1, 5)};
    entries[4].sequence = ~0ull;
    sum_of(entries, sizeof entries / sizeof *entries, 0);
    sum_of(entries + 1, sizeof entries / sizeof *entries - 1, 0);
}

static void damage_ends_the_segment(void **state)
{
    (void)state;
    const struct pt_minutes_entry entries[] = {row(100, 1, 400), row(103, 2, 300)};
    for (size_t byte = 1; byte < 20; byte++)
        assert_true(sum_of(entries, 2, byte).rows < 2);
}

static void counters_have_parts_of_their_own(void **state)
{
    (void)state;
    const struct pt_minutes_entry entries[] = {
        {.first = 100, .n = 3, .has_counters = true, .allocs = 50, .bytes = 800}};
    assert_int_equal(sum_of(entries, 1, 0).rows, 1);
}

/* The call that made the library open its file began before the file's first clock pair: the process's start is that
 * call's, and CLOCK_MONOTONIC at it. */
static void a_call_before_the_first_pair(void **state)
{
    (void)state;
    struct pt_trace_writer *writer = helper_writer();
    struct pt_file_header *header = pt_writer_header(writer);
    const pt_u64 first_ns = header->clock_base + 900 * SECOND / 1000;
    header->clock_first = (struct pt_clock_pair){first_ns, first_ns};
    const struct pt_record record = helper_record(&pt_event_descs[PT_KIND_io_read], SECOND / 2, 1);
    pt_writer_record(writer, 0, 1, 7, &record);
    struct pt_session *session = helper_session(writer);
    const struct pt_process *process = session->processes[0];
    struct pt_event event;
    assert_int_equal(helper_read(session, &event, 1), 1);
    assert_int_equal(process->start_ns, 0);
    assert_in_range(process->start_monotonic_ns, header->clock_base + SECOND / 2 - 100,
                    header->clock_base + SECOND / 2);
    pt_session_close(session);
    pt_trace_writer_free(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_the_rest_are_the_totals),
        cmocka_unit_test(without_rows_all_is_one_part),
        cmocka_unit_test(rows_that_cannot_be),
        cmocka_unit_test(damage_ends_the_segment),
        cmocka_unit_test(counters_have_parts_of_their_own),
        cmocka_unit_test(a_call_before_the_first_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

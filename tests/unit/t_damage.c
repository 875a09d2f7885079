/* SPDX-License-Identifier: MIT
 *
 * t_damage.c - any file is safe to read: cut at every byte, a block with a flipped bit; t_damage_bits.c flips bits
 * anywhere. Run under ASan and UBSan this finds what is not.
 */
#include "proftrace/events.h"
#include "source/open.h"
#include "source/scan.h"
#include "helper_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A small trace, so that every cut of it can be tried. */
static struct pt_trace_writer *small_trace(void)
{
    struct pt_trace_writer *w = helper_writer();
    pt_writer_string(w, "/etc/passwd", 11);
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++) {
        if (pt_event_descs[kind].role == PT_ROLE_UNIT)
            continue;
        const struct pt_record record = helper_record(&pt_event_descs[kind], 1000 + kind, 1);
        pt_writer_record(w, 0, 1, 100, &record);
    }
    pt_writer_area(w, 0)->tid = 100;
    return w;
}

static void cut_at_every_byte(void **state)
{
    (void)state;
    struct pt_trace_writer *w = small_trace();
    pt_u64 n;
    const pt_u8 *bytes = pt_writer_finish(w, &n);
    struct helper_file file = helper_file(bytes, n);
    size_t opened = 0, last = SIZE_MAX;
    for (pt_u64 length = n; length-- > 0;) {
        assert_int_equal(ftruncate(file.fd, (off_t)length), 0);
        const size_t now = (size_t)helper_digest(file.path);
        opened += now;
        assert_true(now <= last); /* less of a file is never more readable */
        last = now;
    }
    assert_true(opened > 0);
    helper_close(&file);
    pt_trace_writer_free(w);
}

/* A flipped bit in a block is found by its checksum: counted, and everything else is still there. */
enum whereabouts { ENDED, RUNS, IS_OUT_OF_SIGHT, IS_OF_A_RUN_OUT_OF_SIGHT };
static void check_damaged_block(enum whereabouts where)
{
    struct pt_trace_writer *w = helper_sample();
    pt_u64 n;
    pt_u8 *bytes = (pt_u8 *)(size_t)pt_writer_finish(w, &n);
    pt_u32 events = 0;
    for (pt_u64 at = 0; at + sizeof(struct pt_block) < n && !events; at += PT_BLOCK_ALIGN) {
        struct pt_block block;
        memcpy(&block, bytes + at, sizeof block);
        if (block.commit != PT_BLOCK_MAGIC)
            continue;
        bytes[at + sizeof block + 20] ^= 1;
        events = block.events;
    }
    struct helper_file file = helper_file(bytes, n);
    struct pt_error err = {0};
    struct pt_session *session = pt_session_open(file.path, &err);
    assert_non_null(session);
    session->processes[0]->is_running = where == RUNS;
    session->processes[0]->is_out_of_sight = where == IS_OUT_OF_SIGHT;
    session->is_out_of_sight = where == IS_OF_A_RUN_OUT_OF_SIGHT;
    session->processes[0]->state = where == ENDED ? session->processes[0]->state : PT_PROCESS_LIVE;
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(helper_read(session, NULL, 0), 3 * PT_KIND__COUNT - events);
        assert_int_equal(session->quality.corrupt_blocks, where == ENDED);
        assert_int_equal(session->quality.corrupt_events, where == ENDED ? events : 0);
        assert_int_equal(session->quality.overwritten, where == ENDED ? 0 : events);
        assert_int_equal(session->quality.events, 3 * PT_KIND__COUNT - events);
    }
    pt_session_close(session);
    helper_close(&file);
    pt_trace_writer_free(w);
}

static void damaged_block_is_counted(void **state)
{
    (void)state;
    check_damaged_block(ENDED);
}

static void block_of_a_running_process_was_overwritten(void **state)
{
    (void)state;
    for (enum whereabouts where = RUNS; where <= IS_OF_A_RUN_OUT_OF_SIGHT; where++)
        check_damaged_block(where);
}

/* A segment whose own head is gone: what it held cannot be counted, but that something is missing is known. */
static void damaged_segment_is_counted(void **state)
{
    (void)state;
    struct pt_trace_writer *w = helper_sample();
    pt_u64 n;
    pt_u8 *bytes = (pt_u8 *)(size_t)pt_writer_finish(w, &n);
    struct pt_file_header header;
    memcpy(&header, bytes, sizeof header);
    struct helper_file file = helper_file(bytes, n);
    struct pt_error error = {0};
    struct pt_trace_file *trace = pt_trace_file_open(file.path, &error);
    assert_int_equal(trace->corrupt_segments, 0); /* the text and the schema are none */
    pt_trace_file_close(trace);
    memset(bytes + header.header_bytes, 0x5a, sizeof(struct pt_segment));
    assert_int_equal(pwrite(file.fd, bytes, n, 0), (ssize_t)n);
    trace = pt_trace_file_open(file.path, &error);
    assert_int_equal(trace->corrupt_segments, 1);
    pt_trace_file_close(trace);
    helper_close(&file);
    pt_trace_writer_free(w);
}

static void scan_again(struct pt_trace_file *trace)
{
    pt_scan_segments(trace);
    pt_map_fini(&trace->slot_at); /* as pt_trace_file_open() does */
}

/* It shrinks after its size was asked for, as of a copy that is written anew: what was counted was 0, and "exact". */
static void shrinks_while_it_is_read(void **state)
{
    (void)state;
    struct pt_trace_writer *w = helper_sample();
    pt_u64 n;
    const pt_u8 *bytes = pt_writer_finish(w, &n);
    struct helper_file file = helper_file(bytes, n);
    struct pt_error error = {0};
    struct pt_trace_file *trace = pt_trace_file_open(file.path, &error);
    assert_false(trace->truncated);
    const pt_u64 area = trace->slots.items[0].area_offset;
    assert_int_equal(ftruncate(file.fd, (off_t)area + 100), 0);
    scan_again(trace);
    assert_true(trace->truncated && trace->is_area_cut);
    assert_int_equal(trace->read_errno, 0);
    assert_int_equal(trace->bytes, area + 100);
    pt_trace_file_close(trace);
    /* Before the area nothing of a segment can be read. */
    assert_int_equal(pwrite(file.fd, bytes, n, 0), (ssize_t)n);
    trace = pt_trace_file_open(file.path, &error);
    assert_int_equal(ftruncate(file.fd, (off_t)area), 0);
    scan_again(trace);
    assert_true(trace->truncated);
    assert_int_equal(trace->bytes, area);
    pt_trace_file_close(trace);
    helper_close(&file);
    pt_trace_writer_free(w);
}

/* A directory opens and cannot be read, as what lies on a bad disk: it is no file that was never set up. */
static void what_cannot_be_read_is_said(void **state)
{
    (void)state;
    struct pt_trace_writer *w = helper_sample();
    pt_u64 n;
    const pt_u8 *bytes = pt_writer_finish(w, &n);
    struct helper_file file = helper_file(bytes, n);
    struct pt_error error = {0};
    struct pt_trace_file *trace = pt_trace_file_open(file.path, &error);
    const int here = open(".", O_RDONLY | O_CLOEXEC);
    assert_int_equal(dup2(here, trace->fd), trace->fd);
    scan_again(trace);
    assert_true(trace->truncated);
    assert_int_equal(trace->read_errno, EISDIR);
    close(here);
    pt_trace_file_close(trace);
    helper_close(&file);
    pt_trace_writer_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shrinks_while_it_is_read),
        cmocka_unit_test(what_cannot_be_read_is_said),
        cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(damaged_block_is_counted),
        cmocka_unit_test(block_of_a_running_process_was_overwritten),
        cmocka_unit_test(damaged_segment_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

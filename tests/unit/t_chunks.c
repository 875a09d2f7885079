/* SPDX-License-Identifier: MIT
 *
 * A feed read by a thread of its own, some chunks ahead: the reader sees every event once and in order, without those
 * that the thread leaves out, and the error at its end comes through.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <sched.h>

#include "merge/chunks.h"

struct counting { /* a feed of events that start at 0, 1, 2 ... */
    struct pt_feed feed;
    pt_i64 at, n;
    int end;
    bool is_closed;
};

static int next(struct pt_feed *self, struct pt_event *ret_event, struct pt_error *err)
{
    struct counting *counting = (struct counting *)self;
    if (counting->at < counting->n) {
        *ret_event = (struct pt_event){.start_ns = counting->at++};
        return 1;
    }
    return counting->end < 0 ? pt_fail(err, "unreadable") : 0;
}

static void close_counting(struct pt_feed *self)
{
    ((struct counting *)self)->is_closed = true;
}

struct first { /* what the filling thread saw, and what it leaves out */
    pt_i64 n, left_out_from, left_out_until;
    bool is_slow, is_in_order;
};

static void look(void *context, struct pt_chunk *chunk)
{
    struct first *first = context;
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < chunk->n; i++) {
        const pt_i64 at = chunk->events[i].start_ns;
        first->is_in_order &= at == first->n++;
        if (at < first->left_out_from || at >= first->left_out_until)
            chunk->events[n++] = chunk->events[i];
    }
    chunk->n = n;
    if (first->is_slow)
        sched_yield();
}

/* Returns how many there were; -1 = they were not in order, or one that was left out. */
static pt_i64 read_all(struct pt_chunks *chunks, const struct first *first, bool is_slow)
{
    pt_i64 n = 0, last = -1;
    for (const struct pt_chunk *chunk; (chunk = pt_chunks_next(chunks));) {
        for (pt_u32 i = 0; i < chunk->n; i++) {
            const pt_i64 at = chunk->events[i].start_ns;
            if (at <= last || (at >= first->left_out_from && at < first->left_out_until))
                return -1;
            last = at;
            n++;
        }
        if (is_slow)
            sched_yield();
    }
    return n;
}

static void both_threads_see_all(void **state)
{
    (void)state;
    static const pt_i64 lengths[] = {0, 1, PT_CHUNK_EVENTS, 16 * PT_CHUNK_EVENTS, 100 * PT_CHUNK_EVENTS + 7};
    for (size_t i = 0; i < 2 * sizeof lengths / sizeof *lengths; i++) {
        struct counting from = {{next, close_counting}, 0, lengths[i / 2], 0, false};
        struct first first = {.is_slow = i & 1, .is_in_order = true};
        struct pt_chunks *chunks = pt_chunks_begin(&from.feed, look, &first);
        struct pt_error err = {0};
        assert_int_equal(read_all(chunks, &first, !(i & 1)), lengths[i / 2]);
        assert_int_equal(pt_chunks_end(chunks, &err), 0);
        assert_true(first.is_in_order && from.is_closed);
        assert_int_equal(first.n, lengths[i / 2]);
    }
}

static void what_is_left_out_does_not_arrive(void **state)
{
    (void)state;
    enum { ALL = 100 * PT_CHUNK_EVENTS, FROM = 3 * PT_CHUNK_EVENTS + 5, UNTIL = 90 * PT_CHUNK_EVENTS };
    struct counting from = {{next, close_counting}, 0, ALL, 0, false};
    struct first first = {.left_out_from = FROM, .left_out_until = UNTIL, .is_in_order = true};
    struct pt_chunks *chunks = pt_chunks_begin(&from.feed, look, &first);
    struct pt_error err = {0};
    assert_int_equal(read_all(chunks, &first, false), ALL - (UNTIL - FROM));
    assert_int_equal(pt_chunks_end(chunks, &err), 0);
    assert_int_equal(first.n, ALL);
}

static void an_error_comes_after_what_was_read(void **state)
{
    (void)state;
    struct counting from = {{next, close_counting}, 0, 3 * PT_CHUNK_EVENTS / 2, -1, false};
    struct first first = {.is_in_order = true};
    struct pt_chunks *chunks = pt_chunks_begin(&from.feed, look, &first);
    struct pt_error err = {0};
    assert_int_equal(read_all(chunks, &first, false), from.n);
    assert_int_equal(pt_chunks_end(chunks, &err), -1);
    assert_string_equal(err.text, "unreadable");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_threads_see_all),
        cmocka_unit_test(what_is_left_out_does_not_arrive),
        cmocka_unit_test(an_error_comes_after_what_was_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

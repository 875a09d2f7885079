/* SPDX-License-Identifier: MIT
 *
 * A feed handed to two readers at once: each sees every event once and in order, the error at its end comes through,
 * and a reader that does not come holds nobody up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <pthread.h>
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
        *ret_event = (struct pt_event){.start_ns = counting->at};
        __atomic_store_n(&counting->at, counting->at + 1, __ATOMIC_RELAXED);
        return 1;
    }
    return counting->end < 0 ? pt_fail(err, "unreadable") : 0;
}

static void close_counting(struct pt_feed *self)
{
    ((struct counting *)self)->is_closed = true;
}

struct reading {
    struct pt_chunks *chunks;
    pt_u32 reader;
    bool is_slow;
    pt_i64 n;
    bool is_in_order;
};

static void *read_all(void *argument)
{
    struct reading *r = argument;
    r->is_in_order = true;
    for (const struct pt_chunk *chunk; (chunk = pt_chunks_next(r->chunks, r->reader));) {
        for (pt_u32 i = 0; i < chunk->n; i++)
            r->is_in_order &= chunk->events[i].start_ns == r->n++;
        if (r->is_slow)
            sched_yield();
    }
    return NULL;
}

static void both_readers_see_all(void **state)
{
    (void)state;
    static const pt_i64 lengths[] = {0, 1, PT_CHUNK_EVENTS, 16 * PT_CHUNK_EVENTS, 100 * PT_CHUNK_EVENTS + 7};
    for (size_t i = 0; i < 2 * sizeof lengths / sizeof *lengths; i++) {
        struct counting from = {{next, close_counting}, 0, lengths[i / 2], 0, false};
        struct pt_chunks *chunks = pt_chunks_begin(&from.feed, NULL);
        struct reading slow = {chunks, 0, true, 0, false}, fast = {chunks, 1, false, 0, false};
        pthread_t thread;
        pthread_create(&thread, NULL, read_all, i & 1 ? &slow : &fast);
        read_all(i & 1 ? &fast : &slow);
        pthread_join(thread, NULL);
        struct pt_error err = {0};
        assert_int_equal(pt_chunks_end(chunks, &err), 0);
        assert_true(slow.is_in_order && fast.is_in_order && from.is_closed);
        assert_int_equal(slow.n, lengths[i / 2]);
        assert_int_equal(fast.n, lengths[i / 2]);
    }
}

static void an_error_comes_after_what_was_read(void **state)
{
    (void)state;
    struct counting from = {{next, close_counting}, 0, 3 * PT_CHUNK_EVENTS / 2, -1, false};
    struct pt_chunks *chunks = pt_chunks_begin(&from.feed, NULL);
    struct reading alone = {chunks, 0, false, 0, false};
    struct pt_error err = {0};
    pt_chunks_without(chunks, 1);
    read_all(&alone);
    assert_int_equal(alone.n, from.n);
    assert_int_equal(pt_chunks_end(chunks, &err), -1);
    assert_string_equal(err.text, "unreadable");
}

static void nobody_waits_for_a_reader_that_does_not_come(void **state)
{
    (void)state;
    struct counting from = {{next, close_counting}, 0, 100 * PT_CHUNK_EVENTS, 0, false};
    struct pt_chunks *chunks = pt_chunks_begin(&from.feed, NULL);
    while (__atomic_load_n(&from.at, __ATOMIC_RELAXED) < 16 * PT_CHUNK_EVENTS) /* the ring is full before we say so */
        sched_yield();
    pt_chunks_without(chunks, 1);
    struct reading alone = {chunks, 0, false, 0, false};
    struct pt_error err = {0};
    read_all(&alone);
    assert_true(alone.is_in_order);
    assert_int_equal(alone.n, from.n);
    assert_int_equal(pt_chunks_end(chunks, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_readers_see_all),
        cmocka_unit_test(an_error_comes_after_what_was_read),
        cmocka_unit_test(nobody_waits_for_a_reader_that_does_not_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

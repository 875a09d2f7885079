/* SPDX-License-Identifier: MIT
 *
 * However fast a thread allocates and whatever a stack costs, stacks take less than 0.5 % of its CPU time, and what is
 * earned is used: preload/core/stack_pace.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../../preload/core/stack_pace.h"

enum { JUDGED_AFTER_NS = 10000000, JUDGED_AFTER_SPENT_NS = 100000 };

struct thread {
    struct pt_stack_pace pace;
    pt_i64 spare_ns;
    pt_u64 ran_ns, since_judged_ns, spent_ns, n_samples, n_taken, random;
    double stands_for;
};

static pt_u64 chance(struct thread *t)
{
    t->random ^= t->random << 13;
    t->random ^= t->random >> 7;
    t->random ^= t->random << 17;
    return t->random;
}

/* A sample as preload/core/names/stack.c takes it. */
static void sample(struct thread *t, pt_u64 work_ns, pt_u64 stack_ns)
{
    t->ran_ns += work_ns;
    t->since_judged_ns += work_ns;
    t->n_samples++;
    if (t->since_judged_ns >= JUDGED_AFTER_NS || t->pace.spent >= JUDGED_AFTER_SPENT_NS) {
        pt_stack_pace_judge(&t->pace, t->since_judged_ns, t->pace.spent, &t->spare_ns);
        t->since_judged_ns = t->pace.spent = 0;
    }
    t->pace.n_samples++;
    const pt_u32 halvings = pt_stack_pace_halvings(&t->pace, 100, 1 << 19);
    if (halvings && chance(t) >> (64 - halvings))
        return;
    t->n_taken++;
    t->stands_for += (double)(1u << halvings);
    t->spent_ns += stack_ns;
    t->pace.n_taken++;
    t->pace.spent += stack_ns;
    t->ran_ns += stack_ns;
    t->since_judged_ns += stack_ns;
}

static struct thread new_thread(void)
{
    return (struct thread){.spare_ns = PT_PACE_SPARE_NS, .random = 88172645463325252ull};
}

static void run_for(struct thread *t, pt_u64 ns, pt_u64 between_ns, pt_u64 stack_ns)
{
    for (const pt_u64 end = t->ran_ns + ns; t->ran_ns < end;)
        sample(t, between_ns, stack_ns);
}

static void assert_within_bounds(const struct thread *t)
{
    assert_true(t->spent_ns * 1000 <= t->ran_ns * 5);
}

static void test_any_rate(void **state)
{
    (void)state;
    for (pt_u64 between_ns = 100; between_ns <= 100000000; between_ns *= 10)
        for (pt_u64 stack_ns = 500; stack_ns <= 128000; stack_ns *= 4) {
            struct thread t = new_thread();
            run_for(&t, 4000000000, between_ns, stack_ns);
            assert_within_bounds(&t);
            /* Half of what is allowed is used, where there are as many samples. */
            if (t.n_samples * stack_ns > t.ran_ns / 100 && stack_ns < 20000)
                assert_true(t.spent_ns * 1000 >= t.ran_ns * 3 / 2);
        }
}

static void test_few_are_all_taken(void **state)
{
    (void)state;
    struct thread t = new_thread();
    run_for(&t, 4000000000, 5000000, 5000);
    assert_int_equal(t.n_taken, t.n_samples);
}

static void test_storms_with_calm_between(void **state)
{
    (void)state;
    struct thread t = new_thread();
    for (int i = 0; i < 100; i++) {
        run_for(&t, 20000000, 1000, 4000);
        run_for(&t, 200000000, 4000000, 4000);
    }
    assert_within_bounds(&t);
}

static void test_what_is_taken_stands_for_all(void **state)
{
    (void)state;
    double stood_for = 0, all = 0;
    for (pt_u64 seed = 1; seed <= 20; seed++) {
        struct thread t = new_thread();
        t.random *= 2 * seed + 1;
        for (int i = 0; i < 20; i++) {
            run_for(&t, 30000000, 2000, 4000);
            run_for(&t, 70000000, 500000, 4000);
        }
        stood_for += t.stands_for;
        all += (double)t.n_samples;
    }
    assert_true(stood_for > 0.97 * all && stood_for < 1.03 * all);
}

static void test_large_blocks_have_better_chances(void **state)
{
    (void)state;
    const struct pt_stack_pace pace = {.doublings = 5};
    assert_int_equal(pt_stack_pace_halvings(&pace, 1, 1 << 19), 5);
    assert_int_equal(pt_stack_pace_halvings(&pace, 1 << 20, 1 << 19), 4);
    assert_int_equal(pt_stack_pace_halvings(&pace, 1 << 24, 1 << 19), 0);
    assert_int_equal(pt_stack_pace_halvings(&pace, ~0ull, 1024), 0);
}

static void test_the_spare_is_spent_once(void **state)
{
    (void)state;
    pt_i64 spare_ns = PT_PACE_SPARE_NS;
    pt_u64 spent_ns = 0;
    for (int i = 0; i < 1000; i++) { /* threads that live for one judgement each */
        struct pt_stack_pace pace = {.n_samples = 20, .n_taken = 20};
        pt_stack_pace_judge(&pace, 110000, 100000, &spare_ns);
        spent_ns += pace.doublings ? 0 : 100000;
        assert_true(spare_ns >= 0);
    }
    assert_true(spent_ns <= PT_PACE_SPARE_NS + 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_rate),
        cmocka_unit_test(test_few_are_all_taken),
        cmocka_unit_test(test_storms_with_calm_between),
        cmocka_unit_test(test_what_is_taken_stands_for_all),
        cmocka_unit_test(test_large_blocks_have_better_chances),
        cmocka_unit_test(test_the_spare_is_spent_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * What the share beside a place is of: the line that stands there, and the time that it names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "analysis/analysis.h"
#include "rules/place.h"

static const char file[] = "/app/train.py";

static void add(struct pt_profile *profile, const char *function, pt_u32 line, double s)
{
    const struct pt_stack_frame frame = {
        .function = function, .file = file, .line = line, .flags = PT_FRAME_IS_NAMED | PT_FRAME_OF_PYTHON};
    struct pt_stack *stack = pt_stacks_add(&profile->stacks, 0, &frame, 1);
    stack->part = PT_STACK_ANY_PART;
    stack->cost[PT_STACK_CPU_S] = s;
}

static const char *place(struct pt_profile *profile, pt_u32 explained_line)
{
    struct pt_finding finding = {.rule = "one_thread_computes", .place_kind = PT_PLACE_CPU};
    if (explained_line)
        finding.explained[finding.n_explained++] =
            (struct pt_explained_line){profile->stacks.items[0].frames[0].file, explained_line};
    return pt_place_of(profile, &finding).text;
}

static void a_share_is_of_the_line_beside_it(void **state)
{
    (void)state;
    struct pt_profile profile = {0};
    add(&profile, "main", 21, 5);
    add(&profile, "main", 22, 4);
    add(&profile, "read", 7, 1);
    assert_string_equal(place(&profile, 0), "train.py:21 main, 50 % of all CPU time (the function: 90 %)");
    assert_string_equal(place(&profile, 21), "train.py:22 main, 80 % of the rest");
    pt_profile_free(&profile);
}

static void nearly_all_of_a_function_is_one_line(void **state)
{
    (void)state;
    struct pt_profile profile = {0};
    add(&profile, "main", 21, 8);
    add(&profile, "main", 22, 1);
    add(&profile, "read", 7, 1);
    assert_string_equal(place(&profile, 0), "train.py:21 main, 90 % of all CPU time");
    pt_profile_free(&profile);
}

/* Every file has a <module>. */
static void functions_of_one_name_in_two_files(void **state)
{
    (void)state;
    struct pt_profile profile = {0};
    const struct pt_stack_frame other = {
        .function = "main", .file = "/app/data.py", .line = 3, .flags = PT_FRAME_IS_NAMED | PT_FRAME_OF_PYTHON};
    add(&profile, "main", 21, 6);
    pt_stacks_add(&profile.stacks, 0, &other, 1)->cost[PT_STACK_CPU_S] = 4;
    profile.stacks.items[1].part = PT_STACK_ANY_PART;
    assert_string_equal(place(&profile, 0), "train.py:21 main, 60 % of all CPU time");
    pt_profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_is_of_the_line_beside_it),
        cmocka_unit_test(nearly_all_of_a_function_is_one_line),
        cmocka_unit_test(functions_of_one_name_in_two_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

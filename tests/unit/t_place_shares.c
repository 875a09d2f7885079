/* SPDX-License-Identifier: MIT
 *
 * What the share beside a place is of: the line that stands there, and the time that it names; and which function of a
 * library stands behind a line that does hardly anything itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

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

/* ---- what a library does for a line ---- */

enum { OWN = PT_FRAME_IS_NAMED | PT_FRAME_OF_PYTHON, LIBRARY = OWN | PT_FRAME_SERVES };
#define PACKAGES "/lib/python3.11/site-packages/"

static const struct pt_stack_frame
    fit = {"<module>", file, NULL, 27, OWN},
    train = {"train", file, NULL, 12, OWN}, main_line = {"<module>", file, NULL, 30, OWN},
    trainer = {"Trainer.train", PACKAGES "transformers/trainer.py", NULL, 1400, LIBRARY},
    batches = {"Trainer.get_batch_samples", PACKAGES "transformers/trainer.py", NULL, 1911, LIBRARY},
    fetch = {"_MapDatasetFetcher.fetch", PACKAGES "torch/utils/data/_utils/fetch.py", NULL, 52, LIBRARY},
    loop_of_worker = {"_worker_loop", PACKAGES "torch/utils/data/_utils/worker.py", NULL, 350, LIBRARY},
    started = {"BaseProcess._bootstrap", "/usr/lib/python3.11/multiprocessing/process.py", NULL, 314, LIBRARY},
    collate = {"DataCollatorForLanguageModeling.torch_call", PACKAGES "transformers/data/data_collator.py", NULL, 812,
               LIBRARY},
    join = {"stack", PACKAGES "numpy/_core/shape_base.py", NULL, 450, LIBRARY},
    call = {"Module._call_impl", PACKAGES "torch/nn/modules/module.py", NULL, 1501, LIBRARY},
    forward = {"Linear.forward", PACKAGES "torch/nn/modules/linear.py", NULL, 114, LIBRARY},
    kernel = {"addmm", NULL, "/lib/libtorch_cpu.so", 0, PT_FRAME_IS_NAMED},
    decode = {"raw_decode", "/usr/lib/python3.11/json/decoder.py", NULL, 353, LIBRARY};

static const struct pt_stack_frame loop = {"Trainer._inner_training_loop", PACKAGES "transformers/trainer.py", NULL,
                                           1555, LIBRARY},
                                   backward = {"backward", PACKAGES "torch/autograd/__init__.py", NULL, 197, LIBRARY};

static void add_stack(struct pt_profile *profile, double s, const struct pt_stack_frame *const *list)
{
    struct pt_stack_frame frames[PT_STACK_FRAMES];
    pt_u32 n = 0;
    for (; list[n]; n++)
        frames[n] = *list[n];
    struct pt_stack *stack = pt_stacks_add(&profile->stacks, 0, frames, n);
    stack->part = PT_STACK_ANY_PART;
    stack->cost[PT_STACK_CPU_S] = s;
}

#define STACK(...) ((const struct pt_stack_frame *[]){__VA_ARGS__, NULL})

static void expect(struct pt_profile *profile, const char *text)
{
    struct pt_finding finding = {.rule = "one_thread_computes", .place_kind = PT_PLACE_CPU};
    const struct pt_place place = pt_place_of(profile, &finding);
    assert_string_equal(place.text, text);
    assert_true(strstr(place.file, "/app/")); /* what tools read is the line of the program */
    pt_profile_free(profile);
}

static void a_trainer_is_named_with_what_it_does_most(void **state)
{
    (void)state;
    struct pt_profile profile = {0};
    add_stack(&profile, 2, STACK(&join, &collate, &fetch, &batches, &trainer, &fit));
    add_stack(&profile, 5, STACK(&collate, &fetch, &batches, &trainer, &fit));
    add_stack(&profile, 3, STACK(&kernel, &forward, &call, &trainer, &fit));
    /* The name of its class is long: the file says as much. */
    expect(&profile, "train.py:27 <module> > data_collator.py:812 torch_call, 70 % of all CPU time");
}

static void what_hands_on_does_nothing(void **state)
{
    (void)state;
    struct pt_profile profile = {0};
    add_stack(&profile, 6, STACK(&kernel, &forward, &call, &call, &trainer, &train, &main_line));
    add_stack(&profile, 4, STACK(&fetch, &batches, &trainer, &train, &main_line));
    expect(&profile, "train.py:12 train > linear.py:114 Linear.forward, 60 % of all CPU time");
    add_stack(&profile, 6, STACK(&fetch, &batches, &loop, &trainer, &fit));
    expect(&profile, "train.py:27 <module> > trainer.py:1911 Trainer.get_batch_samples");
}

/* Where no function has half of the line, none is named that has a part; nor what the line itself calls. */
static void a_line_that_says_what_it_does_stands_alone(void **state)
{
    (void)state;
    struct pt_profile profile = {0};
    add_stack(&profile, 1, STACK(&kernel, &fit));
    add_stack(&profile, 1, STACK(&kernel, &join, &call, &trainer, &fit));
    add_stack(&profile, 1, STACK(&decode, &decode, &decode, &decode, &fit));
    add_stack(&profile, 1, STACK(&kernel, &backward, &backward, &backward, &fit));
    expect(&profile, "train.py:27 <module>");
    add_stack(&profile, 1, STACK(&join, &fit));
    expect(&profile, "train.py:27 <module>");
}

/* Not the whole program: a function of the program that calls a library says what it does. */
static void a_function_of_its_own_stands_alone(void **state)
{
    (void)state;
    struct pt_profile profile = {0};
    add_stack(&profile, 6, STACK(&kernel, &forward, &call, &call, &trainer, &train, &main_line));
    add_stack(&profile, 4, STACK(&main_line));
    expect(&profile, "train.py:12 train, 60 % of all CPU time");
}

/* A forked worker has the frames of whoever forked it around its own. */
static void a_worker_is_named_with_what_it_does(void **state)
{
    (void)state;
    struct pt_profile profile = {0};
    add_stack(&profile, 6, STACK(&collate, &fetch, &loop_of_worker, &started, &train, &main_line));
    add_stack(&profile, 4, STACK(&main_line));
    expect(&profile, "train.py:12 train > data_collator.py:812 torch_call, 60 % of all CPU time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_is_of_the_line_beside_it),
        cmocka_unit_test(nearly_all_of_a_function_is_one_line),
        cmocka_unit_test(functions_of_one_name_in_two_files),
        cmocka_unit_test(a_trainer_is_named_with_what_it_does_most),
        cmocka_unit_test(what_hands_on_does_nothing),
        cmocka_unit_test(a_line_that_says_what_it_does_stands_alone),
        cmocka_unit_test(a_function_of_its_own_stands_alone),
        cmocka_unit_test(a_worker_is_named_with_what_it_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

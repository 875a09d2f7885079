/* SPDX-License-Identifier: MIT
 *
 * What is advised to who loads data, by what was seen of its data sets and loaders: an advice that harms there is worse
 * than none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "analysis/analysis.h"
#include "rules/remedy.h"
#include "rules/rule.h"
#include "helper_judged.h"

static const char data_set_py[] = "/lib/torch/utils/data/dataset.py";

static const struct pt_finding *judged(struct judged_stage *w, const char *rule)
{
    pt_judge(&w->profile, &w->findings);
    const struct pt_finding *finding = judged_find(w, rule);
    if (!finding)
        fail_msg("%s does not fire", rule);
    return finding;
}

static struct pt_stack_frame python(const char *function, const char *file)
{
    return (struct pt_stack_frame){
        .function = function, .file = file, .line = 7, .flags = PT_FRAME_IS_NAMED | PT_FRAME_OF_PYTHON};
}

/* Seconds in the first of these functions, which the second has called, and that the program's own code. */
static struct pt_stack *add_calls(struct judged_stage *w, struct pt_stack_frame called, struct pt_stack_frame caller,
                                  enum pt_stack_cost cost, double s)
{
    const struct pt_stack_frame frames[] = {called, caller, python("main", "/app/train.py")};
    struct pt_stack *stack = pt_stacks_add(&w->profile.stacks, 0, frames, 3);
    stack->part = PT_STACK_ANY_PART;
    stack->cost[cost] = s;
    return stack;
}

static struct judged_stage *new_waiting(void)
{
    struct judged_stage *w = judged_new(10);
    judged_set(w, "training.waits.cost_s", 4);
    judged_set(w, "training.waits_percent", 40);
    judged_set(w, "training.workers.count", 2);
    return w;
}

/* Before Python 3.11 names have no class; a class of the program may be called nearly the same, and reads files. */
static void a_data_set_in_memory_is_known_by_its_method(void **state)
{
    static const struct {
        const char *function, *file, *caller, *caller_file;
        bool is_in_memory;
    } cases[] = {
        {"TensorDataset.__getitem__", data_set_py, "_MapDatasetFetcher.fetch", "/lib/torch/fetch.py", true},
        {"TensorDataset.__getitem__.<locals>.<genexpr>", data_set_py, "fetch", "/lib/torch/fetch.py", true},
        {"<genexpr>", data_set_py, "__getitem__", data_set_py, true},
        {"<genexpr>", data_set_py, "__init__", data_set_py, false},
        {"Images.__getitem__", "/app/train.py", "<genexpr>", data_set_py, false}, /* of a StackDataset */
        {"__getitem__", data_set_py, "fetch", "/lib/torch/fetch.py", false},
        {"CustomTensorDataset.__getitem__", "/app/train.py", "fetch", "/lib/torch/fetch.py", false},
        {"TensorDataset.__getitem__", "/app/train.py", "fetch", "/lib/torch/fetch.py", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = new_waiting();
        add_calls(w, python(cases[i].function, cases[i].file), python(cases[i].caller, cases[i].caller_file),
                  PT_STACK_WORKER_S, 4);
        const char *remedy = judged(w, "steps_wait_for_data")->remedy;
        if ((strstr(remedy, "take whole batches") != NULL) != cases[i].is_in_memory)
            fail_msg("%s of %s: %s", cases[i].function, cases[i].file, remedy);
        judged_free(w);
    }
}

/* In workers most of the time goes into joining samples; where the program joins them itself, perhaps into that. */
static void a_data_set_in_memory_is_known_by_its_name(void **state)
{
    static const struct {
        const char *data_set, *function;
        bool is_in_memory;
    } cases[] = {{"TensorDataset", "default_collate", true},
                 {"TensorDataset", "pad_batch", false},
                 {"CustomTensorDataset", "default_collate", false},
                 {"Images", "default_collate", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = new_waiting();
        pt_metrics_set(&w->profile.metrics, pt_scope_stage(0), "training.data_set", pt_text(cases[i].data_set));
        add_calls(w, python(cases[i].function, "/lib/torch/utils/data/_utils/collate.py"),
                  python("fetch", "/lib/torch/fetch.py"), PT_STACK_WORKER_S, 4);
        const char *remedy = judged(w, "steps_wait_for_data")->remedy;
        if ((strstr(remedy, "take whole batches") != NULL) != cases[i].is_in_memory)
            fail_msg("%s, %s: %s", cases[i].data_set, cases[i].function, remedy);
        judged_free(w);
    }
}

/* A cell of the program's own has no layer over whole sequences. */
static void a_class_is_known_by_its_whole_name(void **state)
{
    static const struct {
        const char *function;
        bool is_of_torch;
    } cases[] = {{"LSTMCell.forward", true}, {"ConvLSTMCell.forward", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = judged_new(10);
        const struct pt_finding finding = {.rule = "tiny_operations", .place_kind = PT_PLACE_FORWARD};
        double share;
        add_calls(w, python(cases[i].function, "/lib/rnn.py"), python("Model.forward", "/app/model.py"),
                  PT_STACK_FORWARD_S, 4);
        const char *remedy = pt_remedy_of(&w->profile, &finding, &share);
        assert_int_equal(remedy && strstr(remedy, "nn.LSTM"), cases[i].is_of_torch);
        judged_free(w);
    }
}

/* Each worker would have a copy of an IterableDataset, and give all of its samples. */
static void workers_of_an_iterator_are_to_share_its_samples(void **state)
{
    static const char fetch_py[] = "/lib/torch/utils/data/_utils/fetch.py";
    static const struct {
        const char *called, *called_file, *fetch, *rule;
        bool repeats;
    } cases[] = {
        {"Lines.__iter__", "/app/train.py", "_IterableDatasetFetcher.fetch", "steps_wait_for_data", true},
        {"__iter__", "/app/train.py", "fetch", "steps_wait_for_data", true}, /* before Python 3.11 */
        {"Lines.__iter__", "/app/train.py", "_IterableDatasetFetcher.fetch", "loading_in_main", true},
        {"Images.__getitem__", "/app/train.py", "_MapDatasetFetcher.fetch", "loading_in_main", false},
        {"__getitem__", "/app/train.py", "fetch", "steps_wait_for_data", false},
        {"IterableDataset.__iter__", "/lib/datasets/iterable_dataset.py", "_IterableDatasetFetcher.fetch",
         "steps_wait_for_data", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = new_waiting();
        judged_set(w, "cpus.usable", 8);
        judged_set(w, "training.workers.count", 0);
        if (!strcmp(cases[i].rule, "loading_in_main")) {
            judged_set(w, "load.in_main.percent", 40);
            judged_set(w, "load.in_main.cost_s", 4);
        }
        add_calls(w, python(cases[i].called, cases[i].called_file), python(cases[i].fetch, fetch_py), PT_STACK_FETCH_S,
                  4);
        const struct pt_finding *finding = judged(w, cases[i].rule);
        const char *text = strcmp(cases[i].rule, "loading_in_main") != 0 ? finding->remedy : finding->advice;
        assert_non_null(strstr(text, "num_workers"));
        if ((strstr(text, "get_worker_info") != NULL) != cases[i].repeats)
            fail_msg("%s of %s: %s", cases[i].called, cases[i].fetch, text);
        judged_free(w);
    }
}

/* OpenCV and TurboJPEG have no img.draft. */
static void only_pillow_drafts(void **state)
{
    static const struct {
        const char *function, *library, *rule, *remedy;
    } cases[] = {
        {"ImagingJpegDecode", "/py/PIL/_imaging.cpython-311-x86_64-linux-gnu.so", "loading_in_main", "img.draft"},
        {"ImagingJpegDecode", "/py/PIL/_imaging.cpython-311-x86_64-linux-gnu.so", "dataloader_cpu_bound", "img.draft"},
        {"tjDecompress2", "/lib/libturbojpeg.so.0", "loading_in_main", "TurboJPEG's scaling_factor"},
        {"tjDecompress2", "/lib/libturbojpeg.so.0", "dataloader_cpu_bound", "TurboJPEG's scaling_factor"},
        {"jpeg_read_scanlines", "/lib/libjpeg.so.62", "dataloader_cpu_bound", "IMREAD_REDUCED_COLOR_2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = judged_new(10);
        const struct pt_finding finding = {.rule = cases[i].rule, .place_kind = PT_PLACE_PREPARING};
        const struct pt_stack_frame decoder = {
            .function = cases[i].function, .module = cases[i].library, .flags = PT_FRAME_IS_NAMED};
        double share;
        struct pt_stack *stack =
            add_calls(w, decoder, python("Images.__getitem__", "/app/train.py"), PT_STACK_PREPARING_S, 4);
        stack->cost[PT_STACK_CPU_S] = 4;
        const char *remedy = pt_remedy_of(&w->profile, &finding, &share);
        assert_non_null(remedy);
        if (!strstr(remedy, cases[i].remedy) || !strstr(remedy, "img.draft") != !strstr(cases[i].function, "Imaging"))
            fail_msg("%s: %s", cases[i].function, remedy);
        judged_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_data_set_in_memory_is_known_by_its_method),
        cmocka_unit_test(a_data_set_in_memory_is_known_by_its_name),
        cmocka_unit_test(a_class_is_known_by_its_whole_name),
        cmocka_unit_test(only_pillow_drafts),
        cmocka_unit_test(workers_of_an_iterator_are_to_share_its_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

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
#include <stdio.h>
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
        const char *samples_of, *method;
    } cases[] = {{"TensorDataset", "default_collate", true, data_set_py, "TensorDataset.__getitem__"},
                 {"TensorDataset", "default_collate", true, data_set_py, "__getitem__"},
                 {"TensorDataset", "default_collate", false, "/app/data.py", "TensorDataset.__getitem__"},
                 {"TensorDataset", "default_collate", false, "/app/data.py", "main.<locals>.TensorDataset.__getitem__"},
                 {"TensorDataset", "default_collate", false, "/app/data.py", "__getitem__"}, /* before Python 3.11 */
                 {"TensorDataset", "default_collate", true, "/app/data.py", "Images.__getitem__"}, /* of a validation */
                 {"TensorDataset", "pad_batch", false, data_set_py, "TensorDataset.__getitem__"},
                 {"CustomTensorDataset", "default_collate", false, data_set_py, "TensorDataset.__getitem__"},
                 {"Images", "default_collate", false, data_set_py, "TensorDataset.__getitem__"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = new_waiting();
        pt_metrics_set(&w->profile.metrics, pt_scope_stage(0), "training.data_set", pt_text(cases[i].data_set));
        add_calls(w, python(cases[i].function, "/lib/torch/utils/data/_utils/collate.py"),
                  python("fetch", "/lib/torch/fetch.py"), PT_STACK_WORKER_S, 4);
        add_calls(w, python(cases[i].method, cases[i].samples_of),
                  python("fetch", "/lib/torch/utils/data/_utils/fetch.py"), PT_STACK_WORKER_S, 1);
        const char *remedy = judged(w, "steps_wait_for_data")->remedy;
        if ((strstr(remedy, "take whole batches") != NULL) != cases[i].is_in_memory)
            fail_msg("%s, %s, %s: %s", cases[i].data_set, cases[i].function, cases[i].method, remedy);
        judged_free(w);
    }
}

/* Before Python 3.11 PyTorch's class is known by its generator: a function without a class is of a validation, then. */
static void a_data_set_in_memory_may_have_another_beside_it(void **state)
{
    static const struct {
        const char *of_other;
        bool has_torchs, is_in_memory;
    } cases[] = {
        {"__getitem__", false, false}, {"__getitem__", true, true}, {"TensorDataset.__getitem__", true, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = new_waiting();
        pt_metrics_set(&w->profile.metrics, pt_scope_stage(0), "training.data_set", pt_text("TensorDataset"));
        add_calls(w, python("default_collate", "/lib/torch/utils/data/_utils/collate.py"),
                  python("fetch", "/lib/torch/utils/data/_utils/fetch.py"), PT_STACK_WORKER_S, 4);
        add_calls(w, python(cases[i].of_other, "/app/data.py"),
                  python("fetch", "/lib/torch/utils/data/_utils/fetch.py"), PT_STACK_WORKER_S, 1);
        if (cases[i].has_torchs)
            add_calls(w, python("<genexpr>", data_set_py), python("__getitem__", data_set_py), PT_STACK_WORKER_S, 0.1);
        const char *remedy = judged(w, "steps_wait_for_data")->remedy;
        if ((strstr(remedy, "take whole batches") != NULL) != cases[i].is_in_memory)
            fail_msg("%s, %d: %s", cases[i].of_other, cases[i].has_torchs, remedy);
        judged_free(w);
    }
}

/* A cell of the program's own has no layer over whole sequences; Adamax has no fused form. */
static void a_class_is_known_by_its_whole_name(void **state)
{
    static const struct {
        const char *function, *rule, *remedy;
        bool is_of_torch;
    } cases[] = {{"LSTMCell.forward", "tiny_operations", "nn.LSTM", true},
                 {"ConvLSTMCell.forward", "tiny_operations", "nn.LSTM", false},
                 {"_single_tensor_adam", "one_thread_computes", "fused=True", true},
                 {"_single_tensor_adamw", "one_thread_computes", "fused=True", true},
                 {"_single_tensor_adamax", "one_thread_computes", "fused=True", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = judged_new(10);
        const struct pt_finding finding = {.rule = cases[i].rule, .place_kind = PT_PLACE_FORWARD};
        double share;
        add_calls(w, python(cases[i].function, "/lib/rnn.py"), python("Model.forward", "/app/model.py"),
                  PT_STACK_FORWARD_S, 4);
        const char *remedy = pt_remedy_of(&w->profile, &finding, &share);
        assert_int_equal(remedy && strstr(remedy, cases[i].remedy), cases[i].is_of_torch);
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
        double workers;
        const char *beside; /* who fetches less than that */
    } cases[] = {
        {"Lines.__iter__", "/app/train.py", "_IterableDatasetFetcher.fetch", "steps_wait_for_data", true, 0, NULL},
        {"__iter__", "/app/train.py", "fetch", "steps_wait_for_data", true, 0, NULL}, /* before Python 3.11 */
        {"Lines.__iter__", "/app/train.py", "_IterableDatasetFetcher.fetch", "loading_in_main", true, 0, NULL},
        {"Images.__getitem__", "/app/train.py", "_MapDatasetFetcher.fetch", "loading_in_main", false, 0, NULL},
        {"__getitem__", "/app/train.py", "fetch", "steps_wait_for_data", false, 0, NULL},
        {"IterableDataset.__iter__", "/lib/datasets/iterable_dataset.py", "_IterableDatasetFetcher.fetch",
         "steps_wait_for_data", false, 0, NULL},
        {"_StatefulSingleProcessDataLoaderIter._next_data", "/lib/torchdata/stateful_dataloader/stateful_dataloader.py",
         "_IterableDatasetFetcher.fetch", "steps_wait_for_data", true, 0, NULL}, /* whatever asked for them */
        {"Mapper.next", "/lib/torchdata/nodes/map.py", "_IterableDatasetFetcher.fetch", "steps_wait_for_data", false, 0,
         NULL},
        {"GrainDatasetAdapter.get_torch_dataloader.<locals>.ConverterIterableDataset.__iter__",
         "/lib/keras/src/trainers/data_adapters/grain_dataset_adapter.py", "_IterableDatasetFetcher.fetch",
         "steps_wait_for_data", false, 0, NULL},
        {"Images.__getitem__", "/app/train.py", "_MapDatasetFetcher.fetch", "steps_wait_for_data", false, 0,
         "_IterableDatasetFetcher.fetch"}, /* of a validation */
        {"Lines.__iter__", "/app/train.py", "_IterableDatasetFetcher.fetch", "steps_wait_for_data", true, 0,
         "_MapDatasetFetcher.fetch"},
        {"Lines.__iter__", "/app/train.py", "_IterableDatasetFetcher.fetch", "loading_in_main", false, NAN, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = new_waiting();
        judged_set(w, "cpus.usable", 8);
        judged_set(w, "training.workers.count", 0);
        if (isnan(cases[i].workers))
            pt_metrics_set(&w->profile.metrics, pt_scope_stage(0), "training.workers.count", pt_unknown("window"));
        if (cases[i].beside)
            add_calls(w, python("Lines.__iter__", "/app/train.py"), python(cases[i].beside, fetch_py), PT_STACK_FETCH_S,
                      1);
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

/* What makes a rule fire. */
static void set_loading(struct judged_stage *w, const char *rule)
{
    static const struct {
        const char *rule, *metric;
        double number;
    } metrics[] = {{"steps_wait_for_data", "training.waits.cost_s", 4},
                   {"steps_wait_for_data", "training.waits_percent", 40},
                   {"slow_first_batches", "training.late_starts_percent", 40},
                   {"slow_first_batches", "training.restarts.cost_s", 3},
                   {"loading_in_main", "load.in_main.percent", 40},
                   {"loading_in_main", "load.in_main.cost_s", 4},
                   {"gpu_large_gaps", "gpu.idle.loading_percent", 80},
                   {"too_few_workers", "helpers.wait_s", 4},
                   {"too_few_workers", "helpers.of_one_process.wait_s", 4},
                   {"too_few_workers", "helpers.feed.calls", 90},
                   {"too_few_workers", "helpers.workers.at_once", 2},
                   {"too_few_workers", "helpers.busy_percent", 80},
                   {"too_few_workers", "helpers.other_percent", 0},
                   {"too_few_workers", "helpers.file_percent", 0},
                   {"too_few_workers", "helpers.cpu_percent", 78},
                   {"too_few_workers", "helpers.of_loader_percent", 100}};
    judged_set(w, "cpus.usable", 8);
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (!strcmp(rule, metrics[i].rule))
            judged_set(w, metrics[i].metric, metrics[i].number);
}

/* Keras makes its batches itself: who has no DataLoader cannot change one. A class of the program may have any file. */
static void keras_has_options_by_its_data(void **state)
{
    static const struct {
        const char *data_set, *rule;
        double workers;
        const char *remedy;
    } cases[] = {
        {"PyDatasetAdapter", "too_few_workers", 2, "PyDataset(workers=5)"},
        {"PyDatasetAdapter", "slow_first_batches", 2, "longer epochs: more batches in each (its __len__)"},
        {"PyDatasetAdapter", "steps_wait_for_data", 2,
         "load ahead: more workers, a larger max_queue_size; make a sample cheaper"},
        {"ArrayDataAdapter", "steps_wait_for_data", 0,
         "load ahead: tf.data with prefetch(tf.data.AUTOTUNE), or PyDataset(workers=4)"},
        {"GeneratorDataAdapter", "loading_in_main", 0, "PyDataset(workers=2) loads while it trains"},
        {"TFDatasetAdapter", "loading_in_main", NAN, "map(..., num_parallel_calls=2) loads while it trains"},
        {"TFDatasetAdapter", "slow_first_batches", NAN,
         "longer epochs (repeat() and steps_per_epoch), cache(), or a smaller shuffle(buffer_size)"},
        {"ConverterIterableDataset", "steps_wait_for_data", NAN,
         "load ahead: tf.data with prefetch(tf.data.AUTOTUNE), or PyDataset(workers=4); make a sample cheaper"},
        {"PyDatasetAdapter", "gpu_large_gaps", 0,
         "load ahead: tf.data with prefetch(tf.data.AUTOTUNE), or PyDataset(workers=4)"},
        {"TFDatasetAdapter", "gpu_large_gaps", NAN,
         "tf.data: map(..., num_parallel_calls=tf.data.AUTOTUNE) and prefetch(tf.data.AUTOTUNE)"},
        {"ArrayDataset", "steps_wait_for_data", 0,
         "load ahead: tf.data with prefetch(tf.data.AUTOTUNE), or PyDataset(workers=4)"},
        {"Images", "steps_wait_for_data", 0,
         "load the next batches in other processes: DataLoader(num_workers=2 or more)"},
    };
    static const char *const never[] = {"persistent_workers", "DataLoader", "prefetch_factor", "num_workers"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = judged_new(10);
        struct pt_module module = {.path = "/lib/libtorch_cpu.so"};
        w->process.modules = &module;
        w->process.n_modules = 1;
        set_loading(w, cases[i].rule);
        if (!isnan(cases[i].workers))
            judged_set(w, "training.workers.count", cases[i].workers);
        pt_metrics_set(&w->profile.metrics, pt_scope_stage(0), "training.data_set", pt_text(cases[i].data_set));
        add_calls(w, python("generator", "/lib/keras/src/trainers/data_adapters/array_slicing.py"),
                  strcmp(cases[i].data_set, "ArrayDataset") != 0
                      ? python("fit", "/lib/keras/src/backend/jax/trainer.py")
                      : python("__getitems__", "/lib/keras/src/trainers/data_adapters/array_data_adapter.py"),
                  PT_STACK_CALL_S, 1);
        struct pt_finding alone = {.rule = cases[i].rule};
        double share;
        const struct pt_finding *finding = strncmp(cases[i].rule, "gpu", 3) != 0 ? judged(w, cases[i].rule) : &alone;
        if (finding == &alone)
            alone.advice = alone.remedy =
                pt_in_words_of_trainer(&w->profile, &alone, pt_remedy_of(&w->profile, &alone, &share));
        assert_string_equal(finding->remedy, cases[i].remedy);
        for (size_t j = 0; strcmp(cases[i].data_set, "Images") != 0 && j < sizeof never / sizeof *never; j++)
            if (strstr(finding->remedy, never[j]) || strstr(finding->advice, never[j]))
                fail_msg("%s, %s: %s, or: %s", cases[i].data_set, cases[i].rule, finding->remedy, finding->advice);
        judged_free(w);
    }
}

static void expect_no_loader_of_torch(struct judged_stage *w, const char *data_set, const char *text)
{
    static const char *const never[] = {"persistent_workers", "DataLoader(", "DataLoader w", "prefetch_factor",
                                        "num_workers",        "pin_memory",  "a DataLoader"};
    const struct pt_finding finding = {.rule = "any"};
    const char *told = pt_in_words_of_trainer(&w->profile, &finding, text);
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(told, never[i]))
            fail_msg("%s: %s", data_set, told);
}

/* Whatever a rule says: also of workers that the data set has itself. */
static void keras_is_told_of_no_option_of_a_loader(void **state)
{
    static const char *const data_sets[] = {"ArrayDataAdapter", "GeneratorDataAdapter", "PyDatasetAdapter",
                                            "ConverterIterableDataset", "TFDatasetAdapter"};
    (void)state;
    for (size_t i = 0; i < sizeof data_sets / sizeof *data_sets; i++) {
        struct judged_stage *w = judged_new(10);
        pt_metrics_set(&w->profile.metrics, pt_scope_stage(0), "training.data_set", pt_text(data_sets[i]));
        for (const struct pt_remedy *row = pt_remedies; row->rules; row++)
            if (!strstr(row->remedy, "without a DataLoader")) /* of a TensorDataset */
                expect_no_loader_of_torch(w, data_sets[i], row->remedy);
        for (const struct pt_rule *rule = pt_rules; rule->id; rule++) {
            if (!strcmp(rule->id, "workers_read_the_same")) /* of an IterableDataset that has workers */
                continue;
            expect_no_loader_of_torch(w, data_sets[i], rule->remedy);
            expect_no_loader_of_torch(w, data_sets[i], rule->advice);
        }
        judged_free(w);
    }
}

/* predict() and evaluate() start no loader that a training takes its batches of: Keras' own files tell. */
static void keras_has_options_by_its_files(void **state)
{
    static const char ahead[] = "prepare the next inputs while the model computes: PyDataset(workers=4), or tf.data "
                                "with prefetch(tf.data.AUTOTUNE)";
    static const struct {
        const char *function, *file, *rule, *remedy;
    } cases[] = {
        {"PyDatasetAdapter._finite_generator", "py_dataset_adapter.py", "too_few_workers", "PyDataset(workers=5)"},
        {"TFDatasetAdapter.get_jax_iterator", "tf_dataset_adapter.py", "too_few_workers",
         "map(..., num_parallel_calls=5)"},
        {"get_jax_iterator", "data_adapter_utils.py", "too_few_workers", "PyDataset(workers=5)"},
        {"PyDatasetAdapter._finite_generator", "py_dataset_adapter.py", "loading_in_main", ahead},
        {"get_torch_dataloader.<locals>.ConverterIterableDataset.__iter__", "data_adapter_utils.py", "loading_in_main",
         ahead},
        {"__getitems__", "array_data_adapter.py", "loading_in_main", ahead},
        {"TFDatasetAdapter.get_jax_iterator", "tf_dataset_adapter.py", "loading_in_main",
         "prepare the next inputs while the model computes: map(..., num_parallel_calls=2) and "
         "prefetch(tf.data.AUTOTUNE)"},
        {"unpack_x_y_sample_weight", "data_adapter_utils.py", "too_few_workers",
         "DataLoader(num_workers=5, persistent_workers=True); each keeps batches in /dev/shm (docker --shm-size)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char file[128];
        struct judged_stage *w = judged_new(10);
        set_loading(w, cases[i].rule);
        judged_set(w, "training.only_calls_percent", 100);
        judged_set(w, "training.workers.count", 2);
        snprintf(file, sizeof file, "/lib/keras/src/trainers/data_adapters/%s", cases[i].file);
        add_calls(w, python(cases[i].function, file), python("predict", "/lib/keras/src/backend/jax/trainer.py"),
                  PT_STACK_CALL_S, 1);
        assert_string_equal(judged(w, cases[i].rule)->remedy, cases[i].remedy);
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
        {"jpeg_write_scanlines", "/lib/libjpeg.so.62", "dataloader_cpu_bound", "without optimize=True"},
        {"jpeg_write_scanlines", "/lib/libjpeg.so.62", "loading_in_main", "without optimize=True"},
        {"jpeg_finish_compress", "/lib/libjpeg.so.62", "dataloader_cpu_bound",
         "without optimize=True"}, /* progressive */
        {"jpeg_finish_compress", "/lib/libjpeg.so.62", "loading_in_main", "without optimize=True"},
        {"tjCompress2", "/lib/libturbojpeg.so.0", "loading_in_main", "without optimize=True"},
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
        cmocka_unit_test(a_data_set_in_memory_may_have_another_beside_it),
        cmocka_unit_test(a_class_is_known_by_its_whole_name),
        cmocka_unit_test(only_pillow_drafts),
        cmocka_unit_test(keras_has_options_by_its_data),
        cmocka_unit_test(keras_has_options_by_its_files),
        cmocka_unit_test(keras_is_told_of_no_option_of_a_loader),
        cmocka_unit_test(workers_of_an_iterator_are_to_share_its_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

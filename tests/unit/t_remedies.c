/* SPDX-License-Identifier: MIT
 *
 * What a finding says to do, and what it is called, by what was seen of the program: an advice that does nothing there
 * is worse than none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "rules/remedy.h"
#include "rules/rule.h"
#include "helper_judged.h"

static const struct pt_finding *judged(struct judged_stage *w, const char *rule)
{
    pt_judge(&w->profile, &w->findings);
    for (size_t i = 0; i < w->findings.n; i++)
        if (!strcmp(w->findings.items[i].rule, rule))
            return &w->findings.items[i];
    fail_msg("%s does not fire", rule);
    return NULL;
}

/* Seconds of a function of a library that the program's own code has called. */
static struct pt_stack *add_call(struct judged_stage *w, const char *function, const char *file, pt_u32 part,
                                 enum pt_stack_cost cost, double s)
{
    const struct pt_stack_frame frames[] = {
        {.function = function, .file = file, .flags = PT_FRAME_IS_NAMED | PT_FRAME_OF_PYTHON | PT_FRAME_SERVES},
        {.function = "main", .file = "/app/train.py", .line = 7, .flags = PT_FRAME_IS_NAMED | PT_FRAME_OF_PYTHON}};
    struct pt_stack *stack = pt_stacks_add(&w->profile.stacks, 0, frames, 2);
    stack->part = part;
    stack->cost[cost] = s;
    return stack;
}

/* Before Python 3.11 the name of a function does not have its class. */
static void who_polls_is_known_by_names_without_a_class(void **state)
{
    static const struct {
        const char *function, *file, *title;
    } cases[] = {{"Popen._wait", "/lib/python3.11/subprocess.py", "waits for a process"},
                 {"_wait", "/lib/python3.9/subprocess.py", "waits for a process"},
                 {"_wait", "/lib/python3.9/queues.py", "A loop sleeps"},
                 {"BaseEventLoop._run_once", "/lib/python3.11/asyncio/base_events.py", "event loop"},
                 {"_run_once", "/lib/python3.9/asyncio/base_events.py", "event loop"},
                 {"_run_once", "/lib/python3.9/scheduler.py", "A loop sleeps"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = judged_new(10);
        judged_set(w, "sleep.short.calls", 80);
        judged_set(w, "sleep.short.cost_s", 4);
        add_call(w, cases[i].function, cases[i].file, PT_PART_sleep, PT_STACK_MAINS_CALL_S, 4);
        const char *title = judged(w, "sleep_polling")->title;
        if (!strstr(title, cases[i].title))
            fail_msg("%s of %s: %s", cases[i].function, cases[i].file, title);
        judged_free(w);
    }
}

/* Each finding that its loader may have: more workers, NumPy and dictionaries make nothing of it cheaper. */
static void a_data_set_in_memory_needs_no_loader(void **state)
{
    static const struct {
        const char *rule;
        enum pt_place_kind place_kind;
        enum pt_stack_cost cost;
    } cases[] = {{"loading_in_main", PT_PLACE_PREPARING, PT_STACK_PREPARING_S},
                 {"python_in_training", PT_PLACE_PREPARING, PT_STACK_PREPARING_S},
                 {"tiny_operations", PT_PLACE_FORWARD, PT_STACK_FORWARD_S},
                 {"dataloader_cpu_bound", PT_PLACE_WORKERS, PT_STACK_WORKER_S},
                 {"too_few_workers", PT_PLACE_WORKERS, PT_STACK_WORKER_S}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = judged_new(10);
        const struct pt_finding finding = {.rule = cases[i].rule, .place_kind = cases[i].place_kind};
        double share;
        judged_set(w, "training.only_calls_percent", 0);
        judged_set(w, "helpers.of_loader_percent", 100);
        judged_set(w, "training.dispatch_in_loading_percent", 100);
        judged_set(w, "training.function.native_loading_percent", 100);
        add_call(w, "TensorDataset.__getitem__", "/lib/torch/utils/data/dataset.py", PT_STACK_ANY_PART, cases[i].cost,
                 4);
        const char *remedy = pt_remedy_of(&w->profile, &finding, &share);
        if (!remedy || !strstr(remedy, "take whole batches"))
            fail_msg("%s: %s", cases[i].rule, remedy);
        judged_free(w);
    }
}

/* Of a training with four ranks num_workers is what each of them has. */
static void the_number_of_workers_is_that_of_one_loader(void **state)
{
    static const struct {
        double of_loader;
        const char *advice;
    } cases[] = {{2, "num_workers=6)"}, {NAN, "num_workers=24)"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = judged_new(10);
        judged_set(w, "cpus.usable", 32);
        judged_set(w, "helpers.wait_s", 4);
        judged_set(w, "helpers.feed.calls", 90);
        judged_set(w, "helpers.workers.at_once", 8);
        judged_set(w, "helpers.busy_percent", 90);
        judged_set(w, "helpers.busy_s", 60);
        judged_set(w, "helpers.other_percent", 85);
        judged_set(w, "helpers.file_percent", 0);
        judged_set(w, "helpers.cpu_percent", 2);
        judged_set(w, "training.data_s", 6);
        judged_set(w, "training.total_s", 9);
        if (!isnan(cases[i].of_loader))
            judged_set(w, "training.workers.count", cases[i].of_loader);
        const struct pt_finding *finding = judged(w, "too_few_workers");
        if (!strstr(finding->remedy, cases[i].advice))
            fail_msg("%s", finding->remedy);
        assert_true(fabs(finding->gain_upper_s - 1.1 * 4) < 1e-9); /* 24 in all load 60 s in less than it trains */
        judged_free(w);
    }
}

/* Workers that are waited for, two of each process; `waits_percent` of what they do is no computing. */
static struct judged_stage *new_loaders(double cpus, double at_once, double waits_percent)
{
    struct judged_stage *w = judged_new(10);
    judged_set(w, "cpus.usable", cpus);
    judged_set(w, "helpers.wait_s", 8);
    judged_set(w, "helpers.feed.calls", 90);
    judged_set(w, "helpers.workers.at_once", at_once);
    judged_set(w, "helpers.workers.of_one_process", 2);
    judged_set(w, "helpers.busy_percent", 90);
    judged_set(w, "helpers.other_percent", waits_percent);
    judged_set(w, "helpers.other_of_busy_percent", waits_percent);
    judged_set(w, "helpers.file_percent", 0);
    judged_set(w, "helpers.cpu_percent", 85 - waits_percent);
    judged_set(w, "helpers.queue_percent", 0);
    judged_set(w, "helpers.of_loader_percent", 100);
    return w;
}

/* Each rank has a loader of its own: of 32 CPUs as many for each of four, not 128 workers. One more than there are,
 * where the CPUs hardly suffice; and no more than keep up. */
static void ranks_share_the_cpus(void **state)
{
    static const struct {
        double cpus, trainings, workers, at_once, data_s;
        const char *advice;
        double waits_percent; /* of what they do */
    } cases[] = {{32, 1, 2, 2, 9.5, "num_workers=32,", 0},
                 {32, 4, 2, 8, 9.5, "num_workers=8,", 0},
                 {8, 3, 2, 6, 9.5, "num_workers=3,", 0},
                 {32, NAN, 2, 2, 9.5, "num_workers=32,", 0},
                 {96, 1, 4, 4, 3, "num_workers=7,", 0},
                 {96, 1, NAN, 4, 3, "num_workers=7,", 0},
                 {6, 1, 4, 4, 3, "num_workers=6,", 0},
                 {96, 8, NAN, 4, 3, "num_workers=4)", 80}, /* in a window, of the first rank alone */
                 {96, 8, NAN, 4, 3, "num_workers=4,", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = new_loaders(cases[i].cpus, cases[i].at_once, cases[i].waits_percent);
        judged_set(w, "training.data_s", cases[i].data_s);
        judged_set(w, "training.total_s", 10);
        if (!isnan(cases[i].workers))
            judged_set(w, "training.workers.count", cases[i].workers);
        if (!isnan(cases[i].trainings))
            judged_set(w, "training.processes.at_once", cases[i].trainings);
        const struct pt_finding *finding = judged(w, "too_few_workers");
        if (!strstr(finding->remedy, cases[i].advice))
            fail_msg("%s", finding->remedy);
        judged_free(w);
    }
}

/* Four processes that wait side by side wait no shorter for that, each for its own workers; one after another each has
 * a part of the stage. */
static void who_only_calls_a_model_has_what_its_own_waits_need(void **state)
{
    static const struct {
        double cpus, at_once, waits_percent, waits_s, lived_s;
        const char *advice;
    } cases[] = {{32, 2, 0, 4, 10, "num_workers=5,"},   {96, 8, 0, 8, 10, "num_workers=11,"},
                 {12, 8, 0, 8, 10, "num_workers=3,"},   {96, 8, 80, 8, 10, "num_workers=10)"},
                 {96, 8, 80, 1, 10, "num_workers=4)"},  {96, 2, 0, 2, 2.5, "num_workers=11,"},
                 {96, 2, 80, 2, 2.5, "num_workers=10)"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = new_loaders(cases[i].cpus, cases[i].at_once, cases[i].waits_percent);
        judged_set(w, "helpers.of_one_process.wait_s", cases[i].waits_s);
        judged_set(w, "helpers.of_one_process.lived_s", cases[i].lived_s);
        const struct pt_finding *finding = judged(w, "too_few_workers");
        if (!strstr(finding->remedy, cases[i].advice))
            fail_msg("%g, %g: %s", cases[i].waits_s, cases[i].waits_percent, finding->remedy);
        judged_free(w);
    }
}

static void add_module(struct judged_stage *w, struct pt_module *module, const char *path)
{
    *module = (struct pt_module){.path = path};
    w->process.modules = module;
    w->process.n_modules = 1;
}

/* Workers that compute on the only CPU keep it from the training; those that wait for files do not. */
static void workers_need_a_cpu(void **state)
{
    static const struct {
        const char *rule;
        double cpus, trainings, beyond_percent;
        bool are_advised;
    } cases[] = {{"loading_in_main", 1, 1, 1000, false}, {"loading_in_main", 1, 1, 10, true},
                 {"loading_in_main", 2, 1, 1000, true},  {"loading_in_main", 4, 4, 1000, false},
                 {"python_in_training", 1, 1, 0, false}, {"python_in_training", 2, 1, 0, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = judged_new(10);
        struct pt_module module;
        add_module(w, &module, "/lib/libtorch_cpu.so");
        judged_set(w, "cpus.usable", cases[i].cpus);
        judged_set(w, "training.processes.at_once", cases[i].trainings);
        if (!strcmp(cases[i].rule, "loading_in_main")) {
            judged_set(w, "load.in_main.percent", 40);
            judged_set(w, "load.in_main.cost_s", 4);
            judged_set(w, "load.in_main.beyond_workers_percent", cases[i].beyond_percent);
        } else {
            judged_set(w, "training.preparing_s", 6.5);
            judged_set(w, "training.preparing_percent", 65);
        }
        const char *remedy = judged(w, cases[i].rule)->remedy;
        if ((strstr(remedy, "num_workers=") != NULL) != cases[i].are_advised)
            fail_msg("%s, %g CPUs: %s", cases[i].rule, cases[i].cpus, remedy);
        judged_free(w);
    }
}

/* As many workers as CPUs, which are waited for; in percent of their lives. */
static struct judged_stage *new_workers(double cpus, double busy, double other, double file, double cpu)
{
    struct judged_stage *w = judged_new(10);
    judged_set(w, "cpus.usable", cpus);
    judged_set(w, "helpers.wait_s", 4);
    judged_set(w, "helpers.of_one_process.wait_s", 4);
    judged_set(w, "helpers.feed.calls", 90);
    judged_set(w, "helpers.workers.at_once", cpus);
    judged_set(w, "helpers.busy_percent", busy);
    judged_set(w, "helpers.other_percent", other);
    judged_set(w, "helpers.file_percent", file);
    judged_set(w, "helpers.cpu_percent", cpu);
    return w;
}

/* A third of their time on a CPU is not all the time. */
static void the_title_says_how_much_workers_compute(void **state)
{
    (void)state;
    for (int computes = 0; computes < 2; computes++) {
        struct judged_stage *w = new_workers(2, 65, 0, 1, computes ? 60 : 34);
        const struct pt_finding *finding = judged(w, "dataloader_cpu_bound");
        assert_int_equal(strstr(finding->title, "all the time") != NULL, computes);
        judged_free(w);
    }
}

/* As many as there are CPUs are too few where they wait: to start that many is no advice. Busy, in a network, in files,
 * on a CPU, queueing: */
static void workers_that_wait_are_to_be_more_than_cpus(void **state)
{
    static const double cases[][5] = {{80, 45, 5, 30, 0}, {80, 30, 15, 30, 5}, {90, 0, 5, 20, 5}};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct judged_stage *w = new_workers(8, cases[i][0], cases[i][1], cases[i][2], cases[i][3]);
        judged_set(w, "helpers.queue_percent", cases[i][4]);
        const struct pt_finding *finding = judged(w, "too_few_workers");
        assert_int_equal(!strstr(finding->remedy, "wait for a network"), i > 0);
        assert_non_null(strstr(finding->remedy, "num_workers=16"));
        judged_free(w);
    }
}

/* A pool, or processes with a queue, beside PyTorch: whose option is num_workers, and whose are samples? */
static void a_data_loader_is_advised_where_there_is_one(void **state)
{
    static const struct {
        double busy, other, file, cpu, at_once;
        const char *rule, *of_loader, *of_pool;
    } cases[] = {{80, 45, 5, 30, 8, "too_few_workers", "num_workers=16", "more than there are CPUs: they wait"},
                 {80, 0, 0, 78, 2, "too_few_workers", "DataLoader(", "start more workers"},
                 {95, 0, 0, 92, 8, "dataloader_cpu_bound", "make a sample", "make each piece of work"}};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const bool is_loader = i % 2;
        struct judged_stage *w =
            new_workers(8, cases[i / 2].busy, cases[i / 2].other, cases[i / 2].file, cases[i / 2].cpu);
        judged_set(w, "helpers.workers.at_once", cases[i / 2].at_once);
        judged_set(w, "helpers.queue_percent", 0);
        judged_set(w, "helpers.of_loader_percent", is_loader ? 100 : 0);
        judged_set(w, "helpers.of_pool_percent", is_loader ? 0 : 100);
        const char *remedy = judged(w, cases[i / 2].rule)->remedy;
        if (!strstr(remedy, is_loader ? cases[i / 2].of_loader : cases[i / 2].of_pool))
            fail_msg("%s", remedy);
        judged_free(w);
    }
}

/* Who only calls a model trains nothing. */
static void inference_is_not_told_that_it_trains(void **state)
{
    (void)state;
    for (int only_calls = 0; only_calls < 2; only_calls++) {
        struct judged_stage *w = judged_new(10);
        judged_set(w, "load.in_main.percent", 40);
        judged_set(w, "load.in_main.cost_s", 4);
        judged_set(w, "training.only_calls_percent", only_calls ? 100 : 0);
        const struct pt_finding *finding = judged(w, "loading_in_main");
        assert_int_equal(!strstr(finding->title, "train"), only_calls);
        assert_int_equal(!strstr(finding->remedy, "train"), only_calls);
        judged_free(w);
    }
}

/* Sets and dictionaries help what runs in Python: neither NumPy nor the fitting of a model. */
static void only_python_is_to_look_things_up(void **state)
{
    static const struct {
        const char *function, *remedy;
        double native_s;
    } cases[] = {{"compute", "look at that function", 5},
                 {"<module>", "look at that code", 5},
                 {"compute", "work divided among idle CPUs", 7},
                 {"<module>", "work divided among idle CPUs", 7}};
    static const struct pt_stack_frame native = {.function = "sort", .module = "/np.so", .flags = PT_FRAME_IS_NAMED};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = judged_new(10);
        judged_set(w, "time.computing_s", 9);
        judged_set(w, "cpu.total_s", 9.1);
        for (int is_native = 0; is_native < 2; is_native++) {
            const double s = is_native ? cases[i].native_s : 9 - cases[i].native_s;
            const struct pt_stack_frame frames[] = {native,
                                                    {.function = cases[i].function,
                                                     .file = "/app/train.py",
                                                     .line = 7,
                                                     .flags = PT_FRAME_IS_NAMED | PT_FRAME_OF_PYTHON}};
            struct pt_stack *stack =
                pt_stacks_add(&w->profile.stacks, 0, is_native ? frames : frames + 1, is_native ? 2 : 1);
            stack->part = PT_STACK_ANY_PART;
            stack->cost[PT_STACK_CPU_S] = stack->cost[PT_STACK_CRITICAL_S] = stack->cost[PT_STACK_CRITICAL_OWN_S] = s;
        }
        const char *remedy = judged(w, "one_thread_computes")->remedy;
        if (!strstr(remedy, cases[i].remedy))
            fail_msg("%s: %s", cases[i].function, remedy);
        judged_free(w);
    }
}

/* Who trains by a trainer has no DataLoader to change; who only imports one has. */
static void trainers_have_other_names_for_options(void **state)
{
    static const struct {
        const char *function, *file, *rule, *remedy;
    } cases[] = {
        {"Trainer.train", "/lib/transformers/trainer.py", "slow_first_batches",
         "keep the workers between epochs: TrainingArguments(dataloader_persistent_workers=True (transformers 4.36+))"},
        {"<module>", "/lib/transformers/trainer.py", "slow_first_batches",
         "keep the workers between epochs: DataLoader(persistent_workers=True)"},
        {"Trainer.train", "/app/trainer.py", "slow_first_batches",
         "keep the workers between epochs: DataLoader(persistent_workers=True)"},
        {"Trainer.train", "/lib/transformers/trainer.py", "too_few_workers",
         "TrainingArguments(dataloader_num_workers=5, dataloader_persistent_workers=True (transformers 4.36+)); "
         "each keeps batches in /dev/shm (docker --shm-size)"},
        {"BaseTrainer._do_train", "/lib/ultralytics/engine/trainer.py", "too_few_workers",
         "model.train(workers=5); each keeps batches in /dev/shm (docker --shm-size)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = new_workers(8, 80, 0, 0, 78);
        judged_set(w, "helpers.workers.at_once", 2);
        judged_set(w, "helpers.of_loader_percent", 100);
        judged_set(w, "training.late_starts_percent", 40);
        judged_set(w, "training.restarts.cost_s", 3);
        add_call(w, cases[i].function, cases[i].file, PT_PART_network, PT_STACK_CALL_S, 1);
        assert_string_equal(judged(w, cases[i].rule)->remedy, cases[i].remedy);
        judged_free(w);
    }
}

/* A file of Python is known by its whole name: one of the program's own may have any name. */
static void writers_of_images_are_known_by_their_file(void **state)
{
    static const struct {
        const char *file, *rule, *remedy;
    } cases[] = {{"/lib/PIL/PngImagePlugin.py", "compressing", "compress_level=1), without optimize=True"},
                 {"/lib/PIL/JpegImagePlugin.py", "compressing", NULL},
                 {"/app/old_PngImagePlugin.py", "compressing", NULL},
                 {"/app/sqlite_of_my_tests.py", "one_thread_computes", NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = judged_new(10);
        const struct pt_finding finding = {.rule = cases[i].rule, .place_kind = PT_PLACE_STEPS};
        double share;
        add_call(w, "_save", cases[i].file, PT_STACK_ANY_PART, PT_STACK_STEPS_S, 4);
        const char *remedy = pt_remedy_of(&w->profile, &finding, &share);
        assert_int_equal(remedy != NULL, cases[i].remedy != NULL);
        if (remedy)
            assert_non_null(strstr(remedy, cases[i].remedy));
        judged_free(w);
    }
}

/* Nothing is fetched by who sends. */
static void who_sends_is_not_told_to_fetch(void **state)
{
    static const struct {
        const char *function;
        double sent_percent;
        const char *remedy;
    } cases[] = {{"log_metric", 70, "log every 50th step"},
                 {"MlflowClient.log_batch", 20, "log every 50th step"},
                 {"upload", 70, "send less often"},
                 {"download", 20, "fetch 8 to 32 at once"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = judged_new(10);
        judged_set(w, "net.request.calls", 90);
        judged_set(w, "net.at_once", 1);
        judged_set(w, "net.cost_s", 4);
        judged_set(w, "net.sent.percent", cases[i].sent_percent);
        add_call(w, cases[i].function, "/lib/client.py", PT_PART_network, PT_STACK_CALL_S, 4);
        const char *remedy = judged(w, "serial_fetches")->remedy;
        if (!strstr(remedy, cases[i].remedy))
            fail_msg("%s: %s", cases[i].function, remedy);
        judged_free(w);
    }
}

/* A notebook asks its kernel: of eleven requests one waits until that has started. */
static void one_long_request_is_not_fetched_sooner_beside_others(void **state)
{
    struct host_row {
        double longest_s, total_s;
    };
    static const struct pt_column columns[] = {
        PT_COLUMN(struct host_row, longest_s, SECONDS, "Longest"),
        PT_COLUMN(struct host_row, total_s, SECONDS, "Time"),
    };
    static const struct pt_table_kind hosts = {PT_VIEW_hosts, .most = 9, PT_COLUMNS(columns)};
    (void)state;
    for (int has_long_one = 0; has_long_one < 2; has_long_one++) {
        struct judged_stage *w = judged_new(10);
        judged_set(w, "net.cost_s", 4);
        judged_set(w, "net.request.calls", 30);
        judged_set(w, "net.connect.calls", 30);
        judged_set(w, "net.at_once", 1);
        struct pt_table *table = pt_metrics_add_table(&w->profile.metrics, pt_scope_stage(0), &hosts);
        pt_table_add(table, &(struct host_row){has_long_one ? 2 : 0.2, 2.5});
        pt_table_add(table, &(struct host_row){0.2, 1.5});
        pt_judge(&w->profile, &w->findings);
        assert_int_equal(judged_find(w, "serial_fetches") == NULL, has_long_one);
        judged_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_polls_is_known_by_names_without_a_class),
        cmocka_unit_test(the_title_says_how_much_workers_compute),
        cmocka_unit_test(workers_that_wait_are_to_be_more_than_cpus),
        cmocka_unit_test(a_data_loader_is_advised_where_there_is_one),
        cmocka_unit_test(the_number_of_workers_is_that_of_one_loader),
        cmocka_unit_test(ranks_share_the_cpus),
        cmocka_unit_test(who_only_calls_a_model_has_what_its_own_waits_need),
        cmocka_unit_test(workers_need_a_cpu),
        cmocka_unit_test(inference_is_not_told_that_it_trains),
        cmocka_unit_test(trainers_have_other_names_for_options),
        cmocka_unit_test(writers_of_images_are_known_by_their_file),
        cmocka_unit_test(who_sends_is_not_told_to_fetch),
        cmocka_unit_test(only_python_is_to_look_things_up),
        cmocka_unit_test(a_data_set_in_memory_needs_no_loader),
        cmocka_unit_test(one_long_request_is_not_fetched_sooner_beside_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

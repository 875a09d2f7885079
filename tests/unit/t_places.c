/* SPDX-License-Identifier: MIT
 *
 * Where findings point to, and what they say to do: the nearest function with a name over all stacks of a finding,
 * unknown with the reason where there is none; a remedy only for a library that is in those stacks, or loaded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "rules/remedy.h"
#include "rules/rule.h"
#include "helper_judged.h"

static const struct pt_stack_frame kernel = {"[kernel]", NULL, NULL, 0, PT_FRAME_SERVES},
                                   libc_read = {"__GI___read", "read.c", "/lib/libc.so.6", 26,
                                                PT_FRAME_SERVES | PT_FRAME_IS_NAMED},
                                   libc_fork = {"arch_fork", NULL, "/lib/libc.so.6", 0,
                                                PT_FRAME_SERVES | PT_FRAME_IS_NAMED},
                                   nameless = {"[libdata.so]", NULL, "/lib/libdata.so", 0, 0},
                                   standard = {"std::vector<int>::resize", NULL, "/app/train", 0, PT_FRAME_IS_NAMED},
                                   load = {"load_record", "/src/load.c", "/app/train", 12, PT_FRAME_IS_NAMED},
                                   other = {"other", NULL, "/app/train", 0, PT_FRAME_IS_NAMED},
                                   python = {"[python3.11]", NULL, "/usr/bin/python3.11", 0, PT_FRAME_IS_PYTHON},
                                   cut = {"[cut]", NULL, NULL, 0, PT_FRAME_IS_CUT},
                                   gomp = {"[libgomp.so.1]", NULL, "/lib/libgomp.so.1", 0, 0},
                                   pillow = {"memory_get_block", NULL, "/py/_imaging.so", 0, PT_FRAME_IS_NAMED};

static void add(struct judged_stage *w, pt_u32 part, enum pt_stack_cost what, double cost, pt_u32 n, ...)
{
    struct pt_stack_frame frames[PT_STACK_FRAMES];
    va_list list;
    va_start(list, n);
    for (pt_u32 i = 0; i < n; i++)
        frames[i] = *va_arg(list, const struct pt_stack_frame *);
    va_end(list);
    struct pt_stack *stack = pt_stacks_add(&w->profile.stacks, 0, frames, n);
    stack->part = part;
    stack->cost[what] = cost;
}

static const struct pt_finding *judge(struct judged_stage *w, const char *rule)
{
    pt_judge(&w->profile, &w->findings);
    for (size_t i = 0; i < w->findings.n; i++)
        if (!strcmp(w->findings.items[i].rule, rule))
            return &w->findings.items[i];
    fail_msg("%s does not fire", rule);
    return NULL;
}

static struct judged_stage *small_reads(void)
{
    struct judged_stage *w = judged_new(10);
    judged_set(w, "io.read_small.calls", 1e6);
    judged_set(w, "io.read_small.cost_s", 5);
    return w;
}

static void the_nearest_name_of_the_program_counts(void **state)
{
    (void)state;
    struct judged_stage *w = small_reads();
    /* two stacks of one place are one; libc, a file without symbols and the standard library are passed over */
    add(w, PT_PART_file_read, PT_STACK_CALL_S, 2, 3, &libc_read, &nameless, &load);
    add(w, PT_PART_file_read, PT_STACK_CALL_S, 2, 4, &kernel, &libc_read, &standard, &load);
    add(w, PT_PART_file_read, PT_STACK_CALL_S, 3, 2, &libc_read, &other);
    /* neither another part nor another stage */
    add(w, PT_PART_sleep, PT_STACK_MAIN_CALL_S, 9, 1, &other);
    add(w, PT_PART_file_read, PT_STACK_CALL_S, 9, 1, &other);
    w->profile.stacks.items[w->profile.stacks.n - 1].stage = 1;
    const struct pt_place place = judge(w, "small_reads")->place;
    assert_string_equal(place.function, "load_record");
    assert_string_equal(place.file, "/src/load.c");
    assert_int_equal(place.line, 12);
    assert_string_equal(place.module, "/app/train");
    assert_string_equal(place.language, "native");
    assert_string_equal(place.text, "load_record (load.c:12), 57 % of that time");
    assert_null(place.reason);
    judged_free(w);
}

/* Sleeps of main threads are what is counted, whichever process they are of: a worker's outweigh a wink of the first.
 */
static void a_sleep_is_where_the_process_sleeps_whose_cost_it_is(void **state)
{
    (void)state;
    struct judged_stage *w = judged_new(10);
    judged_set(w, "sleep.long.cost_s", 5);
    judged_set(w, "sleep.long.worker_percent", 99);
    add(w, PT_PART_sleep, PT_STACK_MAINS_CALL_S, 5, 1, &load);
    add(w, PT_PART_sleep, PT_STACK_MAINS_CALL_S, 0.0002, 1, &other);
    w->profile.stacks.items[1].cost[PT_STACK_MAIN_CALL_S] = 0.0002;
    add(w, PT_PART_sleep, PT_STACK_CALL_S, 9, 1, &standard); /* a thread that waits for work */
    const struct pt_finding *finding = judge(w, "long_sleeps");
    assert_string_equal(finding->place.function, "load_record");
    assert_string_equal(finding->title, "A worker sleeps for a fixed time");
    judged_free(w);
}

/* What workers do costs the main thread its wait for them: where they spend it is what can be changed. */
static void workers_are_waited_for_because_of_what_they_do(void **state)
{
    (void)state;
    struct judged_stage *w = judged_new(10);
    judged_set(w, "helpers.wait_s", 5);
    judged_set(w, "helpers.feed.calls", 50);
    judged_set(w, "helpers.workers.at_once", 1);
    judged_set(w, "helpers.busy_percent", 99);
    judged_set(w, "helpers.cpu_percent", 90);
    judged_set(w, "cpus.usable", 8);
    add(w, PT_PART_data_wait, PT_STACK_MAIN_CALL_S, 5, 1, &other);
    add(w, PT_PART_data_wait, PT_STACK_WORKER_S, 4, 1, &other);
    add(w, PT_STACK_ANY_PART, PT_STACK_WORKER_S, 3, 1, &load);
    assert_string_equal(judge(w, "too_few_workers")->place.function, "load_record");
    judged_free(w);
}

static void where_no_main_thread_was_others_count(void **state)
{
    (void)state;
    struct judged_stage *w = judged_new(10);
    judged_set(w, "sleep.long.cost_s", 5);
    add(w, PT_PART_sleep, PT_STACK_CALL_S, 2, 2, &libc_read, &other);
    const struct pt_place place = judge(w, "long_sleeps")->place;
    assert_string_equal(place.function, "other");
    assert_null(place.file);
    assert_string_equal(place.text, "other (train)"); /* all of it */
    judged_free(w);
}

static void python_has_no_function(void **state)
{
    (void)state;
    struct judged_stage *w = small_reads();
    add(w, PT_PART_file_read, PT_STACK_CALL_S, 2, 4, &libc_read, &python, &python, &other);
    const struct pt_place place = judge(w, "small_reads")->place;
    assert_null(place.function);
    assert_string_equal(place.language, "python");
    assert_string_equal(place.module, "/usr/bin/python3.11");
    assert_string_equal(place.text, "Python code (python3.11)");
    assert_string_equal(place.reason, "Python code: the trace does not tell its functions");
    judged_free(w);
}

static void a_file_without_symbols_is_known_by_itself(void **state)
{
    (void)state;
    struct judged_stage *w = small_reads();
    add(w, PT_PART_file_read, PT_STACK_CALL_S, 2, 3, &libc_read, &nameless, &python);
    const struct pt_place place = judge(w, "small_reads")->place;
    assert_null(place.function);
    assert_string_equal(place.language, "native");
    assert_string_equal(place.module, "/lib/libdata.so");
    assert_string_equal(place.reason, "its file has no symbols for it");
    judged_free(w);
}

static void an_extension_of_python_is_its_package(void **state)
{
    (void)state;
    static const struct pt_stack_frame imaging = {"[_imaging]", NULL,
                                                  "/py/PIL/_imaging.cpython-311-x86_64-linux-gnu.so", 0, 0};
    struct judged_stage *w = small_reads();
    add(w, PT_PART_file_read, PT_STACK_CALL_S, 2, 2, &imaging, &python);
    const struct pt_place place = judge(w, "small_reads")->place;
    assert_string_equal(place.text, "PIL/_imaging");
    assert_string_equal(place.module, imaging.module);
    judged_free(w);
}

static void what_is_not_known_has_its_reason(void **state)
{
    (void)state;
    struct judged_stage *w = small_reads();
    assert_string_equal(judge(w, "small_reads")->place.reason, "needs the CPU profile of proftrace run");
    judged_free(w);
    w = small_reads();
    pt_metrics_set(&w->profile.metrics, pt_scope_stage(0), "cpu.off_s", pt_unknown("the kernel refuses"));
    assert_string_equal(judge(w, "small_reads")->place.reason, "the kernel refuses");
    judged_free(w);
    w = small_reads();
    add(w, PT_PART_file_read, PT_STACK_CALL_S, 2, 2, &kernel, &cut);
    assert_string_equal(judge(w, "small_reads")->place.reason, "its stacks hold no frame of the program");
    judged_free(w);
    w = judged_new(10);
    judged_set(w, "capture.lost.events", 3);
    const struct pt_place place = judge(w, "events_lost")->place;
    assert_string_equal(place.reason, "it lies in no single place of the code");
    assert_null(place.text);
    judged_free(w);
}

static void a_fork_is_found_by_who_called_it(void **state)
{
    (void)state;
    struct judged_stage *w = judged_new(10);
    judged_set(w, "fork.mean_s", 0.1);
    judged_set(w, "fork.cost_s", 5);
    add(w, PT_STACK_ANY_PART, PT_STACK_CPU_S, 2, 4, &kernel, &libc_fork, &nameless, &load);
    add(w, PT_STACK_ANY_PART, PT_STACK_CPU_S, 7, 2, &kernel, &other);
    const struct pt_finding *finding = judge(w, "fork_of_large_process");
    assert_string_equal(finding->place.function, "load_record");
    /* the evidence is the place itself */
    const struct pt_evidence *where = &finding->evidence[finding->n_evidence - 1];
    assert_string_equal(where->key, "where");
    assert_string_equal(where->value.text, "load_record (load.c:12)");
    judged_free(w);
}

static struct judged_stage *remapped(void)
{
    struct judged_stage *w = judged_new(10);
    judged_set(w, "faults.cost_s", 5);
    judged_set(w, "faults.minor.calls", 1e6);
    judged_set(w, "rss.max_bytes", 1e8);
    judged_set(w, "heap.remapped_large.bytes", 4e9);
    return w;
}

static void allocations_have_a_place_without_the_launcher(void **state)
{
    (void)state;
    struct judged_stage *w = remapped();
    assert_string_equal(judge(w, "large_blocks_remapped")->place.reason, "no stack was taken of these allocations");
    judged_free(w);
    w = remapped();
    add(w, PT_STACK_ANY_PART, PT_STACK_ALLOCATED_BYTES, 3e9, 2, &nameless, &load);
    add(w, PT_STACK_ANY_PART, PT_STACK_ALLOCATED_BYTES, 1e9, 1, &other);
    assert_string_equal(judge(w, "large_blocks_remapped")->place.text,
                        "load_record (load.c:12), 75 % of the bytes allocated");
    judged_free(w);
}

static void page_faults_lie_where_pages_are_touched(void **state)
{
    (void)state;
    struct judged_stage *w = remapped();
    judged_set(w, "heap.remapped_large.bytes", 0);
    add(w, PT_STACK_ANY_PART, PT_STACK_CPU_S, 9, 1, &other);
    add(w, PT_STACK_ANY_PART, PT_STACK_FAULT_S, 3, 2, &kernel, &load);
    assert_string_equal(judge(w, "page_fault_storm")->place.function, "load_record");
    judged_free(w);
}

static void pressure_of_disks_lies_in_files_and_pages(void **state)
{
    (void)state;
    struct judged_stage *w = judged_new(10);
    judged_set(w, "resource.io_pressure_percent.mean", 40);
    judged_set(w, "pressure.io.cost_s", 4);
    add(w, PT_PART_sleep, PT_STACK_MAIN_CALL_S, 9, 1, &other);
    add(w, PT_PART_file_read, PT_STACK_MAIN_CALL_S, 2, 1, &other);
    add(w, PT_PART_page_fault, PT_STACK_MAIN_CALL_S, 2, 1, &load);
    add(w, PT_PART_file_write, PT_STACK_MAIN_CALL_S, 1, 2, &libc_read, &load);
    assert_string_equal(judge(w, "io_pressure")->place.text, "load_record (load.c:12), 60 % of that time");
    judged_free(w);
}

static const struct pt_stack_frame importer = {"_find_and_load", "<frozen importlib._bootstrap>", NULL, 1027,
                                               PT_FRAME_IS_NAMED | PT_FRAME_OF_PYTHON | PT_FRAME_SERVES},
                                   import_line = {"<module>", "/app/train.py", NULL, 3,
                                                  PT_FRAME_IS_NAMED | PT_FRAME_OF_PYTHON},
                                   get_item = {"Set.__getitem__", "/app/data.py", NULL, 41,
                                               PT_FRAME_IS_NAMED | PT_FRAME_OF_PYTHON},
                                   lazy_call = {"_lazy_call", "/usr/lib/python3/dist-packages/torch/cuda/__init__.py",
                                                NULL, 172, PT_FRAME_IS_NAMED | PT_FRAME_OF_PYTHON};

static void a_slow_start_is_the_import_that_takes_longest(void **state)
{
    (void)state;
    struct judged_stage *w = judged_new(10);
    judged_set(w, "imports.share_percent", 30);
    judged_set(w, "imports.cost_s", 3);
    add(w, PT_PART_file_meta, PT_STACK_CALL_S, 4, 1, &get_item);
    add(w, PT_PART_file_meta, PT_STACK_CALL_S, 2, 2, &importer, &import_line);
    assert_string_equal(judge(w, "slow_imports")->place.text, "train.py:3 <module>");
    judged_free(w);
}

/* And a library is the place only where it costs far more than the program's own lines. */
static void loading_in_a_training_is_not_what_it_imports(void **state)
{
    (void)state;
    struct judged_stage *w = judged_new(10);
    judged_set(w, "load.in_main.percent", 40);
    judged_set(w, "load.in_main.cost_s", 4);
    add(w, PT_STACK_ANY_PART, PT_STACK_CPU_S, 5, 2, &importer, &import_line);
    add(w, PT_STACK_ANY_PART, PT_STACK_PREPARING_S, 3, 1, &lazy_call);
    add(w, PT_STACK_ANY_PART, PT_STACK_PREPARING_S, 2, 1, &get_item);
    assert_string_equal(judge(w, "loading_in_main")->place.text,
                        "data.py:41 Set.__getitem__, 40 % of the CPU time outside of the framework");
    judged_free(w);
}

static void a_late_rank_is_late_where_it_does_more(void **state)
{
    (void)state;
    struct judged_stage *w = judged_new(10);
    judged_set(w, "ranks.count", 2);
    judged_set(w, "ranks.imbalance_percent", 60);
    judged_set(w, "ranks.imbalance.cost_s", 4);
    judged_set(w, "ranks.late", 1);
    judged_set(w, "ranks.waits_most", 0);
    add(w, PT_STACK_ANY_PART, PT_STACK_CPU_S, 9, 1, &import_line);
    add(w, PT_STACK_ANY_PART, PT_STACK_RANK_S, 3, 1, &get_item);
    assert_string_equal(judge(w, "rank_imbalance")->place.text, "data.py:41 Set.__getitem__");
    judged_free(w);
}

/* ---- remedies ---- */

static void a_library_in_a_third_of_the_stacks_has_its_remedy(void **state)
{
    (void)state;
    for (int is_enough = 0; is_enough < 2; is_enough++) {
        struct judged_stage *w = remapped();
        add(w, PT_STACK_ANY_PART, PT_STACK_ALLOCATED_BYTES, is_enough ? 1.1e9 : 0.9e9, 2, &pillow, &python);
        add(w, PT_STACK_ANY_PART, PT_STACK_ALLOCATED_BYTES, 2e9, 1, &other);
        const char *remedy = judge(w, "large_blocks_remapped")->remedy;
        assert_int_equal(strstr(remedy, "PILLOW") != NULL, is_enough);
        assert_non_null(strstr(remedy, "MALLOC_MMAP_THRESHOLD_"));
        judged_free(w);
    }
}

static void another_allocator_has_its_own_option(void **state)
{
    (void)state;
    struct judged_stage *w = remapped();
    struct pt_module module = {.path = "/usr/lib/libjemalloc.so.2"};
    w->process.modules = &module;
    w->process.n_modules = 1;
    assert_non_null(strstr(judge(w, "large_blocks_remapped")->remedy, "MALLOC_CONF=dirty_decay_ms:-1"));
    w->process.n_modules = 0;
    judged_free(w);
}

/* A loader without workers asks a database for each sample. */
static void samples_of_sqlite_are_told_of_an_index(void **state)
{
    static const struct pt_stack_frame vdbe = {"sqlite3VdbeExec", NULL, "/lib/libsqlite3.so.0", 0, PT_FRAME_IS_NAMED},
                                       sample = {"Users.__getitem__", "/app/train.py", NULL, 18, PT_FRAME_OF_PYTHON},
                                       train = {"train", "/app/train.py", NULL, 30, PT_FRAME_OF_PYTHON};
    (void)state;
    struct judged_stage *w = judged_new(10);
    judged_set(w, "training.window_s", 9);
    add(w, PT_STACK_ANY_PART, PT_STACK_TRAINING_S, 4, 3, &vdbe, &sample, &train);
    double *cost = w->profile.stacks.items[0].cost;
    cost[PT_STACK_TRAINING_OWN_S] = cost[PT_STACK_PREPARING_S] = cost[PT_STACK_FETCH_S] = 4;
    const struct pt_finding *finding = judge(w, "python_in_training");
    assert_non_null(strstr(finding->remedy, "index"));
    assert_non_null(strstr(finding->title, "Data is loaded in the training process"));
    judged_free(w);
}

/* glibc refuses a threshold above 32 MiB. */
static void blocks_above_the_largest_threshold_need_no_threshold(void **state)
{
    (void)state;
    struct judged_stage *w = remapped();
    judged_set(w, "heap.huge.percent", 60);
    assert_non_null(strstr(judge(w, "large_blocks_remapped")->remedy, "MALLOC_MMAP_MAX_=0"));
    judged_free(w);
}

static void threads_are_those_of_the_pool_that_computes(void **state)
{
    (void)state;
    struct judged_stage *w = judged_new(10);
    judged_set(w, "cpus.usable", 2);
    judged_set(w, "cpu.oversubscribed.threads_per_process", 9);
    judged_set(w, "cpu.oversubscribed.queue_share", 3);
    judged_set(w, "cpu.computing_threads", 8);
    judged_set(w, "cpu.oversubscribed.cost_s", 4);
    const char *general = judge(w, "oversubscribed_threads")->remedy;
    assert_null(strstr(general, "OMP_NUM_THREADS"));
    pt_findings_free(&w->findings);
    add(w, PT_STACK_ANY_PART, PT_STACK_CPU_S, 3, 2, &other, &gomp);
    assert_non_null(strstr(judge(w, "oversubscribed_threads")->remedy, "OMP_NUM_THREADS=CPUs"));
    pt_findings_free(&w->findings);
    judged_set(w, "cpu.oversubscribed.threads_per_process", 2); /* five processes, with two of them each */
    judged_set(w, "cpu.computing_threads", 2);
    judged_set(w, "cpu.oversubscribed.at_once", 8);
    judged_set(w, "cpu.pools.count", 5);
    judged_set(w, "cpu.pools.threads", 10);
    assert_string_equal(judge(w, "oversubscribed_threads")->remedy, "OMP_NUM_THREADS=1 in each of these processes");
    pt_findings_free(&w->findings);
    judged_set(w, "cpus.usable", 16); /* one thread in each of four processes would leave 12 of these idle */
    judged_set(w, "cpu.oversubscribed.at_once", 60);
    judged_set(w, "cpu.pools.count", 4);
    judged_set(w, "cpu.pools.threads", 64);
    assert_string_equal(judge(w, "oversubscribed_threads")->remedy, "OMP_NUM_THREADS=4 in each of these processes");
    pt_findings_free(&w->findings);
    judged_set(w, "cpu.oversubscribed.at_once", 140);
    judged_set(w, "cpu.pools.count", 9);
    judged_set(w, "cpu.pools.threads", 9 * 16);
    judged_set(w, "cpu.total_s", 150); /* nearly all that 16 CPUs can do: nine would take longer */
    judged_set(w, "cpu.spinning_s", 40);
    judged_set(w, "resource.voluntary_switches.last", 1e6);
    assert_string_equal(judge(w, "oversubscribed_threads")->remedy, "OMP_NUM_THREADS=2 in each of these processes");
    pt_findings_free(&w->findings);
    judged_set(w, "cpus.usable", 3); /* of four threads one waits, and another spins for it */
    judged_set(w, "cpu.oversubscribed.at_once", 7);
    judged_set(w, "cpu.pools.count", 2);
    judged_set(w, "cpu.pools.threads", 8);
    judged_set(w, "cpu.total_s", 29);
    judged_set(w, "cpu.spinning_s", 20);
    assert_string_equal(judge(w, "oversubscribed_threads")->remedy, "OMP_NUM_THREADS=1 in each of these processes");
    pt_findings_free(&w->findings);
    judged_set(w, "training.workers.count", 3); /* three of them are workers of the fourth */
    judged_set(w, "training.processes.at_once", 1);
    assert_non_null(strstr(judge(w, "oversubscribed_threads")->remedy, "one thread in each worker"));
    judged_free(w);
}

struct file_row {
    const char *path;
    double sync_s;
};

static void a_journal_is_of_sqlite(void **state)
{
    (void)state;
    static const struct pt_column columns[] = {
        PT_COLUMN(struct file_row, path, TEXT, "File"),
        PT_COLUMN(struct file_row, sync_s, SECONDS, "Sync time"),
    };
    static const struct pt_table_kind by_file = {PT_VIEW_storage_waits, .most = 9, PT_COLUMNS(columns)};
    for (int is_journal = 0; is_journal < 2; is_journal++) {
        struct judged_stage *w = judged_new(10);
        judged_set(w, "storage.sync.calls", 100);
        judged_set(w, "storage.sync.avoidable_s", 4);
        struct pt_rows rows = pt_rows(&w->profile.metrics, pt_scope_stage(0), &by_file);
        pt_rows_add(&rows, &(struct file_row){is_journal ? "/data/log.db-journal" : "/data/log", 4});
        const char *remedy = judge(w, "synchronous_fsync")->remedy;
        assert_int_equal(strstr(remedy, "SQLite") != NULL, is_journal);
        /* As a statement it must be none that SQLite refuses: it has one name for each PRAGMA. */
        assert_int_equal(strstr(remedy, "; PRAGMA synchronous=NORMAL") != NULL, is_journal);
        judged_free(w);
    }
}

/* What one thread computes is no problem, but it has a place: code that was made at run time, too. */
static void where_it_computes_is_an_observation(void **state)
{
    static const struct pt_stack_frame made = {"JIT code (oneDNN)", NULL, NULL, 0, PT_FRAME_IS_JIT};
    (void)state;
    struct judged_stage *w = judged_new(10);
    judged_set(w, "time.computing_s", 9);
    judged_set(w, "cpu.total_s", 9.1);
    add(w, PT_STACK_ANY_PART, PT_STACK_CPU_S, 7, 2, &made, &cut);
    add(w, PT_STACK_ANY_PART, PT_STACK_CPU_S, 2, 1, &load);
    const struct pt_finding *finding = judge(w, "one_thread_computes");
    assert_true(finding->is_observation);
    assert_true(finding->gain_upper_s == 0 && finding->time_s == 9);
    assert_string_equal(finding->title, "One thread computes, without waiting");
    assert_string_equal(finding->place.text, "JIT code (oneDNN), 78 % of all CPU time");
    judged_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_name_of_the_program_counts),
        cmocka_unit_test(a_sleep_is_where_the_process_sleeps_whose_cost_it_is),
        cmocka_unit_test(workers_are_waited_for_because_of_what_they_do),
        cmocka_unit_test(where_no_main_thread_was_others_count),
        cmocka_unit_test(python_has_no_function),
        cmocka_unit_test(a_file_without_symbols_is_known_by_itself),
        cmocka_unit_test(an_extension_of_python_is_its_package),
        cmocka_unit_test(what_is_not_known_has_its_reason),
        cmocka_unit_test(a_fork_is_found_by_who_called_it),
        cmocka_unit_test(allocations_have_a_place_without_the_launcher),
        cmocka_unit_test(page_faults_lie_where_pages_are_touched),
        cmocka_unit_test(pressure_of_disks_lies_in_files_and_pages),
        cmocka_unit_test(a_slow_start_is_the_import_that_takes_longest),
        cmocka_unit_test(loading_in_a_training_is_not_what_it_imports),
        cmocka_unit_test(a_late_rank_is_late_where_it_does_more),
        cmocka_unit_test(a_library_in_a_third_of_the_stacks_has_its_remedy),
        cmocka_unit_test(another_allocator_has_its_own_option),
        cmocka_unit_test(samples_of_sqlite_are_told_of_an_index),
        cmocka_unit_test(blocks_above_the_largest_threshold_need_no_threshold),
        cmocka_unit_test(threads_are_those_of_the_pool_that_computes),
        cmocka_unit_test(a_journal_is_of_sqlite),
        cmocka_unit_test(where_it_computes_is_an_observation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * The CPU profile's parts: mappings that replace each other, times that add up whatever was lost, stacks as numbers,
 * and a reader that meets files with valid checksums and hostile contents.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "facts/cpu_names.h"
#include "cpu_profile/cfi.h"
#include "cpu_profile/images.h"
#include "cpu_profile/records.h"
#include "cpu_profile/stack_tree.h"
#include "cpu_profile/threads.h"
#include "cpu_file/read.h"
#include "util/auto.h"

/* ---- mappings ---- */

static struct pt_image *image_of(struct pt_images *images, pt_u32 pid)
{
    return pt_images_of(images, pid);
}

static void a_mapping_replaces_what_lies_below_it(void **state)
{
    (void)state;
    struct pt_code_modules modules = {0};
    struct pt_images images = {0};
    struct pt_code_module *a = pt_code_module_of(&modules, "/a", 1), *b = pt_code_module_of(&modules, "/b", 2);
    struct pt_image *image = image_of(&images, 1);
    pt_image_map(image, &(struct pt_mapping){1000, 9000, 0, a});
    pt_image_map(image, &(struct pt_mapping){3000, 4000, 500, b}); /* into its middle */
    assert_int_equal(image->n, 3);
    assert_ptr_equal(pt_image_find(image, 2999)->module, a);
    assert_ptr_equal(pt_image_find(image, 3000)->module, b);
    const struct pt_mapping *tail = pt_image_find(image, 4000);
    assert_ptr_equal(tail->module, a);
    assert_int_equal(4000 - tail->start + tail->file_offset, 3000);
    pt_image_map(image, &(struct pt_mapping){500, 3500, 0, b}); /* over a head, a whole one and a half */
    assert_ptr_equal(pt_image_find(image, 3600)->module, b);
    assert_int_equal(3600 - pt_image_find(image, 3600)->start + pt_image_find(image, 3600)->file_offset, 1100);
    assert_null(pt_image_find(image, 499));
    assert_null(pt_image_find(image, 9000));
    pt_images_fork(&images, 1, 2);
    pt_image_map(image_of(&images, 2), &(struct pt_mapping){0, 100000, 0, a});
    assert_ptr_equal(pt_image_find(image_of(&images, 1), 3600)->module, b);
    assert_ptr_equal(pt_image_find(image_of(&images, 2), 3600)->module, a);
    pt_images_exec(&images, 2);
    assert_null(pt_image_find(image_of(&images, 2), 3600));
    pt_images_end(&images, 2);
    pt_image_map(image, &(struct pt_mapping){~0ull - 10, 5, 0, a}); /* an end before its start */
    pt_images_fini(&images);
    pt_code_modules_fini(&modules);
}

static void two_files_of_one_path_are_two_modules(void **state)
{
    (void)state;
    struct pt_code_modules modules = {0};
    struct pt_code_module *here = pt_code_module_of(&modules, "/lib/libc.so.6", 1);
    struct pt_code_module *in_container = pt_code_module_of(&modules, "/lib/libc.so.6", 2);
    assert_ptr_not_equal(here, in_container);
    for (int i = 0; i < 100; i++) { /* by turns, as processes of two roots start */
        assert_ptr_equal(pt_code_module_of(&modules, "/lib/libc.so.6", 1), here);
        assert_ptr_equal(pt_code_module_of(&modules, "/lib/libc.so.6", 2), in_container);
    }
    assert_int_equal(modules.n, 2);
    pt_code_modules_fini(&modules);
}

static void a_new_file_may_get_the_inode_of_an_earlier_one(void **state)
{
    (void)state;
    enum { DEVICE = 3, OTHER_DEVICE = 4, NONE = 0 };
    struct pt_code_modules modules = {0};
    const char *path = "/lib/libc.so.6";
    struct pt_code_module *first = pt_code_module_of_file(&modules, path, DEVICE, 5, 1);
    assert_ptr_not_equal(pt_code_module_of_file(&modules, path, DEVICE, 5, 2), first);
    assert_ptr_equal(pt_code_module_of_file(&modules, path, DEVICE, 5, 1), first);
    /* Of a file system without generations the last file of the path alone is known to be the same. */
    first = pt_code_module_of_file(&modules, path, DEVICE, 5, NONE);
    assert_ptr_equal(pt_code_module_of_file(&modules, path, DEVICE, 5, NONE), first);
    struct pt_code_module *in_container = pt_code_module_of_file(&modules, path, OTHER_DEVICE, 5, NONE);
    assert_ptr_not_equal(in_container, first);
    assert_ptr_equal(pt_code_module_of_file(&modules, path, DEVICE, 5, NONE), first);
    assert_ptr_equal(pt_code_module_of_file(&modules, path, OTHER_DEVICE, 5, NONE), in_container);
    pt_code_module_of_file(&modules, path, DEVICE, 6, NONE);
    assert_ptr_not_equal(pt_code_module_of_file(&modules, path, DEVICE, 5, NONE), first);
    for (int i = 0; i < 1000; i++) { /* two that are there at once, below two roots of one NFS */
        pt_code_module_of_file(&modules, path, DEVICE, 5, NONE);
        pt_code_module_of_file(&modules, path, DEVICE, 6, NONE);
    }
    assert_in_range(modules.n, 6, 200);
    pt_code_modules_fini(&modules);
}

static void many_mappings_stay_in_order(void **state)
{
    (void)state;
    struct pt_code_modules modules = {0};
    struct pt_images images = {0};
    struct pt_image *image = image_of(&images, 1);
    struct pt_code_module *module = pt_code_module_of(&modules, "/a", 1);
    srand(7);
    for (int i = 0; i < 20000; i++) {
        const pt_u64 start = (pt_u64)(rand() % 100000);
        pt_image_map(image, &(struct pt_mapping){start, start + 1 + (pt_u64)(rand() % 300), start, module});
        assert_int_equal(pt_image_find(image, start)->file_offset, pt_image_find(image, start)->start);
    }
    for (size_t i = 1; i < image->n; i++)
        assert_true(image->items[i - 1].end <= image->items[i].start);
    pt_images_fini(&images);
    pt_code_modules_fini(&modules);
}

/* ---- times ---- */

static void times_add_up_to_the_life_of_a_thread(void **state)
{
    (void)state;
    struct pt_threads threads = {0};
    struct pt_live_thread *thread = pt_threads_add(&threads, 5, 5, 1, 1000);
    thread->state = PT_THREAD_PREEMPTED;
    pt_thread_switch_in(thread, 1100);
    pt_thread_switch_out(thread, 1500, false);
    pt_thread_switch_in(thread, 2500);
    pt_thread_switch_out(thread, 2600, true);
    pt_thread_switch_in(thread, 2700);
    assert_int_equal(thread->times.on_cpu_ns, 500);
    assert_int_equal(thread->times.waiting_ns, 1000);
    assert_int_equal(thread->times.preempted_ns, 200);
    pt_thread_switch_in(thread, 2900); /* its end on the CPU was lost */
    assert_int_equal(thread->times.unknown_ns, 200);
    pt_thread_switch_out(thread, 2800, false); /* out of order: nothing is counted twice */
    pt_thread_switch_in(thread, 3000);
    assert_int_equal(thread->times.on_cpu_ns, 500);
    assert_int_equal(thread->times.waiting_ns, 1100);
    pt_threads_collect(&threads, 4000);
    assert_int_equal(thread->times.on_cpu_ns, 1500);
    pt_threads_end(&threads, 5, 4500);
    assert_null(pt_threads_find(&threads, 5));
    pt_threads_end(&threads, 5, 4600);
    const struct pt_cpu_times *last = (const struct pt_cpu_times *)(threads.times.items + threads.times.n) - 1;
    assert_int_equal(last->on_cpu_ns + last->preempted_ns + last->waiting_ns + last->unknown_ns, 3500);
    assert_int_equal(last->end_ns, 4500);
    pt_threads_fini(&threads);
}

/* ---- records ---- */

/* Of one with a thread for each request, those that have ended stay until somebody says that it is gone. */
static void a_process_ends_with_all_its_threads(void **state)
{
    (void)state;
    struct pt_threads threads = {0};
    for (pt_u32 tid = 5; tid < 10000; tid++)
        pt_threads_add(&threads, tid % 2 ? 5 : 6, tid, 1, 1000);
    pt_threads_end_process(&threads, 5, 2000);
    pt_threads_end_process(&threads, 7, 2000);
    for (pt_u32 tid = 5; tid < 10000; tid++)
        assert_int_equal(pt_threads_find(&threads, tid) != NULL, tid % 2 == 0);
    pt_threads_fini(&threads);
}

static void of_a_thread_too_many_nothing_stays(void **state)
{
    (void)state;
    static struct pt_cpu_profile profile;
    pt_u32 body[] = {6, 5, 6, 5, 0, 0}; /* pid, ppid, tid, ptid, time */
    const struct pt_perf_record fork = {
        .type = PERF_RECORD_FORK, .t_ns = 2000, .body = (const pt_u8 *)body, .body_bytes = sizeof body};
    pt_threads_add(&profile.threads, 5, 5, 1, 1000);
    pt_image_map(image_of(&profile.images, 5), &(struct pt_mapping){1000, 9000, 0, NULL});
    profile.threads.n = PT_CPU_THREADS_MAX;
    pt_profile_take(&profile, &fork);
    assert_null(pt_threads_find(&profile.threads, 6));
    assert_null(pt_map_pointer(&profile.images.by_pid, 6));
    pt_threads_fini(&profile.threads);
    pt_images_fini(&profile.images);
}

/* ---- waits ---- */

static void all_waits_are_summed_and_some_are_kept(void **state)
{
    (void)state;
    struct pt_threads threads = {0};
    struct pt_live_thread *thread = pt_threads_add(&threads, 5, 5, 1, 0);
    pt_thread_switch_in(thread, 1000);
    pt_thread_leaves_at(thread, 7, true);
    pt_thread_switch_out(thread, 2000, false);
    pt_threads_end_wait(&threads, thread, 102000);
    pt_thread_switch_in(thread, 102000);
    pt_thread_switch_out(thread, 103000, true); /* no stack of this one */
    pt_threads_end_wait(&threads, thread, 103500);
    pt_threads_end_wait(&threads, thread, 999999); /* it has ended */
    pt_thread_switch_in(thread, 103500);
    pt_thread_leaves_at(thread, 8, false);
    pt_thread_switch_out(thread, 110000, false);
    pt_threads_end(&threads, 5, 210000); /* killed while it waits */
    const struct pt_cpu_wait *waits = (const struct pt_cpu_wait *)(const void *)threads.waits.items;
    assert_int_equal(threads.waits.n, 2 * sizeof *waits);
    assert_int_equal(waits[0].node, 7);
    assert_int_equal(waits[0].flags, PT_CPU_WAIT_FAULT);
    assert_int_equal(waits[0].t_ns, 2000);
    assert_int_equal(waits[0].duration_ns, 100000);
    assert_int_equal(waits[1].node, 8);
    assert_int_equal(waits[1].duration_ns, 100000);
    const struct pt_cpu_wait_sums *sums =
        (const struct pt_cpu_wait_sums *)(const void *)(threads.sums.items + threads.sums.n) - 1;
    assert_int_equal(sums->blocked_ns[pt_cpu_wait_class(100000)], 200000);
    assert_int_equal(sums->preempted_ns, 500);
    assert_int_equal(pt_cpu_wait_class(0), 0);
    assert_int_equal(pt_cpu_wait_class(~0ull), PT_CPU_WAIT_CLASSES - 1);
    pt_threads_fini(&threads);
}

/* ---- files ---- */

struct scene {
    char directory[64];
    struct pt_profile_file file;
    struct pt_stack_tree tree;
};

static void begin(struct scene *scene)
{
    struct pt_error err = {0};
    const struct pt_cpu_header header = {.magic = PT_CPU_MAGIC,
                                         .version = PT_CPU_VERSION,
                                         .header_bytes = sizeof header,
                                         .period_ns = 10000000,
                                         .flags = PT_CPU_SAMPLED,
                                         .root_pid = 7};
    *scene = (struct scene){.directory = "/tmp/t-cpu-XXXXXX"};
    assert_non_null(mkdtemp(scene->directory));
    const int fd = open(scene->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(pt_profile_file_open(&scene->file, fd, 0, &header, &err), 0);
    struct pt_profile_file again;
    assert_int_equal(pt_profile_file_open(&again, fd, 0, &header, &err), -1);
    close(fd);
    const struct pt_cpu_thread thread = {.number = 1, .pid = 7, .tid = 7, .comm = "fifteen letters"};
    pt_profile_file_chunk(&scene->file, PT_CPU_CHUNK_THREADS, &thread, sizeof thread);
}

static struct pt_cpu_data *end(struct scene *scene)
{
    struct pt_error err = {0};
    struct pt_cpu_data *data = NULL;
    char path[96];
    pt_profile_file_close(&scene->file);
    assert_int_equal(pt_cpu_data_read(scene->directory, 0, &data, &err), 0);
    assert_non_null(data);
    pt_stack_tree_fini(&scene->tree);
    snprintf(path, sizeof path, "%s/cpu-0.pcp", scene->directory);
    unlink(path);
    rmdir(scene->directory);
    return data;
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    const struct pt_unwound stack = {.frames = {{0, 0x30}, {0, 0x20}, {0, 0x10}}, .n = 3};
    const struct pt_unwound other = {.frames = {{0, 0x31}, {0, 0x20}, {0, 0x10}}, .n = 3, .is_cut = false};
    const pt_u32 node = pt_stack_tree_add(&scene.tree, &stack, false);
    assert_int_equal(node, 3);
    assert_int_equal(pt_stack_tree_add(&scene.tree, &stack, false), 3);
    assert_int_equal(pt_stack_tree_add(&scene.tree, &other, true), 5); /* one more frame, and the kernel */
    pt_chunk_write(&scene.tree.fresh, &scene.file, PT_CPU_CHUNK_NODES);
    const struct pt_cpu_sample samples[] = {{1000, 1, 3}, {2000, 1, 3}, {3000, 0, 5}};
    pt_profile_file_chunk(&scene.file, PT_CPU_CHUNK_SAMPLES, samples, sizeof samples);
    const struct pt_cpu_count count = {1, 5, 10};
    pt_profile_file_chunk(&scene.file, PT_CPU_CHUNK_COUNTS, &count, sizeof count);
    pt_profile_file_chunk(&scene.file, (enum pt_cpu_chunk_type)77, "of a later version", 18);
    pt_profile_file_chunk(&scene.file, PT_CPU_CHUNK_NOTE, "why", 3);
    struct pt_cpu_data *data = end(&scene);
    assert_false(data->is_cut);
    assert_string_equal(data->note, "why");
    assert_string_equal(data->threads[1].comm, "fifteen letters");
    assert_int_equal(data->n_nodes, 6);
    assert_int_equal(data->nodes[3].address, 0x30);
    assert_int_equal(data->n_samples, 3);
    assert_int_equal(data->n_counts, 3);
    assert_int_equal(data->counts[0].samples, 2);
    pt_cpu_data_free(data);
}

/* Each is one item with a valid checksum that names something that is not there. */
static void hostile_items_end_the_file(void **state)
{
    (void)state;
    const struct pt_cpu_node nodes[] = {{7, 0, 1}, {1, 0, 1}, {0, 99, 1}, {~0u, 0, 1}};
    const struct pt_cpu_sample samples[] = {{1, 9, 0}, {1, 1, 9}, {~0ull, ~0u, ~0u}};
    const struct pt_cpu_count counts[] = {{9, 0, 1}, {0, 9, ~0ull}};
    const struct pt_cpu_times times[] = {{.thread = 0}, {.thread = ~0u}, {.thread = PT_CPU_THREADS_MAX + 1}};
    const struct pt_cpu_thread threads[] = {{.number = 0}, {.number = ~0u}};
    const struct pt_cpu_module modules[] = {{.number = 0}, {.number = 99}, {.number = 3, .build_id_bytes = 21}};
    const struct {
        enum pt_cpu_chunk_type type;
        const void *items;
        size_t bytes, n;
    } all[] = {
        {PT_CPU_CHUNK_NODES, nodes, sizeof *nodes, 4},
        {PT_CPU_CHUNK_SAMPLES, samples, sizeof *samples, 3},
        {PT_CPU_CHUNK_COUNTS, counts, sizeof *counts, 2},
        {PT_CPU_CHUNK_TIMES, times, sizeof *times, 3},
        {PT_CPU_CHUNK_THREADS, threads, sizeof *threads, 2},
        {PT_CPU_CHUNK_MODULE, modules, sizeof *modules, 3},
        {PT_CPU_CHUNK_TOTALS, "short", 5, 1},
        {PT_CPU_CHUNK_SAMPLES, "odd", 3, 1},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t j = 0; j < all[i].n; j++) {
            struct scene scene;
            begin(&scene);
            pt_profile_file_chunk(&scene.file, all[i].type, (const pt_u8 *)all[i].items + j * all[i].bytes,
                                  all[i].bytes);
            pt_profile_file_chunk(&scene.file, PT_CPU_CHUNK_NOTE, "behind it", 9);
            struct pt_cpu_data *data = end(&scene);
            assert_true(data->is_cut);
            assert_null(data->note);
            assert_int_equal(data->n_threads, 2);
            pt_cpu_data_free(data);
        }
}

/* A process may have put anything in the place of what it mapped: to open a FIFO takes for ever. */
static void only_files_are_opened_for_code(void **state)
{
    (void)state;
    char folder[] = "/tmp/t_cpu_profile-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char fifo[64];
    snprintf(fifo, sizeof fifo, "%s/x (deleted)", folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(pt_cfi_open_file(fifo), -1);
    assert_int_equal(pt_cfi_open_file("/dev/null"), -1);
    assert_int_equal(pt_cfi_open_file("/proc/self/environ"), -1);
    const int fd = pt_cfi_open_file("/proc/self/root/bin/true");
    assert_true(fd >= 0);
    close(fd);
    unlink(fifo);
    rmdir(folder);
}

static void stacks_have_an_end(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    for (pt_u32 i = 0; i < 2000; i++) {
        const struct pt_cpu_node node = {i, 0, i};
        pt_profile_file_chunk(&scene.file, PT_CPU_CHUNK_NODES, &node, sizeof node);
    }
    struct pt_cpu_data *data = end(&scene);
    assert_true(data->is_cut);
    assert_true(data->n_nodes <= PT_CPU_DEPTH_MAX + 3);
    pt_cpu_data_free(data);
}

/* Times of threads whose names were not written any more. */
static void threads_without_a_name_keep_their_number(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    const struct pt_cpu_times times = {.thread = 40, .on_cpu_ns = 5};
    pt_profile_file_chunk(&scene.file, PT_CPU_CHUNK_TIMES, &times, sizeof times);
    struct pt_cpu_data *data = end(&scene);
    assert_int_equal(data->n_threads, 41);
    for (pt_u32 i = 0; i < 41; i++) {
        assert_int_equal(data->times[i].thread, i);
        assert_int_equal(data->threads[i].number, i);
    }
    assert_int_equal(data->times[40].on_cpu_ns, 5);
    pt_cpu_data_free(data);
}

static void absurd_times_do_not_overflow(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    struct pt_cpu_times times;
    memset(&times, 0xff, sizeof times);
    times.thread = 1;
    pt_profile_file_chunk(&scene.file, PT_CPU_CHUNK_TIMES, &times, sizeof times);
    for (int i = 0; i < 4; i++) {
        const struct pt_cpu_count count = {1, 0, ~0ull};
        pt_profile_file_chunk(&scene.file, PT_CPU_CHUNK_COUNTS, &count, sizeof count);
    }
    struct pt_cpu_data *data = end(&scene);
    assert_false(data->is_cut);
    const struct pt_cpu_times *read = &data->times[1];
    assert_true((pt_i64)(read->on_cpu_ns + read->waiting_ns + read->preempted_ns) > 0);
    assert_true((pt_i64)data->counts[0].samples > 0);
    pt_cpu_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_ends_with_all_its_threads),
        cmocka_unit_test(a_mapping_replaces_what_lies_below_it),
        cmocka_unit_test(two_files_of_one_path_are_two_modules),
        cmocka_unit_test(a_new_file_may_get_the_inode_of_an_earlier_one),
        cmocka_unit_test(many_mappings_stay_in_order),
        cmocka_unit_test(times_add_up_to_the_life_of_a_thread),
        cmocka_unit_test(of_a_thread_too_many_nothing_stays),
        cmocka_unit_test(all_waits_are_summed_and_some_are_kept),
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(hostile_items_end_the_file),
        cmocka_unit_test(only_files_are_opened_for_code),
        cmocka_unit_test(stacks_have_an_end),
        cmocka_unit_test(threads_without_a_name_keep_their_number),
        cmocka_unit_test(absurd_times_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * Stacks of threads that are off the CPU already: of one that really waits, and never for another wait than the one
 * that was seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu_profile/blocked.h"

static void a_stack_of_another_wait_is_not_kept(void **state)
{
    (void)state;
    struct pt_threads threads = {0};
    struct pt_live_thread *thread = pt_threads_add(&threads, 5, 5, 1, 0);
    pt_thread_switch_in(thread, 1000);
    pt_thread_switch_out(thread, 2000, false);
    assert_true(pt_thread_waits_unseen(thread));
    pt_thread_waits_at(thread, 7, false, 50000);
    assert_false(pt_thread_waits_unseen(thread));
    pt_threads_end_wait(&threads, thread, 40000); /* it ran before it was looked at */
    assert_int_equal(threads.waits.n, 0);
    pt_thread_switch_in(thread, 40000);
    pt_thread_switch_out(thread, 60000, false);
    pt_thread_waits_at(thread, 8, false, 70000);
    pt_threads_end_wait(&threads, thread, 90000);
    assert_int_equal(threads.waits.n, sizeof(struct pt_cpu_wait));
    assert_int_equal(((const struct pt_cpu_wait *)(const void *)threads.waits.items)->node, 8);
    pt_threads_fini(&threads);
}

/* The kernel's own stack of a wait has no functions of Python: these are read while it waits, once. */
static void a_stack_that_wants_python_is_taken_again(void **state)
{
    (void)state;
    struct pt_threads threads = {0};
    struct pt_live_thread *thread = pt_threads_add(&threads, 5, 5, 1, 0);
    for (int is_python = 0; is_python < 2; is_python++) {
        pt_thread_leaves_at(thread, 7, false);
        thread->wants_python = is_python;
        pt_thread_switch_out(thread, 2000, false);
        assert_int_equal(pt_thread_waits_unseen(thread), is_python);
        if (is_python)
            pt_thread_waits_at(thread, 8, false, 3000);
        assert_false(pt_thread_waits_unseen(thread));
        pt_threads_end_wait(&threads, thread, 9000);
        pt_thread_switch_in(thread, 9000);
    }
    const struct pt_cpu_wait *waits = (const struct pt_cpu_wait *)(const void *)threads.waits.items;
    assert_int_equal(threads.waits.n, 2 * sizeof *waits);
    assert_int_equal(waits[0].node, 7);
    assert_int_equal(waits[1].node, 8);
    pt_threads_fini(&threads);
}

/* Where the look met the next wait, the kernel's stack of this one is still its own, and so is that of the next. */
static void the_kernels_stack_is_kept_where_a_look_was_late(void **state)
{
    (void)state;
    struct pt_threads threads = {0};
    struct pt_live_thread *thread = pt_threads_add(&threads, 5, 5, 1, 0);
    pt_thread_leaves_at(thread, 7, false);
    thread->wants_python = true;
    pt_thread_switch_out(thread, 2000, false);
    pt_thread_waits_at(thread, 8, true, 5000);
    pt_threads_end_wait(&threads, thread, 3000);
    pt_thread_switch_in(thread, 3000);
    pt_thread_leaves_at(thread, 9, false);
    pt_thread_switch_out(thread, 4000, false);
    pt_threads_end_wait(&threads, thread, 4500);
    const struct pt_cpu_wait *waits = (const struct pt_cpu_wait *)(const void *)threads.waits.items;
    assert_int_equal(threads.waits.n, 2 * sizeof *waits);
    assert_int_equal(waits[0].node, 7);
    assert_int_equal(waits[0].flags, 0);
    assert_int_equal(waits[1].node, 9);
    pt_threads_fini(&threads);
}

/* A thread that is not the main one executes: its process's number is its own from then on. */
static void it_is_looked_at_again_after_an_exec(void **state)
{
    (void)state;
    struct pt_threads threads = {0};
    struct pt_blocked blocked = {0};
    pt_threads_add(&threads, 5, 5, 1, 0);
    struct pt_live_thread *thread = pt_threads_add(&threads, 5, 6, 1, 0);
    pt_thread_switch_in(thread, 1000);
    pt_thread_switch_out(thread, 2000, false);
    pt_blocked_leaves(&blocked, thread);
    pt_threads_end(&threads, 5, 2500);
    assert_ptr_equal(pt_threads_exec(&threads, 5), thread);
    pt_threads_end_wait(&threads, thread, 3000);
    pt_thread_switch_in(thread, 3000);
    blocked.n = 0;
    pt_thread_switch_out(thread, 4000, false);
    pt_blocked_leaves(&blocked, thread);
    assert_int_equal(blocked.n, 1);
    pt_blocked_fini(&blocked);
    pt_threads_fini(&threads);
}

/* It runs again, and had its stack: nobody need come back soon. */
static void a_wait_that_wanted_python_and_is_over_is_not_urgent(void **state)
{
    (void)state;
    struct pt_threads threads = {0};
    struct pt_blocked blocked = {0};
    const struct pt_blocked_context with = {.threads = &threads};
    struct pt_live_thread *thread = pt_threads_add(&threads, 5, 5, 1, 0);
    pt_thread_leaves_at(thread, 7, false);
    thread->wants_python = true;
    pt_thread_switch_out(thread, 2000, false);
    pt_blocked_leaves(&blocked, thread);
    assert_int_equal(blocked.n, 1);
    pt_threads_end_wait(&threads, thread, 3000);
    pt_thread_switch_in(thread, 3000);
    assert_false(pt_blocked_sample(&blocked, &with));
    assert_int_equal(blocked.n, 0);
    pt_blocked_fini(&blocked);
    pt_threads_fini(&threads);
}

struct scene {
    int go_fds[2], tid_fds[2];
    pthread_t reader;
    struct pt_threads threads;
    struct pt_code_modules modules;
    struct pt_images images;
    struct pt_stack_tree stacks;
    struct pt_blocked blocked;
};

static void *read_a_byte(void *state)
{
    char byte = 0;
    const struct scene *scene = state;
    const pt_u32 tid = (pt_u32)gettid();
    if (write(scene->tid_fds[1], &tid, sizeof tid) != sizeof tid || read(scene->go_fds[0], &byte, 1) != 1)
        return NULL;
    return state;
}

static struct pt_live_thread *begin(struct scene *scene)
{
    pt_u32 tid;
    *scene = (struct scene){0};
    assert_int_equal(pipe(scene->go_fds) | pipe(scene->tid_fds), 0);
    assert_int_equal(pthread_create(&scene->reader, NULL, read_a_byte, scene), 0);
    assert_int_equal(read(scene->tid_fds[0], &tid, sizeof tid), sizeof tid);
    return pt_threads_add(&scene->threads, (pt_u32)getpid(), tid, 1, 0);
}

static bool look(struct scene *scene)
{
    return pt_blocked_sample(&scene->blocked, &(struct pt_blocked_context){&scene->threads, &scene->modules,
                                                                           &scene->images, &scene->stacks, 0, NULL});
}

static void end(struct scene *scene)
{
    for (int i = 0; i < 2; i++) {
        close(scene->go_fds[i]);
        close(scene->tid_fds[i]);
    }
    pt_blocked_fini(&scene->blocked);
    pt_stack_tree_fini(&scene->stacks);
    pt_images_fini(&scene->images);
    pt_code_modules_fini(&scene->modules);
    pt_threads_fini(&scene->threads);
}

/* Where it waits is known though no record says so; what is gone, or on the CPU, is left alone. */
static void a_thread_that_waits_is_looked_at(void **state)
{
    (void)state;
    struct scene scene;
    struct pt_live_thread *thread = begin(&scene);
    assert_false(look(&scene));
    pt_thread_switch_in(thread, 1000);
    pt_blocked_leaves(&scene.blocked, thread);
    assert_false(look(&scene));
    pt_thread_switch_out(thread, 2000, false);
    for (int i = 0; i < 2000 && !thread->has_stack; i++, usleep(1000)) { /* it may be on its way into the call still */
        pt_blocked_leaves(&scene.blocked, thread);
        pt_blocked_leaves(&scene.blocked, thread);
        assert_true(look(&scene));
        assert_int_equal(scene.blocked.n, 0);
    }
    assert_true(thread->has_stack);
    assert_int_equal(scene.stacks.fresh.n, 2 * sizeof(struct pt_cpu_node)); /* cut: nothing is mapped */
    assert_int_equal(thread->wait.flags & PT_CPU_WAIT_FAULT, 0);
    assert_int_equal(write(scene.go_fds[1], "x", 1), 1);
    pthread_join(scene.reader, NULL);
    pt_threads_end_wait(&scene.threads, thread, ~0ull);
    pt_thread_switch_in(thread, 3000);
    pt_thread_switch_out(thread, 4000, false);
    pt_blocked_leaves(&scene.blocked, thread);
    assert_true(look(&scene));
    assert_false(thread->has_stack);
    end(&scene);
}

/* Records are looked at when others leave a CPU for that: the process may have ended. Its code is in its file still. */
static void code_of_a_process_that_is_gone(void **state)
{
    (void)state;
    enum { AT = 0x10000, FILE_OFFSET = 64 };
    static const unsigned char load_then_syscall[] = {0x8b, 0x07, 0x0f, 0x05};
    char path[] = "/tmp/t_blocked-XXXXXX";
    struct pt_code_modules modules = {0};
    struct pt_images images = {0};
    struct stat status;
    const int fd = mkstemp(path);
    const pid_t gone = fork();
    if (!gone)
        _exit(0);
    assert_int_equal(waitpid(gone, NULL, 0), gone);
    assert_int_equal(pwrite(fd, load_then_syscall, sizeof load_then_syscall, FILE_OFFSET), sizeof load_then_syscall);
    assert_int_equal(fstat(fd, &status), 0);
    struct pt_image *image = pt_images_of(&images, (pt_u32)gone);
    assert_false(pt_blocked_is_fault(image, (pt_u32)gone, AT + 2)); /* nothing is known of what lies there */
    pt_image_map(image, &(struct pt_mapping){.start = AT,
                                             .end = AT + 4096,
                                             .file_offset = FILE_OFFSET,
                                             .module = pt_code_module_of(&modules, path, status.st_ino)});
    assert_true(pt_blocked_is_fault(image, (pt_u32)gone, AT + 2));
    assert_false(pt_blocked_is_fault(image, (pt_u32)gone, AT + 4));
    unlink(path);
    close(fd);
    assert_false(pt_blocked_is_fault(image, (pt_u32)gone, AT + 2));
    pt_images_fini(&images);
    pt_code_modules_fini(&modules);
}

/* A machine that starts many processes has many places where they wait; what is remembered of them is bounded. */
static void many_places_do_not_end_it(void **state)
{
    (void)state;
    enum { PLACES = 70000 };
    static const unsigned char load[] = {0x8b, 0x07, 0x90};
    struct pt_blocked blocked = {0};
    const struct pt_image nothing = {0};
    for (pt_u64 pc = 2; pc < PLACES + 2; pc++)
        assert_false(pt_blocked_misses_page(&blocked, &nothing, (pt_u32)getpid(), pc));
    const pt_u64 here = (pt_u64)(uintptr_t)load + 2;
    assert_true(pt_blocked_misses_page(&blocked, &nothing, (pt_u32)getpid(), here));
    assert_true(pt_blocked_misses_page(&blocked, &nothing, (pt_u32)getpid(), here));
    assert_in_range(blocked.is_fault.n, 1, PLACES - 1);
    pt_blocked_fini(&blocked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_of_another_wait_is_not_kept),
        cmocka_unit_test(a_stack_that_wants_python_is_taken_again),
        cmocka_unit_test(the_kernels_stack_is_kept_where_a_look_was_late),
        cmocka_unit_test(it_is_looked_at_again_after_an_exec),
        cmocka_unit_test(a_wait_that_wanted_python_and_is_over_is_not_urgent),
        cmocka_unit_test(a_thread_that_waits_is_looked_at),
        cmocka_unit_test(code_of_a_process_that_is_gone),
        cmocka_unit_test(many_places_do_not_end_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

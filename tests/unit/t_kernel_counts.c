/* SPDX-License-Identifier: MIT
 *
 * Half of the time in which threads had a CPU was stolen by a hypervisor: their time on it is the kernel's count,
 * whoever read it, and the rest is time in a run queue. Short threads of a name share their time, a sample a period at
 * most.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "facts/cpu_time/kernel_counts.h"

#define MS 1000000ull

enum { LIBRARY = 1, LAUNCHER, NOBODY, SHORT, THREADS };

static struct pt_cpu_thread threads_seen[THREADS] = {[SHORT] = {.comm = "true"}};
static struct pt_cpu_times times[THREADS];
static struct pt_cpu_kernel kernel[THREADS];
static struct pt_cpu_count counts_of_samples[] = {{LIBRARY, 0, 50}, {SHORT, 0, 1}};
static struct pt_cpu_data data;
static struct pt_thread thread;
static struct pt_process process, *processes[] = {&process};
static struct pt_session session = {.processes = processes, .n_processes = 1};

struct world {
    struct pt_thread_ids ids;
    struct pt_kernel_counts counts;
    struct pt_cpu_timeline timeline;
    struct pt_cpu_profiles cpu;
    struct pt_cpu_view view;
};

static void open_world(struct world *world)
{
    static pt_u32 stage_of[1], numbers[] = {LIBRARY}, first[] = {0, 1};
    static size_t first_state[THREADS + 1];
    static double sample_s[THREADS], shared_s[THREADS];
    thread = (struct pt_thread){.process = &process, .tid = 7};
    process = (struct pt_process){.session = &session, .pid = 7, .threads = &thread, .n_threads = 1};
    for (pt_u32 i = LIBRARY; i < SHORT; i++)
        times[i] = (struct pt_cpu_times){.thread = i, .on_cpu_ns = 1000 * MS, .end_ns = 1000 * MS};
    times[SHORT] = (struct pt_cpu_times){.thread = SHORT, .on_cpu_ns = 30 * MS, .end_ns = 30 * MS};
    kernel[LAUNCHER] = (struct pt_cpu_kernel){LAUNCHER, 0, 400 * MS, 800 * MS};
    data = (struct pt_cpu_data){.header = {.period_ns = 10 * MS},
                                .threads = threads_seen,
                                .times = times,
                                .kernel = kernel,
                                .counts = counts_of_samples,
                                .n_threads = THREADS,
                                .n_counts = 2};
    *world = (struct world){.ids = {.session = &session, .first = first},
                            .timeline = {.data = &data, .first = first_state},
                            .view = {.data = &data, .sample_s = sample_s, .shared_s = shared_s}};
    world->cpu = (struct pt_cpu_profiles){
        .n_stages = 1, .timelines = &world->timeline, .stage_of = stage_of, .numbers = numbers};
    pt_kernel_counts_open(&world->counts, &world->ids);
    world->counts.threads[0] =
        (struct pt_kernel_count){.first = {1000, 0}, .last = {995 * MS, 500 * MS}, .is_read = true};
    pt_kernel_counts_settle(&world->counts, &world->cpu, &world->view);
}

static void close_world(struct world *world)
{
    pt_kernel_counts_close(&world->counts);
    pt_intern_fini(&world->view.texts);
}

static void stolen_time_is_not_on_the_cpu(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    assert_in_range(times[LIBRARY].on_cpu_ns, 500 * MS, 505 * MS);
    assert_int_equal(times[LIBRARY].on_cpu_ns + times[LIBRARY].preempted_ns, 1000 * MS);
    assert_int_equal(times[LAUNCHER].on_cpu_ns, 500 * MS);
    assert_in_range(times[NOBODY].on_cpu_ns, 500 * MS, 505 * MS);
    assert_true(pt_cpu_runnable_ns(&times[NOBODY]) >= 495 * MS);
    close_world(&world);
}

static void samples_share_what_was_counted(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    assert_true(world.view.sample_s[LIBRARY] * 50 < 0.506);
    assert_true(world.view.shared_s[LIBRARY] == world.view.sample_s[LIBRARY]);
    assert_true(world.view.shared_s[SHORT] == 0.010); /* of the 15 ms of its one thread */
    assert_true(world.view.unsampled_s > 1.0);        /* two threads of half a second without any */
    close_world(&world);
}

static void an_image_lived_as_long_as_it_ran(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    process.start_ns = 100 * MS;
    process.end_ns = 101 * MS;
    process.cpu_ns = 3 * MS;
    world.cpu.numbers = (pt_u32[]){0};
    world.timeline.data = NULL;
    world.counts.threads[0] =
        (struct pt_kernel_count){.first = {100 * MS, 2500000}, .last = {101 * MS, 2900000}, .is_read = true};
    const struct pt_image_use use = pt_kernel_counts_image(&world.counts, &world.cpu, &process);
    assert_true(use.cpu_ns == 3 * MS && use.lived_ns == 3500000 && use.recorded_cpu_ns == 500000);
    assert_true(use.percent == 50);
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stolen_time_is_not_on_the_cpu),
        cmocka_unit_test(samples_share_what_was_counted),
        cmocka_unit_test(an_image_lived_as_long_as_it_ran),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

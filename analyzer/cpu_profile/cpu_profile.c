/* SPDX-License-Identifier: MIT
 *
 * cpu_profile.c - Owns: a profile from its begin to its end. Threads: main only. Never: counts a process that is no
 * descendant of the command; needs more memory the longer the stage runs.
 */
#include "cpu_profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_file/format.h"
#include "util/clock.h"
#include "util/mem.h"
#include "python/wake_soon.h"
#include "records.h"
#include "schedstat.h"
#include "ticks.h"

#define PERIOD_NS                                                                                                      \
    10101010u /* 99 a second: a program that works in steps of 10 ms is not always met at the same one                 \
               */
#define STACK_BYTES 16384u
#define TICK_NS 100000000u       /* at 99 samples a second a ring is a quarter full then, or a half */
#define SHORT_TICK_NS 50000000u  /* without stacks of waits from the kernel: such a wait is certainly sampled */
#define REST_NS 1000000u         /* where many CPUs are busy, their samples are looked at together */
#define FRESH_NS 100000000u      /* on a busy machine we come late; so does the thread, and its stack is as it was */
#define LATE_NS 2000000u         /* a record may be visible this much after its time */
#define SCHEDSTAT_NS 1000000000u /* between two readings of schedstat */
#define SCHEDSTAT_MOST 64
#define WRITE_NS 10000000000u
#define WRITE_BYTES_PER_S 4096u /* of times that change: many threads are written less often */
#define CHUNK_BYTES 65536u

struct pt_cpu_profile *pt_cpu_profile_new(int directory_fd, pt_u32 stage)
{
    struct pt_cpu_profile *profile = pt_calloc(1, sizeof *profile);
    profile->directory_fd = directory_fd;
    profile->stage = stage;
    profile->rings.epoll_fd = profile->file.fd = -1;
    pt_pythons_open(&profile->pythons, directory_fd);
    return profile;
}

void pt_cpu_profile_free(struct pt_cpu_profile *profile)
{
    if (!profile)
        return;
    pt_perf_rings_close(&profile->rings);
    pt_profile_file_close(&profile->file);
    pt_threads_fini(&profile->threads);
    pt_images_fini(&profile->images);
    pt_code_modules_fini(&profile->modules);
    pt_stack_tree_fini(&profile->stacks);
    pt_blocked_fini(&profile->blocked);
    pt_map_fini(&profile->jit_maps.pids);
    pt_pythons_close(&profile->pythons);
    pt_map_fini(&profile->counts);
    free(profile->samples.items);
    free(profile);
}

/* ---- the beginning ---- */

/* "" = none is known. */
static const char *remedy_of(int problem, const struct pt_error *err)
{
    if (problem != EACCES && problem != EPERM)
        return "";
    return !strncmp(err->text, "perf_event_open", 15)
               ? "`sysctl kernel.perf_event_paranoid=2` allows them, in a container --cap-add PERFMON"
               : "a larger `ulimit -l` allows more";
}

static void say_refused(struct pt_cpu_profile *profile, const char *remedy, const struct pt_error *err)
{
    snprintf(profile->note, sizeof profile->note,
             "no CPU samples (%.100s%s%s); CPU times are those of schedstat, of threads that were seen alive",
             err->text, *remedy ? "; " : "", remedy);
}

int pt_cpu_profile_try(const char **ret_remedy, struct pt_error *err)
{
    struct pt_perf_rings rings;
    if (pt_perf_rings_open(&rings, PERIOD_NS, STACK_BYTES, err) < 0) {
        *ret_remedy = remedy_of(errno, err);
        return -1;
    }
    pt_perf_rings_close(&rings);
    return 0;
}

void pt_cpu_profile_begin(struct pt_cpu_profile *profile)
{
    struct pt_error err = {0};
    pt_wake_soon(false); /* the child that is forked next would inherit it */
    profile->is_sampling = pt_perf_rings_open(&profile->rings, PERIOD_NS, STACK_BYTES, &err) == 0;
    if (!profile->is_sampling)
        say_refused(profile, remedy_of(errno, &err), &err);
    profile->begin_ns = pt_monotonic_ns();
    profile->begin_realtime_ns = pt_clock_ns(CLOCK_REALTIME);
}

void pt_cpu_profile_started(struct pt_cpu_profile *profile, pid_t pid)
{
    struct pt_error err = {0};
    const struct pt_cpu_header header = {
        .magic = PT_CPU_MAGIC,
        .version = PT_CPU_VERSION,
        .header_bytes = sizeof header,
        .begin_monotonic_ns = profile->begin_ns,
        .begin_realtime_ns = profile->begin_realtime_ns,
        .period_ns = PERIOD_NS,
        .flags = (profile->is_sampling ? PT_CPU_SAMPLED : 0) | (profile->rings.user_only ? PT_CPU_USER_ONLY : 0) |
                 (profile->rings.has[PT_PERF_SWITCHES] ? PT_CPU_WAITS : 0) |
                 (profile->is_sampling ? PT_CPU_INTERVALS : 0) |
                 (profile->rings.has[PT_PERF_FAULTS] ? PT_CPU_FAULTS : 0),
        .root_pid = (pt_u32)pid,
        .stack_bytes = STACK_BYTES,
        .cpus = profile->rings.cpus,
    };
    profile->root = (pt_u32)pid;
    pt_wake_soon(true);
    const pt_u64 now_ns = pt_monotonic_ns();
    profile->schedstat_due_ns = now_ns + SCHEDSTAT_NS;
    profile->write_due_ns = now_ns + WRITE_NS;
    pt_pythons_exec(&profile->pythons, profile->root, now_ns);
    if (profile->is_sampling)
        pt_threads_add(&profile->threads, profile->root, profile->root, 0, 0);
    else
        pt_threads_add_process(&profile->threads, profile->root, 0);
    if (pt_profile_file_open(&profile->file, profile->directory_fd, profile->stage, &header, &err) < 0)
        snprintf(profile->note, sizeof profile->note, "no CPU profile: %.200s", err.text);
    if (profile->note[0])
        pt_profile_file_chunk(&profile->file, PT_CPU_CHUNK_NOTE, profile->note, strlen(profile->note));
}

int pt_cpu_profile_fd(const struct pt_cpu_profile *profile)
{
    const pt_u64 now_ns = pt_monotonic_ns();
    const bool looks = pt_pythons_want_samples(&profile->pythons, now_ns) && now_ns >= profile->rests_until_ns;
    return looks ? profile->rings.epoll_fd : -1;
}

/* ---- writing ---- */

static void write_modules(struct pt_cpu_profile *profile)
{
    while (profile->written_modules < profile->modules.used.n) {
        const struct pt_code_module *module = profile->modules.used.items[profile->written_modules++];
        struct pt_chunk_buffer chunk = {0};
        struct pt_cpu_module shown = {.number = module->number, .build_id_bytes = module->build_id_bytes};
        memcpy(shown.build_id, module->build_id, sizeof shown.build_id);
        pt_chunk_add(&chunk, &shown, sizeof shown);
        pt_chunk_add(&chunk, module->path, strlen(module->path));
        pt_chunk_write(&chunk, &profile->file, PT_CPU_CHUNK_MODULE);
        free(chunk.items);
    }
}

/* A chunk refers only to chunks before it. */
static void write_samples(struct pt_cpu_profile *profile)
{
    write_modules(profile);
    pt_chunk_write(&profile->pythons.names.fresh, &profile->file, PT_CPU_CHUNK_NAMES);
    pt_chunk_write(&profile->stacks.fresh, &profile->file, PT_CPU_CHUNK_NODES);
    pt_threads_write(&profile->threads, &profile->file);
    pt_chunk_write(&profile->samples, &profile->file, PT_CPU_CHUNK_SAMPLES);
}

static void write_all(struct pt_cpu_profile *profile, pt_u64 now_ns)
{
    const pt_u64 t_ns = pt_profile_since(profile, now_ns);
    const size_t bytes = pt_threads_collect(&profile->threads, t_ns);
    const pt_u64 rest_ns = bytes * (1000000000u / WRITE_BYTES_PER_S);
    profile->write_due_ns = now_ns + (rest_ns > WRITE_NS ? rest_ns : WRITE_NS);
    write_samples(profile);
    profile->totals.duration_ns = t_ns;
    profile->totals.lost_threads = profile->threads.lost;
    profile->totals.lost_nodes = profile->stacks.lost_nodes;
    pt_profile_file_chunk(&profile->file, PT_CPU_CHUNK_TOTALS, &profile->totals, sizeof profile->totals);
}

/* ---- the loop ---- */

static void drain(struct pt_cpu_profile *profile, pt_u64 until_ns)
{
    struct pt_perf_record record;
    pt_perf_rings_start(&profile->rings);
    while (pt_perf_rings_next(&profile->rings, until_ns, &record))
        pt_profile_take(profile, &record);
    pt_perf_rings_stop(&profile->rings);
    if (profile->samples.n + profile->stacks.fresh.n + profile->threads.shown.n + profile->threads.waits.n +
            profile->threads.intervals.items.n >
        CHUNK_BYTES)
        write_samples(profile);
}

/* If the kernel gives no stacks of waits, we may not have the right to read them, either. */
static void look_at_blocked(struct pt_cpu_profile *profile)
{
    const struct pt_blocked_context with = {&profile->threads, &profile->modules, &profile->images,
                                            &profile->stacks,  profile->begin_ns, &profile->pythons};
    if (profile->rings.has[PT_PERF_SWITCHES])
        profile->is_rationed = pt_blocked_sample(&profile->blocked, &with);
}

/* What they run in Python is read while they are still there. */
static void meet_samples(struct pt_cpu_profile *profile, pt_u64 now_ns)
{
    struct pt_perf_glance glance;
    while (pt_perf_rings_glance(&profile->rings, &glance))
        if (glance.leaves)
            pt_pythons_left(&profile->pythons, glance.tid, glance.t_ns);
        else if (glance.t_ns + FRESH_NS > now_ns)
            pt_pythons_meet(&profile->pythons, glance.pid, glance.tid, glance.t_ns);
    profile->rests_until_ns = now_ns < profile->met_ns + REST_NS ? now_ns + REST_NS : now_ns;
    profile->met_ns = now_ns;
}

static pt_u64 next_step_ns(const struct pt_cpu_profile *profile)
{
    const bool rests = profile->rests_until_ns > profile->met_ns && profile->rests_until_ns < profile->drain_due_ns;
    return rests ? profile->rests_until_ns : profile->drain_due_ns;
}

pt_u64 pt_cpu_profile_step(struct pt_cpu_profile *profile, pt_u64 now_ns)
{
    const pt_u64 cpu_ns = pt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (profile->is_sampling && pt_pythons_want_samples(&profile->pythons, now_ns)) /* each record is looked at twice */
        meet_samples(profile, now_ns);
    if (profile->is_sampling && now_ns < profile->drain_due_ns && !pt_perf_rings_are_filling(&profile->rings)) {
        profile->totals.own_cpu_ns += pt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
        return next_step_ns(profile);
    }
    if (profile->is_sampling) {
        drain(profile, now_ns - LATE_NS);
        look_at_blocked(profile);
    }
    if (profile->is_sampling && now_ns >= profile->schedstat_due_ns) {
        pt_threads_read_schedstat(&profile->threads, pt_profile_since(profile, now_ns), SCHEDSTAT_MOST);
        profile->schedstat_due_ns = now_ns + SCHEDSTAT_NS;
    }
    if (now_ns >= profile->write_due_ns)
        write_all(profile, now_ns - LATE_NS);
    if (!profile->is_sampling)
        pt_profile_tick(profile, PERIOD_NS, now_ns);
    profile->totals.own_cpu_ns += pt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    const bool ticks = !profile->is_sampling && profile->pythons.n_running;
    profile->drain_due_ns = now_ns + (ticks ? PERIOD_NS : profile->is_rationed ? SHORT_TICK_NS : TICK_NS);
    return next_step_ns(profile);
}

bool pt_cpu_profile_needs_pids(const struct pt_cpu_profile *profile)
{
    return !profile->is_sampling;
}

void pt_cpu_profile_add_process(struct pt_cpu_profile *profile, pid_t pid)
{
    pt_threads_add_process(&profile->threads, (pt_u32)pid, pt_profile_since(profile, pt_monotonic_ns()));
}

/* Its EXIT record is waiting, and with it what was known of the thread would go. */
void pt_cpu_profile_ending(struct pt_cpu_profile *profile, pid_t pid)
{
    pt_threads_ending(&profile->threads, (pt_u32)pid, pt_profile_since(profile, pt_monotonic_ns()));
}

static void count_by_stack(struct pt_cpu_profile *profile)
{
    struct pt_chunk_buffer chunk = {0};
    for (size_t i = 0; i < profile->counts.n; i++) {
        const struct pt_map_entry *entry = &profile->counts.entries[i];
        const struct pt_cpu_count count = {(pt_u32)(entry->key >> 32), (pt_u32)entry->key, entry->value};
        pt_chunk_add(&chunk, &count, sizeof count);
    }
    pt_chunk_write(&chunk, &profile->file, PT_CPU_CHUNK_COUNTS);
    free(chunk.items);
}

/* What the library recorded within such a process stays. */
static void say_unread(struct pt_cpu_profile *profile)
{
    const struct pt_pythons *pythons = &profile->pythons;
    if (!pythons->refused_pid || profile->note[0])
        return;
    snprintf(profile->note, sizeof profile->note,
             "no functions of Python in CPU samples: the memory of process %u may not be read from outside (%s)",
             pythons->refused_pid, strerror(pythons->refused_errno));
    pt_profile_file_chunk(&profile->file, PT_CPU_CHUNK_NOTE, profile->note, strlen(profile->note));
}

/* The gravest first: there is room for one note. */
static void say_lost(struct pt_cpu_profile *profile)
{
    const struct pt_cpu_totals *totals = &profile->totals;
    if (totals->lost_records)
        snprintf(profile->note, sizeof profile->note,
                 "the kernel dropped %llu records of CPU use: times are incomplete",
                 (unsigned long long)totals->lost_records);
    else if (totals->lost_threads)
        snprintf(profile->note, sizeof profile->note, "more threads than can be kept: the CPU use of some is missing");
    else if (totals->lost_nodes)
        snprintf(profile->note, sizeof profile->note, "more different stacks than can be kept: some end early");
}

void pt_cpu_profile_end(struct pt_cpu_profile *profile)
{
    if (profile->has_ended || !profile->root)
        return;
    const pt_u64 cpu_ns = pt_clock_ns(CLOCK_THREAD_CPUTIME_ID), now_ns = pt_monotonic_ns();
    profile->has_ended = true;
    if (profile->is_sampling)
        drain(profile, ~(pt_u64)0);
    pt_perf_rings_close(&profile->rings);
    const struct pt_jit_maps_to to = pt_profile_jit_maps_to(profile);
    pt_jit_maps_end(&profile->jit_maps, &to, &profile->threads);
    pt_threads_end_waits(&profile->threads, pt_profile_since(profile, now_ns));
    count_by_stack(profile);
    profile->totals.own_cpu_ns += pt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    write_all(profile, now_ns);
    say_unread(profile);
    if (!profile->note[0])
        say_lost(profile);
    if (profile->file.problem)
        snprintf(profile->note, sizeof profile->note, "the CPU profile is incomplete: %s",
                 strerror(profile->file.problem));
    pt_profile_file_close(&profile->file);
}

const char *pt_cpu_profile_note(const struct pt_cpu_profile *profile)
{
    return profile->note[0] ? profile->note : NULL;
}

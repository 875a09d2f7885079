/* SPDX-License-Identifier: MIT
 *
 * Owns: one look at a run. Threads: main only. Never: makes a system call in a traced program: what it did is read from
 * the files that it has mapped, and from /proc.
 */
#include "look.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proftrace/events.h"
#include "util/auto.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/small_file.h"

/* ---- /proc ---- */

/* Newer kernels say how many there are without listing them. */
static pt_i64 count_files(pid_t pid)
{
    char name[32];
    struct stat status;
    snprintf(name, sizeof name, "/proc/%d/fd", (int)pid);
    if (stat(name, &status) == 0 && status.st_size > 0)
        return status.st_size;
    DIR *directory = opendir(name);
    pt_i64 n = directory ? 0 : -1;
    for (const struct dirent *entry; directory && (entry = readdir(directory));)
        n += entry->d_name[0] != '.';
    if (directory)
        closedir(directory);
    return n;
}

/* Resident pages of no file. */
static pt_u64 anonymous_bytes(pid_t pid)
{
    char text[256];
    unsigned long long size, resident, shared;
    if (pt_small_file_peek(text, sizeof text, "/proc/%d/statm", (int)pid) <= 0 ||
        sscanf(text, "%llu %llu %llu", &size, &resident, &shared) != 3 || shared > resident)
        return 0;
    return (resident - shared) * (pt_u64)sysconf(_SC_PAGESIZE);
}

static void look_outside(struct pt_top_outside *outside, pid_t pid)
{
    PT_AUTO(pt_closep) int fd = pt_process_stat_open(pid);
    *outside = (struct pt_top_outside){.open_files = -1};
    if (fd < 0 || !pt_process_stat_read(fd, &outside->stat)) {
        outside->stat = (struct pt_process_stat){0};
        return;
    }
    const pid_t seen_by = (pid_t)pt_living_thread((pt_u32)pid);
    outside->anonymous_bytes = anonymous_bytes(seen_by);
    outside->open_files = count_files(seen_by);
}

/* ---- sums ---- */

static enum pt_top_part part_of(pt_u32 kind)
{
    static const pt_u8 parts[PT_CALL__COUNT] = {
        [PT_CALL_READ] = PT_TOP_READ,         [PT_CALL_STDIO_READ] = PT_TOP_READ,   [PT_CALL_COPY] = PT_TOP_READ,
        [PT_CALL_WRITE] = PT_TOP_WRITE,       [PT_CALL_STDIO_WRITE] = PT_TOP_WRITE, [PT_CALL_SYNC] = PT_TOP_WRITE,
        [PT_CALL_OPEN] = PT_TOP_FILES,        [PT_CALL_STAT] = PT_TOP_FILES,        [PT_CALL_META] = PT_TOP_FILES,
        [PT_CALL_NETWORK] = PT_TOP_NETWORK,   [PT_CALL_LOCK] = PT_TOP_LOCK,         [PT_CALL_WAIT] = PT_TOP_WAIT,
        [PT_CALL_PROCESS] = PT_TOP_CHILD,     [PT_CALL_MAP] = PT_TOP_PART__COUNT,   [PT_CALL_NONE] = PT_TOP_PART__COUNT,
        [PT_CALL_STDIO_OTHER] = PT_TOP_FILES,
    };
    return kind == PT_KIND_wait_sleep   ? PT_TOP_SLEEP
           : kind == PT_KIND_wait_child ? PT_TOP_CHILD
                                        : (enum pt_top_part)parts[pt_call_class_of(kind)];
}

static void sum_up(struct pt_top_sums *sums, const struct pt_process *process)
{
    sums->steps = pt_totals_of(process->totals, PT_KIND_step)->calls;
    sums->phases = pt_totals_of(process->totals, PT_KIND_phase_begin)->calls;
    sums->gpu_kernels = pt_totals_of(process->totals, PT_KIND_gpu_kernel)->calls;
    sums->read = pt_call_class_sum(process->totals, PT_CALL_READ);
    sums->written = pt_call_class_sum(process->totals, PT_CALL_WRITE);
    sums->allocations = process->heap->allocs;
    sums->allocated_bytes = process->heap->bytes;
    sums->releases = process->heap->frees;
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++) {
        const enum pt_top_part part = part_of(kind);
        if (part < PT_TOP_PART__COUNT)
            sums->part_ns[part] += pt_totals_of(process->totals, kind)->ns;
    }
}

/* ---- a look ---- */

void pt_top_look_close(struct pt_top_look *look)
{
    free(look->outside);
    free(look->sums);
    pt_map_fini(&look->by_trace_id);
    pt_run_close(&look->run);
    *look = (struct pt_top_look){0};
}

static pt_u64 key_of(const struct pt_process *process)
{
    return process->trace_id ^ (pt_u64)process->pid << 32;
}

int pt_top_look_open(struct pt_top_look *look, const char *path, struct pt_error *err)
{
    if (pt_run_open(path, &look->run, err) < 0)
        return -1;
    const struct pt_session *session = pt_run_session(&look->run);
    look->at_ns = pt_monotonic_ns();
    look->outside = pt_calloc(session->n_processes + 1, sizeof *look->outside);
    look->sums = pt_calloc(session->n_processes + 1, sizeof *look->sums);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        *pt_map_at(&look->by_trace_id, key_of(process)) = i + 1;
        sum_up(&look->sums[i], process);
        if (!process->is_running)
            continue;
        look_outside(&look->outside[i], (pid_t)process->pid);
        look->sums[i].cpu_ticks = look->outside[i].stat.own_ticks;
        look->n_running++;
    }
    return 0;
}

static const struct pt_top_sums *sums_of(const struct pt_top_look *look, const struct pt_process *process)
{
    const uint64_t *place = pt_map_find(&look->by_trace_id, key_of(process));
    return place ? &look->sums[*place - 1] : NULL;
}

/* CPU time of a process that began within a tick of the look is as good as nothing. */
static bool began_after(const struct pt_process_stat *stat, pt_u64 monotonic_ns)
{
    const pt_u64 slept_ns = pt_clock_ns(CLOCK_BOOTTIME) - pt_monotonic_ns();
    const pt_u64 tick_ns = 1000000000u / (pt_u64)sysconf(_SC_CLK_TCK);
    return stat->threads && (stat->start_ticks + 1) * tick_ns >= monotonic_ns + slept_ns;
}

struct pt_top_before pt_top_before(const struct pt_top_look *earlier, const struct pt_top_look *now, pt_u32 index)
{
    const struct pt_process *process = pt_run_session(&now->run)->processes[index];
    const struct pt_top_sums *sums = sums_of(earlier, process);
    if (sums)
        return (struct pt_top_before){*sums, true};
    for (process = process->previous_image; process && !sums; process = process->previous_image)
        sums = sums_of(earlier, process);
    return (struct pt_top_before){
        .sums = {.cpu_ticks = sums ? sums->cpu_ticks : 0},
        .is_cpu_known = sums || began_after(&now->outside[index].stat, earlier->at_ns),
    };
}

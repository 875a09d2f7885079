/* SPDX-License-Identifier: MIT
 *
 * time.c - the host's clock, waiting, and the GPU's own clock. Waits are raw system calls, as the driver's are: they
 * must not look like the program's own sleeps to a tracer of libc.
 */
#include "fakegpu.h"
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPIN_NS = 200000 };

uint64_t fg_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void fg_wait_until(uint64_t ns)
{
    for (uint64_t now = fg_now_ns(); now < ns; now = fg_now_ns()) {
        if (ns - now <= SPIN_NS) {
            __builtin_ia32_pause();
            continue;
        }
        const uint64_t wake = ns - SPIN_NS / 2;
        const struct timespec until = {(time_t)(wake / 1000000000u), (long)(wake % 1000000000u)};
        syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
}

void fg_busy(double ns)
{
    if (ns > 0)
        fg_wait_until(fg_now_ns() + (uint64_t)ns);
}

uint64_t fg_gpu_clock(uint64_t ns)
{
    static uint64_t epoch_ns;
    uint64_t epoch = __atomic_load_n(&epoch_ns, __ATOMIC_RELAXED);
    if (!epoch) {
        uint64_t none = 0;
        (void)__atomic_compare_exchange_n(&epoch_ns, &none, ns, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        epoch = __atomic_load_n(&epoch_ns, __ATOMIC_RELAXED);
    }
    const struct fg_program *program = fg_program();
    const int64_t gained = (int64_t)((double)(int64_t)(ns - epoch) * program->clock_drift_ppm / 1e6);
    uint64_t stamp = ns + (uint64_t)gained + (uint64_t)(int64_t)program->clock_skew_ns;
    const uint64_t tick = program->clock_tick_ns > 1 ? (uint64_t)program->clock_tick_ns : 1;
    return stamp - stamp % tick;
}

/* SPDX-License-Identifier: MIT
 *
 * stamp.c - the clock of the records. Calls are stamped with the registered clock (CLOCK_REALTIME without one); GPU
 * times are converted when a buffer is delivered, along the line between the two clock pairs around them, as CUPTI
 * does.
 */
#include "machine.h"
#include <stdatomic.h>
#include <time.h>

/* Two pairs closer than this would turn the error of reading them into a wrong slope. */
enum { PAIRS_MAX = 4096, TRIES = 8, SPACING_NS = 10000000 };

static uint64_t realtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static _Atomic(fg_clock_function) clock_function = realtime;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint64_t gpu, cpu;
} pairs[PAIRS_MAX];
static size_t n_pairs;

uint64_t fg_stamp(void)
{
    const fg_clock_function clock = clock_function;
    return clock();
}

void fg_take_clock_pair(void)
{
    uint64_t best_gap = UINT64_MAX, gpu = 0, cpu = 0;
    const fg_clock_function clock = clock_function;
    for (int i = 0; i < TRIES; i++) {
        const uint64_t before = fg_now_ns(), stamp = clock(), after = fg_now_ns();
        if (after - before < best_gap) {
            best_gap = after - before;
            gpu = fg_gpu_clock(before + best_gap / 2);
            cpu = stamp;
        }
    }
    pthread_mutex_lock(&lock);
    /* Another clock may have been registered since. */
    if (clock != clock_function || (n_pairs && gpu < pairs[n_pairs - 1].gpu + SPACING_NS)) {
        pthread_mutex_unlock(&lock);
        return;
    }
    if (n_pairs == PAIRS_MAX) { /* the oldest but the first go; their records were delivered long ago */
        n_pairs = PAIRS_MAX / 2;
        memmove(&pairs[1], &pairs[PAIRS_MAX / 2 + 1], (n_pairs - 1) * sizeof *pairs);
    }
    pairs[n_pairs].gpu = gpu;
    pairs[n_pairs++].cpu = cpu;
    pthread_mutex_unlock(&lock);
}

/* The end of the segment that holds it; beyond the last pair the last segment goes on. */
static size_t segment_of(uint64_t gpu_stamp)
{
    size_t low = 1, high = n_pairs - 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (pairs[middle].gpu < gpu_stamp)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t fg_convert(uint64_t gpu_stamp)
{
    pthread_mutex_lock(&lock);
    uint64_t stamp = gpu_stamp;
    if (n_pairs >= 2) {
        const size_t to = segment_of(gpu_stamp);
        const long double slope = (long double)(int64_t)(pairs[to].cpu - pairs[to - 1].cpu) /
                                  (long double)(int64_t)(pairs[to].gpu - pairs[to - 1].gpu);
        stamp = pairs[to - 1].cpu + (uint64_t)(int64_t)(slope * (long double)(int64_t)(gpu_stamp - pairs[to - 1].gpu));
    } else if (n_pairs) {
        stamp = pairs[0].cpu + (gpu_stamp - pairs[0].gpu);
    }
    pthread_mutex_unlock(&lock);
    return stamp + (uint64_t)(int64_t)fg_program()->clock_error_ns;
}

/* Whether the registered clock has gone on as the GPU's since the first pair, within 1 %. */
static bool counts_nanoseconds(void)
{
    const uint64_t gpu = fg_gpu_clock(fg_now_ns()), cpu = fg_stamp();
    pthread_mutex_lock(&lock);
    const double gpu_ns = n_pairs ? (double)(gpu - pairs[0].gpu) : 0,
                 counts = n_pairs ? (double)(cpu - pairs[0].cpu) : 0;
    pthread_mutex_unlock(&lock);
    return gpu_ns > 50000 && counts > 0.99 * gpu_ns && counts < 1.01 * gpu_ns;
}

/* One pair gives no slope, and a registered clock need not count in nanoseconds (profilers register the TSC). */
void fg_await_second_pair(void)
{
    for (;;) {
        fg_take_clock_pair();
        pthread_mutex_lock(&lock);
        const size_t n = n_pairs;
        pthread_mutex_unlock(&lock);
        if (n >= 2 || (!fg_program()->clock_drift_ppm && counts_nanoseconds()))
            return;
        fg_busy(SPACING_NS / 8.0);
    }
}

void fg_register_clock(fg_clock_function clock)
{
    pthread_mutex_lock(&lock);
    clock_function = clock;
    n_pairs = 0;
    pthread_mutex_unlock(&lock);
    fg_take_clock_pair();
}

/* SPDX-License-Identifier: MIT
 *
 * cupti_program.c - CUDA programs that end in all ways and that profile themselves with CUPTI, as torch.profiler does.
 * `cupti_program CASE [N]`; it is linked with libcupti as libtorch is.
 */
#define _GNU_SOURCE
#include "cases.h"
#include "cuda.h"
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void (*request_fn)(uint8_t **, size_t *, size_t *);
typedef void (*complete_fn)(void *, uint32_t, uint8_t *, size_t, size_t);
int cuptiSubscribe(void **, void (*)(void *, uint32_t, uint32_t, const void *), void *);
int cuptiUnsubscribe(void *);
int cuptiActivityEnable(uint32_t);
int cuptiActivityDisable(uint32_t);
int cuptiActivityRegisterCallbacks(request_fn, complete_fn);
int cuptiActivityRegisterTimestampCallback(uint64_t (*)(void));
int cuptiActivityFlushAll(uint32_t);
int cuptiActivityFlushPeriod(uint32_t);
__attribute__((weak)) int cuptiActivityEnableAllSyncRecords(uint8_t); /* not in CUDA 11 and 12 */
int cuptiFinalize(void);
int cuptiActivityGetNextRecord(uint8_t *, size_t, uint8_t **);
enum { MEMCPY = 1, RUNTIME = 5, CONCURRENT_KERNEL = 10 };

static char before, during, after; /* kernels: only their addresses count */
static int repeat = 20;

__attribute__((constructor)) static void register_kernels(void)
{
    static char image[] = "image";
    void **module = __cudaRegisterFatBinary(image);
    __cudaRegisterFunction(module, &before, NULL, "before", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(module, &during, NULL, "during", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(module, &after, NULL, "after", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(module);
}

static void work(const void *kernel, int n)
{
    const dim3 one = {1, 1, 1};
    for (int i = 0; i < n; i++)
        if (cudaLaunchKernel(kernel, one, one, NULL, 0, NULL) != 0)
            exit(1);
    if (cudaDeviceSynchronize() != 0)
        exit(1);
}

/* ---- a profiler within the program ---- */

static int n_own, n_foreign; /* kernels named "during", and others */
static uint64_t first_start, last_end;

static bool has_defaults; /* it sets no clock and promises nothing of its buffers, as Kineto did until 2024 */

static void request(uint8_t **data, size_t *bytes, size_t *max_records)
{
    *bytes = 1 << 16;
    *max_records = 0;
    *data = aligned_alloc(8, *bytes);
    memset(*data, has_defaults ? 0xa5 : 0, *bytes);
}

static void complete(void *context, uint32_t stream, uint8_t *data, size_t bytes, size_t valid)
{
    (void)context;
    (void)stream;
    (void)bytes;
    uint8_t *record = NULL;
    while (cuptiActivityGetNextRecord(data, valid, &record) == 0) {
        uint32_t kind;
        uint64_t start, end;
        const char *name;
        memcpy(&kind, record, sizeof kind);
        if (kind != CONCURRENT_KERNEL)
            continue;
        memcpy(&start, record + 16, sizeof start);
        memcpy(&end, record + 24, sizeof end);
        memcpy(&name, record + 104, sizeof name);
        if (strcmp(name, "during") == 0)
            n_own++;
        else
            n_foreign++;
        first_start = first_start && first_start < start ? first_start : start;
        last_end = last_end > end ? last_end : end;
    }
    free(data);
}

static uint64_t ns_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t monotonic(void)
{
    return ns_of(CLOCK_MONOTONIC);
}

static uint64_t own_clock(void)
{
    return ns_of(has_defaults ? CLOCK_REALTIME : CLOCK_MONOTONIC);
}

static void on_call(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
    (void)user;
    (void)domain;
    (void)cbid;
    (void)data;
}

/* One window; `subscribes` as Kineto did until 2026, otherwise as it does since. */
static int profile(int subscribes)
{
    void *subscriber = NULL;
    if (subscribes) {
        const int result = cuptiSubscribe(&subscriber, on_call, NULL);
        if (result)
            return result;
    }
    int result = cuptiActivityRegisterCallbacks(request, complete);
    if (!result && !has_defaults)
        result = cuptiActivityRegisterTimestampCallback(monotonic);
    if (!result)
        result = cuptiActivityEnable(CONCURRENT_KERNEL);
    if (result)
        return result;
    cuptiActivityEnable(MEMCPY);
    const uint64_t begin = own_clock();
    work(&during, repeat);
    const uint64_t end = own_clock();
    cuptiActivityDisable(CONCURRENT_KERNEL);
    cuptiActivityDisable(MEMCPY);
    cuptiActivityFlushAll(1);
    if (subscribes)
        cuptiUnsubscribe(subscriber);
    const int is_its_clock = first_start + 100000 >= begin && last_end <= end + 100000;
    printf("%d %d %s\n", n_own, n_foreign, is_its_clock ? "own clock" : "other clock");
    n_own = n_foreign = 0;
    first_start = last_end = 0;
    return 0;
}

static void profiled(int subscribes)
{
    work(&before, repeat);
    for (int i = 0; i < 2; i++) {
        const int result = profile(subscribes);
        if (result)
            printf("refused %d\n", result);
        work(&after, repeat);
    }
}

static void profiler_subscribes(void)
{
    profiled(1);
}

static void profiler_registers(void)
{
    profiled(0);
}

static void profiler_of_defaults(void)
{
    has_defaults = true;
    profiled(1);
}

/* Its profiler comes first: CUDA is not even up. */
static void profiler_first(void)
{
    void *subscriber;
    printf("subscribe %d\n", cuptiSubscribe(&subscriber, on_call, NULL));
    work(&during, repeat);
}

/* A window that is over before the program uses CUDA further. */
static void profiler_first_window(void)
{
    profile(1);
    work(&after, repeat);
}

/* As Kineto until 2026: once subscribed, it stays so for good. */
static void profiler_stays(void)
{
    void *subscriber;
    work(&before, repeat);
    if (cuptiSubscribe(&subscriber, on_call, NULL))
        exit(7);
    for (int i = 0; i < 2; i++) {
        const int result = profile(0);
        if (result)
            printf("refused %d\n", result);
        work(&after, repeat);
    }
}

/* It says how it wants its records before it enables the first kind, and does not say so again for its next window; the
 * double tells what holds. */
static void profiler_sets_first(void)
{
    uint32_t (*flush_period_ms)(void) = (uint32_t(*)(void))dlsym(RTLD_DEFAULT, "fg_flush_period_ms");
    bool (*wants_unready)(void) = (bool (*)(void))dlsym(RTLD_DEFAULT, "fg_wants_unready");
    work(&before, repeat);
    cuptiActivityFlushPeriod(100);
    cuptiActivityEnableAllSyncRecords(0);
    cuptiActivityRegisterCallbacks(request, complete);
    for (int i = 0; i < 2; i++) {
        cuptiActivityEnable(CONCURRENT_KERNEL);
        printf("%u ms, %s\n", flush_period_ms(), wants_unready() ? "all" : "not all");
        work(&during, repeat);
        cuptiActivityDisable(CONCURRENT_KERNEL);
        cuptiActivityFlushAll(1);
        work(&after, repeat);
    }
}

/* It says so before it uses CUDA, once for all windows. */
static void profiler_sets_before_cuda(void)
{
    cuptiActivityRegisterCallbacks(request, complete);
    work(&before, repeat);
    cuptiActivityEnable(CONCURRENT_KERNEL);
    work(&during, repeat);
    cuptiActivityDisable(CONCURRENT_KERNEL);
    cuptiActivityFlushAll(1);
    printf("%d %d\n", n_own, n_foreign);
}

/* A first flush leaves out what still runs. */
static void profiler_flushes_twice(void)
{
    const dim3 one = {1, 1, 1};
    work(&before, 1);
    cuptiActivityRegisterCallbacks(request, complete);
    cuptiActivityEnable(CONCURRENT_KERNEL);
    for (int i = 0; i < repeat; i++)
        cudaLaunchKernel(&during, one, one, NULL, 0, NULL);
    cuptiActivityDisable(CONCURRENT_KERNEL);
    cuptiActivityFlushAll(0);
    cudaDeviceSynchronize();
    cuptiActivityFlushAll(1);
    printf("%d %d\n", n_own, n_foreign);
    work(&after, repeat);
}

/* It never flushes, as a program that reads nothing of what it asked for: we do, some seconds later. */
static void profiler_never_flushes(void)
{
    work(&before, repeat);
    cuptiActivityRegisterCallbacks(request, complete);
    cuptiActivityEnable(CONCURRENT_KERNEL);
    work(&during, repeat);
    cuptiActivityDisable(CONCURRENT_KERNEL);
    work(&after, repeat);
    printf("%d %d\n", n_own, n_foreign);
    sleep_ms(3100);
    work(&after, 1);
    printf("%d %d\n", n_own, n_foreign);
    work(&after, repeat);
}

static void stop_at_exit(void)
{
    cuptiActivityDisable(CONCURRENT_KERNEL);
    cuptiActivityFlushAll(1);
    printf("%d %d\n", n_own, n_foreign);
}

/* As the samples of NVIDIA: from the beginning to an exit handler, which was registered before ours. */
static void profiler_until_exit(void)
{
    atexit(stop_at_exit);
    cuptiActivityRegisterCallbacks(request, complete);
    cuptiActivityEnable(CONCURRENT_KERNEL);
    work(&during, repeat);
}

/* As Kineto with TEARDOWN_CUPTI: CUPTI forgets everybody. */
static void profiler_finalizes(void)
{
    work(&before, repeat);
    profile(0);
    printf("finalize %d\n", cuptiFinalize());
    work(&after, repeat); /* the first call that waits takes it back: at its end */
    work(&after, repeat);
}

static void *enable_there(void *unused)
{
    cuptiActivityRegisterCallbacks(request, complete);
    cuptiActivityEnable(CONCURRENT_KERNEL);
    return unused;
}

/* One thread of a profiler is still being given CUPTI when the other asks for it, too. */
static void profiler_of_two_threads(void)
{
    pthread_t thread;
    void *subscriber = NULL;
    work(&before, repeat);
    pthread_create(&thread, NULL, enable_there, NULL);
    sleep_ms(50);
    printf("subscribe %d\n", cuptiSubscribe(&subscriber, on_call, NULL));
    pthread_join(thread, NULL);
    work(&during, repeat);
    cuptiActivityDisable(CONCURRENT_KERNEL);
    cuptiActivityFlushAll(1);
    cuptiUnsubscribe(subscriber);
    printf("%d %d\n", n_own, n_foreign);
    work(&after, repeat);
}

static void *launch_there(void *unused)
{
    work(&before, repeat);
    return unused;
}

/* A profiler begins while another thread is the first to use CUDA. */
static void profiler_amid_start(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, launch_there, NULL);
    sleep_ms(100);
    profile(0);
    pthread_join(thread, NULL);
    work(&after, repeat);
}

static volatile int is_over;

static void *launch_on(void *unused)
{
    while (!is_over)
        work(&before, repeat);
    return unused;
}

/* Windows of a profiler while other threads go on launching: what it sees of them is its own business. */
static void profiler_amid_threads(void)
{
    pthread_t threads[4];
    void *subscriber;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, launch_on, NULL);
    for (int i = 0; i < repeat; i++) {
        sleep_ms(5);
        if (cuptiSubscribe(&subscriber, on_call, NULL))
            exit(7);
        cuptiActivityRegisterCallbacks(request, complete);
        cuptiActivityEnable(CONCURRENT_KERNEL);
        work(&during, 10);
        cuptiActivityDisable(CONCURRENT_KERNEL);
        cuptiActivityFlushAll(1);
        cuptiUnsubscribe(subscriber);
    }
    is_over = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", n_own);
}

/* ---- ends ---- */

static void at_return(void)
{
    work(&before, repeat);
}

static void at_exit(void)
{
    work(&before, repeat);
    exit(3);
}

static void *exit_from_thread(void *unused)
{
    work(&before, repeat);
    exit(4);
    return unused;
}

static void at_exit_in_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, exit_from_thread, NULL);
    pthread_join(thread, NULL);
}

static void at__exit(void)
{
    work(&before, repeat);
    _exit(5);
}

static void at_abort(void)
{
    work(&before, repeat);
    abort();
}

static void at_sigterm(void)
{
    work(&before, repeat);
    raise(SIGTERM);
}

/* Until it is killed: prints how many kernels have surely run, once per round. */
static void forever(void)
{
    for (int i = 1;; i++) {
        work(&before, repeat);
        printf("%d\n", i * repeat);
        fflush(stdout);
    }
}

/* One call that waits, now and then, for longer than a flush period. */
static void slowly(void)
{
    for (int i = 0; i < 3; i++) {
        work(&before, repeat);
        sleep_ms(1050);
    }
    work(&after, 1);
    _exit(0);
}

static void fork_workers(void)
{
    work(&before, repeat);
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            char *memory = malloc(1000000);
            memset(memory, 1, 1000000);
            free(memory);
            if (i % 2)
                exit(0);
            _exit(0);
        }
    work(&during, repeat);
    for (int i = 0; i < 4; i++) {
        int status;
        wait(&status);
        if (status)
            exit(9);
    }
    work(&after, repeat);
}

static const struct program_case cases[] = {
    {"profiler_subscribes", profiler_subscribes},
    {"profiler_registers", profiler_registers},
    {"profiler_of_defaults", profiler_of_defaults},
    {"profiler_first", profiler_first},
    {"profiler_first_window", profiler_first_window},
    {"profiler_stays", profiler_stays},
    {"profiler_sets_first", profiler_sets_first},
    {"profiler_sets_before_cuda", profiler_sets_before_cuda},
    {"profiler_flushes_twice", profiler_flushes_twice},
    {"profiler_never_flushes", profiler_never_flushes},
    {"profiler_until_exit", profiler_until_exit},
    {"profiler_finalizes", profiler_finalizes},
    {"profiler_of_two_threads", profiler_of_two_threads},
    {"profiler_amid_start", profiler_amid_start},
    {"profiler_amid_threads", profiler_amid_threads},
    {"return", at_return},
    {"exit", at_exit},
    {"exit_in_thread", at_exit_in_thread},
    {"_exit", at__exit},
    {"abort", at_abort},
    {"sigterm", at_sigterm},
    {"forever", forever},
    {"slowly", slowly},
    {"fork_workers", fork_workers},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, cases, sizeof cases / sizeof *cases, &repeat);
}

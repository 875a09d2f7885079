/* SPDX-License-Identifier: MIT
 *
 * cupti_alone.cu - what CUPTI costs by itself, without us: one line of JSON.
 *
 *   cupti_alone WHAT [N]    WHAT is "none" or letters: k kernels, r runtime, d driver (all its calls), m copies and sets,
 *                           s synchronisation, o overhead, t a clock of the program, c callbacks at launches
 *
 * The buffers are taken and walked, nothing is stored.
 */
#include <cuda_runtime.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    int (*GetVersion)(uint32_t *);
    int (*Subscribe)(void **, void (*)(void *, uint32_t, uint32_t, const void *), void *);
    int (*EnableCallback)(uint32_t, void *, uint32_t, uint32_t);
    int (*ActivityEnable)(uint32_t);
    int (*ActivityRegisterCallbacks)(void (*)(uint8_t **, size_t *, size_t *),
                                     void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
    int (*ActivityRegisterTimestampCallback)(uint64_t (*)(void));
    int (*ActivityGetNextRecord)(uint8_t *, size_t, uint8_t **);
    int (*ActivityFlushAll)(uint32_t);
} cupti;
static long n_records, n_kernels, n_bad_times, n_buffers;
static double megabytes;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static uint64_t monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static long of_status(const char *format)
{
    char line[256];
    long value = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, format, &value);
    if (file)
        fclose(file);
    return value;
}

static void request(uint8_t **data, size_t *bytes, size_t *max_records)
{
    *bytes = 1 << 20;
    *max_records = 0;
    *data = (uint8_t *)aligned_alloc(8, *bytes);
}

static void complete(void *context, uint32_t stream, uint8_t *data, size_t bytes, size_t valid)
{
    uint8_t *record = NULL;
    (void)context, (void)stream, (void)bytes;
    __atomic_fetch_add(&n_buffers, 1, __ATOMIC_RELAXED);
    megabytes += (double)valid / (1 << 20);
    while (cupti.ActivityGetNextRecord(data, valid, &record) == 0) {
        uint64_t times[2];
        uint32_t kind;
        memcpy(&kind, record, sizeof kind);
        memcpy(times, record + 16, sizeof times);
        __atomic_fetch_add(&n_records, 1, __ATOMIC_RELAXED);
        if (kind != 10)
            continue;
        __atomic_fetch_add(&n_kernels, 1, __ATOMIC_RELAXED);
        if (!times[0] || times[1] < times[0])
            __atomic_fetch_add(&n_bad_times, 1, __ATOMIC_RELAXED);
    }
    free(data);
}

static void on_call(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
    (void)user, (void)domain, (void)cbid, (void)data;
}

static void *open_cupti(void)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
                                        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                                        "/usr/local/cuda/lib64/libcupti.so"};
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
    return library;
}

/* 0, or what it failed with. */
static int begin(const char *what)
{
    static const struct {
        char letter;
        uint32_t kind;
    } kinds[] = {{'k', 10}, {'r', 5}, {'d', 4}, {'m', 1}, {'m', 2}, {'s', 38}, {'o', 17}};
    uint32_t version = 0;
    void *subscriber;
    const double begin_ms = now_ms();
    void *library = open_cupti();
    if (!library) {
        fprintf(stderr, "no libcupti: %s\n", dlerror());
        return 77;
    }
    const double open_ms = now_ms();
#define FIND(name) *(void **)&cupti.name = dlsym(library, "cupti" #name)
    FIND(GetVersion), FIND(Subscribe), FIND(EnableCallback), FIND(ActivityEnable), FIND(ActivityRegisterCallbacks);
    FIND(ActivityRegisterTimestampCallback), FIND(ActivityGetNextRecord), FIND(ActivityFlushAll);
    cupti.GetVersion(&version);
    const int result = cupti.Subscribe(&subscriber, on_call, NULL);
    const double subscribed_ms = now_ms();
    if (result) {
        fprintf(stderr, "cuptiSubscribe gave %d\n", result);
        return result;
    }
    if (strchr(what, 't'))
        cupti.ActivityRegisterTimestampCallback(monotonic_ns);
    cupti.ActivityRegisterCallbacks(request, complete);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strchr(what, kinds[i].letter))
            cupti.ActivityEnable(kinds[i].kind);
    static const uint32_t launches[] = {211, 505}; /* cudaLaunchKernel, __cudaLaunchKernel of CUDA 13 */
    for (int i = 0; strchr(what, 'c') && i < 2; i++)
        cupti.EnableCallback(1, subscriber, 2, launches[i]);
    printf(", \"version\": %u, \"open_ms\": %.2f, \"subscribe_ms\": %.2f, \"enable_ms\": %.2f", version,
           open_ms - begin_ms, subscribed_ms - open_ms, now_ms() - subscribed_ms);
    return 0;
}

__global__ void empty_kernel(void)
{
}

static void launches(int n)
{
    double best = 1e18;
    for (int round = 0; round < 5; round++) {
        const double begin_ms = now_ms();
        for (int i = 0; i < n; i++)
            empty_kernel<<<1, 32>>>();
        const double each_ns = (now_ms() - begin_ms) * 1e6 / n;
        best = each_ns < best ? each_ns : best;
        cudaDeviceSynchronize();
    }
    const double begin_ms = now_ms();
    for (int i = 0; i < 1000; i++) {
        empty_kernel<<<1, 32>>>();
        cudaDeviceSynchronize();
    }
    printf(", \"launch_ns\": %.0f, \"launch_sync_us\": %.2f", best, now_ms() - begin_ms);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "none";
    const int n = argc > 2 ? atoi(argv[2]) : 20000, is_on = strcmp(what, "none") != 0;
    const long rss_kib = of_status("VmRSS: %ld");
    char *memory = NULL, host[4] = {0};
    printf("{\"what\": \"%s\"", what);
    const int result = is_on ? begin(what) : 0;
    if (result)
        return result;
    const double first_ms = now_ms();
    if (cudaMalloc((void **)&memory, 16) != cudaSuccess)
        return 9;
    printf(", \"first_cuda_ms\": %.1f, \"rss_mib\": %.1f, \"threads\": %ld", now_ms() - first_ms,
           (double)(of_status("VmRSS: %ld") - rss_kib) / 1024, of_status("Threads: %ld"));
    empty_kernel<<<1, 32>>>();
    cudaDeviceSynchronize();
    launches(n);
    const double copies_ms = now_ms();
    for (int i = 0; i < 1000; i++)
        cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice);
    printf(", \"copy_4_bytes_us\": %.2f", now_ms() - copies_ms);
    if (is_on) {
        const double flush_ms = now_ms();
        cupti.ActivityFlushAll(1);
        printf(", \"flush_ms\": %.1f, \"records\": %ld, \"kernels\": %ld, \"buffers\": %ld, \"mib\": %.1f, "
               "\"bad_times\": %ld",
               now_ms() - flush_ms, n_records, n_kernels, n_buffers, megabytes, n_bad_times);
    }
    puts("}");
    fflush(stdout);
    return 0;
}

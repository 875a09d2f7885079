/* SPDX-License-Identifier: MIT
 *
 * profiler.c - a program that profiles itself with CUPTI, as torch.profiler and JAX do. `profiler MODE [ROUNDS]`:
 *
 *     subscribe   cuptiSubscribe first and, if that is refused, no GPU activities (Kineto until 2026)
 *     direct      callbacks and a clock of its own at once, without a subscription (Kineto since)
 *     dlsym       the same by dlopen and dlsym, past any interposition (JAX, Triton)
 *
 * Each round launches kernels, profiles 10 of them, and launches more. Prints what it saw as JSON.
 */
#define _GNU_SOURCE
#include "cuda.h"
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int cuptiSubscribe(void **, void (*)(void *, uint32_t, uint32_t, const void *), void *);
int cuptiUnsubscribe(void *);
int cuptiActivityRegisterCallbacks(void (*)(uint8_t **, size_t *, size_t *),
                                   void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
int cuptiActivityRegisterTimestampCallback(uint64_t (*)(void));
int cuptiActivityEnable(uint32_t);
int cuptiActivityDisable(uint32_t);
int cuptiActivityFlushAll(uint32_t);
int cuptiActivityGetNextRecord(uint8_t *, size_t, uint8_t **);

/* The calls, linked or looked up. */
static struct {
    __typeof__(cuptiSubscribe) *subscribe;
    __typeof__(cuptiUnsubscribe) *unsubscribe;
    __typeof__(cuptiActivityRegisterCallbacks) *register_callbacks;
    __typeof__(cuptiActivityRegisterTimestampCallback) *register_clock;
    __typeof__(cuptiActivityEnable) *enable, *disable;
    __typeof__(cuptiActivityFlushAll) *flush;
    __typeof__(cuptiActivityGetNextRecord) *next;
} cupti = {
    cuptiSubscribe,      cuptiUnsubscribe,     cuptiActivityRegisterCallbacks, cuptiActivityRegisterTimestampCallback,
    cuptiActivityEnable, cuptiActivityDisable, cuptiActivityFlushAll,          cuptiActivityGetNextRecord};

static char kernel;
static int n_kernels, n_calls, n_bad_times;
static uint64_t window_start, window_end;

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now); /* a clock that is not the tracer's */
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void request(uint8_t **data, size_t *bytes, size_t *max_records)
{
    *bytes = 1 << 16;
    *data = aligned_alloc(8, *bytes);
    *max_records = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *data, size_t bytes, size_t valid)
{
    uint8_t *record = NULL;
    (void)context, (void)stream, (void)bytes;
    while (!cupti.next(data, valid, &record)) {
        uint32_t kind;
        uint64_t start;
        memcpy(&kind, record, sizeof kind);
        memcpy(&start, record + 16, sizeof start);
        n_calls += kind == 5;
        n_kernels += kind == 10;
        n_bad_times += kind == 10 && (start < window_start || start > clock_ns());
    }
    free(data);
}

static void call_back(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
    (void)user, (void)domain, (void)cbid, (void)data;
}

static void launch(int n)
{
    for (int i = 0; i < n; i++)
        if (cudaLaunchKernel(&kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL))
            exit(1);
    if (cudaDeviceSynchronize())
        exit(1);
}

static void look_up(void)
{
    void *library = dlopen("libcupti.so.13", RTLD_NOW);
    if (!library)
        exit(3);
    *(void **)&cupti.subscribe = dlsym(library, "cuptiSubscribe");
    *(void **)&cupti.unsubscribe = dlsym(library, "cuptiUnsubscribe");
    *(void **)&cupti.register_callbacks = dlsym(library, "cuptiActivityRegisterCallbacks");
    *(void **)&cupti.register_clock = dlsym(library, "cuptiActivityRegisterTimestampCallback");
    *(void **)&cupti.enable = dlsym(library, "cuptiActivityEnable");
    *(void **)&cupti.disable = dlsym(library, "cuptiActivityDisable");
    *(void **)&cupti.flush = dlsym(library, "cuptiActivityFlushAll");
    *(void **)&cupti.next = dlsym(library, "cuptiActivityGetNextRecord");
}

/* One profile() session; what the subscription said. */
static int profile(int subscribes)
{
    void *subscriber = NULL;
    const int result = subscribes ? cupti.subscribe(&subscriber, call_back, NULL) : 0;
    if (result)
        return result;
    window_start = clock_ns();
    cupti.register_clock(clock_ns);
    cupti.register_callbacks(request, complete);
    cupti.enable(5);
    cupti.enable(10);
    launch(10);
    cupti.flush(1);
    cupti.disable(5);
    cupti.disable(10);
    window_end = clock_ns();
    if (subscriber)
        cupti.unsubscribe(subscriber);
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "subscribe";
    const int n_rounds = argc > 2 ? atoi(argv[2]) : 1;
    static char image[] = "profiler";
    void **module = __cudaRegisterFatBinary(image);
    int refused = 0;
    __cudaRegisterFunction(module, &kernel, NULL, "profiled", -1, NULL, NULL, NULL, NULL, NULL);
    if (!strcmp(mode, "dlsym"))
        look_up();
    launch(5);
    for (int i = 0; i < n_rounds; i++) {
        refused = profile(strcmp(mode, "direct") != 0);
        launch(3);
    }
    printf("{\"kernels\":%d,\"calls\":%d,\"bad_times\":%d,\"refused\":%d}\n", n_kernels, n_calls, n_bad_times, refused);
    return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * work.cu - GPU work whose amount is known, told in one line of JSON: kernels, copies, sets and bytes by kind.
 *
 *   work MODE [N] [--exit return|exit|_exit|abort|sigterm]
 *   plain      N kernels, copies from pageable and pinned memory, sets, one stream
 *   streams    the same over 8 streams, from 8 threads
 *   graph      a graph of 3 kernels, launched N times
 *   fork-before  the child works, too; fork comes before CUDA is initialised
 *   fork-after   the child must not touch CUDA; fork comes after
 *   launch     N empty launches: nanoseconds of each, best of 5, and of launch with synchronisation; memory of both
 * sides graph-time a graph of 20 kernels, launched N times: nanoseconds of a launch and until it is done, best of 5
 *   calls      N calls each of functions that PyTorch calls around every kernel: nanoseconds of each, best of 5
 */
#include <cuda_runtime.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES (1 << 20)
#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess) {                                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                             \
            exit(9);                                                                                                   \
        }                                                                                                              \
    } while (0)

__global__ void small_kernel(float *data)
{
    data[threadIdx.x] += 1.0f;
}

__global__ void spin_kernel(long long clocks)
{
    const long long start = clock64();
    while (clock64() - start < clocks)
        ;
}

__global__ void empty_kernel(void)
{
}

struct sums {
    long kernels, copies_pageable, copies_pinned, copies_back, sets, bytes;
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void work(int n, cudaStream_t stream, struct sums *sums)
{
    float *device;
    void *pinned, *pageable = malloc(BYTES);
    memset(pageable, 1, BYTES);
    CHECK(cudaMalloc(&device, BYTES));
    CHECK(cudaMallocHost(&pinned, BYTES));
    for (int i = 0; i < n; i++) {
        small_kernel<<<2, 64, 0, stream>>>(device);
        sums->kernels++;
        if (i % 10 == 0) {
            CHECK(cudaMemcpyAsync(device, pageable, BYTES, cudaMemcpyHostToDevice, stream));
            CHECK(cudaMemcpyAsync(device, pinned, BYTES / 2, cudaMemcpyHostToDevice, stream));
            CHECK(cudaMemcpyAsync(pinned, device, BYTES / 4, cudaMemcpyDeviceToHost, stream));
            CHECK(cudaMemsetAsync(device, 0, BYTES, stream));
            spin_kernel<<<1, 32, 0, stream>>>(20000);
            sums->kernels++;
            sums->copies_pageable++;
            sums->copies_pinned++;
            sums->copies_back++;
            sums->sets++;
            sums->bytes += BYTES + BYTES / 2 + BYTES / 4;
        }
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(pinned));
    free(pageable);
}

struct job {
    int n;
    struct sums sums;
};

static void *on_own_stream(void *argument)
{
    struct job *job = (struct job *)argument;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    work(job->n, stream, &job->sums);
    CHECK(cudaStreamDestroy(stream));
    return NULL;
}

static void over_streams(int n, struct sums *sums)
{
    pthread_t threads[8];
    struct job jobs[8];
    memset(jobs, 0, sizeof jobs);
    for (int i = 0; i < 8; i++) {
        jobs[i].n = n / 8;
        pthread_create(&threads[i], NULL, on_own_stream, &jobs[i]);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        const long *from = (const long *)&jobs[i].sums;
        long *to = (long *)sums;
        for (size_t k = 0; k < sizeof *sums / sizeof *to; k++)
            to[k] += from[k];
    }
}

static void graph(int n, struct sums *sums)
{
    float *device;
    cudaStream_t stream;
    cudaGraph_t captured;
    cudaGraphExec_t exec;
    CHECK(cudaMalloc(&device, BYTES));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 3; i++)
        small_kernel<<<1, 64, 0, stream>>>(device);
    CHECK(cudaStreamEndCapture(stream, &captured));
    CHECK(cudaGraphInstantiate(&exec, captured, 0));
    for (int i = 0; i < n; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    sums->kernels += 3L * n;
    CHECK(cudaFree(device));
}

static void tell(const char *mode, const struct sums *s)
{
    printf("{\"mode\": \"%s\", \"pid\": %d, \"kernels\": %ld, \"copies_pageable\": %ld, \"copies_pinned\": %ld, "
           "\"copies_back\": %ld, "
           "\"sets\": %ld, \"bytes\": %ld}\n",
           mode, (int)getpid(), s->kernels, s->copies_pageable, s->copies_pinned, s->copies_back, s->sets, s->bytes);
    fflush(stdout);
}

static long resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%*d %ld", &pages) != 1)
            pages = 0;
        fclose(file);
    }
    return pages * 4;
}

static void launches(int n)
{
    double best = 1e18, best_synced = 1e18;
    empty_kernel<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize());
    for (int round = 0; round < 5; round++) {
        const double begin = now_ns();
        for (int i = 0; i < n; i++)
            empty_kernel<<<1, 32>>>();
        const double each = (now_ns() - begin) / n;
        best = each < best ? each : best;
        CHECK(cudaDeviceSynchronize());
    }
    for (int round = 0; round < 3; round++) {
        const double begin = now_ns();
        for (int i = 0; i < n / 10; i++) {
            empty_kernel<<<1, 32>>>();
            CHECK(cudaDeviceSynchronize());
        }
        const double each = (now_ns() - begin) / (n / 10);
        best_synced = each < best_synced ? each : best_synced;
    }
    size_t free_bytes, all_bytes;
    CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
    printf("{\"mode\": \"launch\", \"launch_ns\": %.0f, \"launch_sync_ns\": %.0f, \"rss_kib\": %ld, "
           "\"device_used_kib\": %zu}\n",
           best, best_synced, resident_kib(), (all_bytes - free_bytes) >> 10);
    fflush(stdout);
}

static void graph_times(int n)
{
    double best = 1e18, best_done = 1e18;
    cudaStream_t stream;
    cudaGraph_t captured;
    cudaGraphExec_t exec;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 20; i++)
        empty_kernel<<<1, 32, 0, stream>>>();
    CHECK(cudaStreamEndCapture(stream, &captured));
    CHECK(cudaGraphInstantiate(&exec, captured, 0));
    for (int round = 0; round < 5; round++) {
        const double begin = now_ns();
        for (int i = 0; i < n; i++)
            CHECK(cudaGraphLaunch(exec, stream));
        const double launched = now_ns();
        CHECK(cudaStreamSynchronize(stream));
        const double done = now_ns();
        best = (launched - begin) / n < best ? (launched - begin) / n : best;
        best_done = (done - begin) / n < best_done ? (done - begin) / n : best_done;
    }
    printf("{\"mode\": \"graph-time\", \"launch_ns\": %.0f, \"done_ns\": %.0f}\n", best, best_done);
    fflush(stdout);
}

/* Best of 5, as nanoseconds of one. */
template <class F> static double best_of(int n, F call)
{
    double best = 1e18;
    for (int round = 0; round < 5; round++) {
        const double begin = now_ns();
        for (int i = 0; i < n; i++)
            call();
        const double each = (now_ns() - begin) / n;
        best = each < best ? each : best;
        CHECK(cudaDeviceSynchronize());
    }
    return best;
}

static void calls(int n)
{
    int device;
    cudaStream_t stream;
    cudaStreamCaptureStatus status;
    cudaFuncAttributes attributes;
    CHECK(cudaStreamCreate(&stream));
    empty_kernel<<<1, 32, 0, stream>>>();
    CHECK(cudaDeviceSynchronize());
    printf("{\"mode\": \"calls\", \"get_device_ns\": %.0f, ", best_of(n, [&] { CHECK(cudaGetDevice(&device)); }));
    printf("\"peek_ns\": %.0f, ", best_of(n, [&] { CHECK(cudaPeekAtLastError()); }));
    printf("\"capturing_ns\": %.0f, ", best_of(n, [&] { CHECK(cudaStreamIsCapturing(stream, &status)); }));
    printf("\"attributes_ns\": %.0f, ", best_of(n, [&] { CHECK(cudaFuncGetAttributes(&attributes, empty_kernel)); }));
    printf("\"synchronize_ns\": %.0f}\n", best_of(n, [&] { CHECK(cudaStreamSynchronize(stream)); }));
    fflush(stdout);
}

static void leave(const char *how)
{
    if (!strcmp(how, "exit"))
        exit(0);
    if (!strcmp(how, "_exit"))
        _exit(0);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "sigterm"))
        raise(SIGTERM);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "plain", *how = "return";
    int n = argc > 2 ? atoi(argv[2]) : 1000;
    struct sums sums = {0, 0, 0, 0, 0, 0};
    for (int i = 2; i + 1 < argc; i++)
        how = !strcmp(argv[i], "--exit") ? argv[i + 1] : how;
    pid_t child = -1;
    if (!strcmp(mode, "launch") || !strcmp(mode, "graph-time") || !strcmp(mode, "calls")) {
        (!strcmp(mode, "launch") ? launches : !strcmp(mode, "calls") ? calls : graph_times)(n);
        return 0;
    }
    if (!strcmp(mode, "fork-after"))
        CHECK(cudaFree(NULL));
    if (!strncmp(mode, "fork-", 5))
        child = fork();
    if (child == 0 && !strcmp(mode, "fork-after"))
        _exit(cudaFree(NULL) == cudaSuccess ? 8 : 0); /* CUDA refuses: initialised before the fork */
    if (!strcmp(mode, "streams"))
        over_streams(n, &sums);
    else if (!strcmp(mode, "graph"))
        graph(n, &sums);
    else
        work(n, 0, &sums);
    tell(mode, &sums);
    int status = 0;
    if (child > 0)
        waitpid(child, &status, 0);
    leave(how);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 7;
}

/* SPDX-License-Identifier: MIT
 *
 * workload.c - a CUDA program of many small cases, for the tests of the doubles and of what traces them. It registers
 * its kernels as nvcc's host stubs do. `workload CASE [N]` runs one; every call that fails is printed and ends it
 * with 1.
 */
#define _GNU_SOURCE
#include "cases.h"
#include "cuda.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char gemm, reduce_sum, tiny; /* the host functions: only their addresses count */
static const dim3 one = {1, 1, 1}, block = {256, 1, 1};
static int repeat = 10;

static void check(int result, const char *what)
{
    if (!result)
        return;
    fprintf(stderr, "workload: %s: %d %s\n", what, result, cudaGetErrorName(result));
    exit(1);
}
#define CHECK(call) check(call, #call)

__attribute__((constructor)) static void register_kernels(void)
{
    static char image[] = "image";
    void **module = __cudaRegisterFatBinary(image);
    __cudaRegisterFunction(module, &gemm, NULL, "gemm", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(module, &reduce_sum, NULL, "_Z6reducePfi", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(module, &tiny, NULL, "tiny", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(module);
}

static void launch(const void *kernel, unsigned n_blocks, stream_t stream)
{
    CHECK(cudaLaunchKernel(kernel, (dim3){n_blocks, 1, 1}, block, NULL, 128, stream));
}

/* All kinds of operations on one device. */
static void basic(void)
{
    enum { BYTES = 1 << 20 };
    void *device, *pinned, *other, *event;
    char *pageable = calloc(1, BYTES);
    stream_t stream;
    CHECK(cudaMalloc(&device, BYTES));
    CHECK(cudaMalloc(&other, BYTES));
    CHECK(cudaMallocHost(&pinned, BYTES));
    CHECK(cudaStreamCreateWithFlags(&stream, 1));
    CHECK(cudaEventCreate(&event));
    strcpy(pageable, "moved");
    for (int i = 0; i < repeat; i++) {
        CHECK(cudaMemcpy(device, pageable, BYTES, HOST_TO_DEVICE));
        CHECK(cudaMemcpyAsync(other, pinned, (size_t)BYTES / 2, HOST_TO_DEVICE, stream));
        launch(&gemm, 64, stream);
        launch(&reduce_sum, 1, stream);
        CHECK(cudaEventRecord(event, stream));
        CHECK(cudaStreamWaitEvent(NULL, event, 0));
        CHECK(cudaMemsetAsync(other, 0x5a, 4096, stream));
        CHECK(cudaMemcpyAsync(other, device, 1000, DEVICE_TO_DEVICE, stream));
        launch(&tiny, 2, NULL);
        CHECK(cudaEventSynchronize(event));
        CHECK(cudaStreamSynchronize(stream));
        memset(pageable, 0, 8);
        CHECK(cudaMemcpy(pageable, device, BYTES, DEVICE_TO_HOST));
        if (strcmp(pageable, "moved"))
            check(1, "the bytes came back");
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventDestroy(event));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(other));
    CHECK(cudaFree(device));
    free(pageable);
}

static void *thread_work(void *unused)
{
    stream_t stream;
    CHECK(cudaStreamCreate(&stream));
    for (int i = 0; i < repeat; i++) {
        launch(&gemm, (unsigned)i + 1, stream);
        CHECK(cudaLaunchKernel_ptsz(&tiny, one, block, NULL, 0, NULL));
        if (i % 16 == 0)
            CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaStreamSynchronize_ptsz(NULL));
    CHECK(cudaStreamSynchronize(stream));
    return unused;
}

static void threads(void)
{
    pthread_t ids[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&ids[i], NULL, thread_work, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(ids[i], NULL);
    CHECK(cudaDeviceSynchronize());
}

static void graph(void)
{
    void *graph, *exec, *device;
    stream_t stream;
    CHECK(cudaMalloc(&device, 4096));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, 0));
    launch(&gemm, 8, stream);
    CHECK(cudaMemsetAsync(device, 1, 4096, stream));
    launch(&reduce_sum, 8, stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < repeat; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

static void pool(void)
{
    void *memory, *own;
    stream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMemPoolCreate(&own, NULL));
    for (int i = 0; i < repeat; i++) {
        CHECK(cudaMallocAsync(&memory, 1 << 20, stream));
        launch(&tiny, 1, stream);
        CHECK(cudaFreeAsync(memory, stream));
        CHECK(cudaMallocFromPoolAsync(&memory, 5 << 20, own, stream));
        CHECK(cudaFreeAsync(memory, stream));
    }
    CHECK(cudaMemPoolTrimTo(own, 0));
    CHECK(cudaMemPoolDestroy(own));
    CHECK(cudaMallocManaged(&memory, 1 << 16, 1));
    CHECK(cudaFree(memory));
    CHECK(cudaDeviceSynchronize());
}

/* Launches until the queue is full; prints the longest launch. */
static void queue(void)
{
    double longest_ms = 0;
    for (int i = 0; i < repeat; i++) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        launch(&gemm, 1, NULL);
        clock_gettime(CLOCK_MONOTONIC, &b);
        const double ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
        longest_ms = ms > longest_ms ? ms : longest_ms;
    }
    CHECK(cudaDeviceSynchronize());
    printf("%.3f\n", longest_ms);
}

static void out_of_memory(void)
{
    void *memory;
    size_t free_bytes, total_bytes;
    int n = 0;
    while (!cudaMalloc(&memory, 1 << 20))
        n++;
    CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    printf("%d %d %zu %zu\n", n, cudaGetLastError(), free_bytes, total_bytes);
}

static void devices(void)
{
    void *memory[2];
    int n;
    CHECK(cudaGetDeviceCount(&n));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaMalloc(&memory[i], 1 << 16));
        launch(&gemm, 4, NULL);
    }
    CHECK(cudaMemcpyPeer(memory[0], 0, memory[1], 1, 1 << 16));
    for (int i = 0; i < n; i++) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaDeviceSynchronize());
    }
}

static void note(void *order)
{
    static int next;
    sleep_ms(2);
    *(int *)order = ++next;
}

static void host_functions(void)
{
    int order[3] = {0};
    stream_t stream;
    CHECK(cudaStreamCreate(&stream));
    for (int i = 0; i < 3; i++) {
        launch(&gemm, 1, stream);
        CHECK(cudaLaunchHostFunc(stream, note, &order[i]));
    }
    CHECK(cudaStreamSynchronize(stream));
    printf("%d %d %d\n", order[0], order[1], order[2]);
}

static void unready(void)
{
    void *start, *end;
    float ms;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(start, NULL));
    launch(&gemm, 1, NULL);
    CHECK(cudaEventRecord(end, NULL));
    const int stream_before = cudaStreamQuery(NULL), event_before = cudaEventQuery(end);
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, start, end));
    printf("%d %d %d %d %.3f\n", stream_before, event_before, cudaStreamQuery(NULL), cudaEventQuery(end), (double)ms);
}

/* fork without exec, after CUDA was initialised in the parent; the child may only fail. */
static void fork_after(void)
{
    launch(&tiny, 1, NULL);
    CHECK(cudaDeviceSynchronize());
    fflush(stdout);
    const pid_t child = fork();
    if (!child) {
        void *memory;
        printf("%d\n", cudaMalloc(&memory, 16));
        fflush(stdout);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    launch(&tiny, 1, NULL);
    CHECK(cudaDeviceSynchronize());
}

/* fork before: both sides use CUDA as if they were alone. */
static void fork_before(void)
{
    const pid_t child = fork();
    launch(&gemm, 1, NULL);
    CHECK(cudaDeviceSynchronize());
    if (!child)
        exit(0);
    int status;
    waitpid(child, &status, 0);
    if (status)
        exit(1);
}

/* A child that does what no child may: it runs its parent's exit handlers. */
static void fork_exit(void)
{
    launch(&tiny, 1, NULL);
    fflush(stdout);
    const pid_t child = fork();
    if (!child)
        exit(0);
    int status;
    waitpid(child, &status, 0);
    printf("%d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void unfinished(void)
{
    launch(&gemm, 1, NULL);
}

static void killed(void)
{
    launch(&gemm, 1, NULL);
    CHECK(cudaDeviceSynchronize());
    raise(9);
}

static const struct program_case cases[] = {
    {"basic", basic},
    {"threads", threads},
    {"graph", graph},
    {"pool", pool},
    {"queue", queue},
    {"out_of_memory", out_of_memory},
    {"devices", devices},
    {"host_functions", host_functions},
    {"unready", unready},
    {"fork_after", fork_after},
    {"fork_before", fork_before},
    {"fork_exit", fork_exit},
    {"unfinished", unfinished},
    {"killed", killed},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, cases, sizeof cases / sizeof *cases, &repeat);
}

/* SPDX-License-Identifier: MIT
 *
 * Calls every wrapped function of the runtime that the doubles know, and its twin: argv[1] picks a case. What it prints
 * must be the same with and without the library. The runtime's types are declared here once more on purpose: with those
 * of preload/cuda/wrappers.c a mistake there would go unseen.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    unsigned x, y, z;
} dim3;
struct extent {
    size_t width, height, depth;
};
struct pitched {
    void *memory;
    size_t pitch, width, height;
};
struct copy_3d {
    void *from_array;
    size_t from_position[3];
    struct pitched from;
    void *to_array;
    size_t to_position[3];
    struct pitched to;
    struct extent extent;
    int kind;
};
struct config {
    dim3 grid, block;
    size_t shared;
    void *stream, *attributes;
    unsigned n_attributes;
};

void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
int __cudaGetKernel(void **, const void *);
#define TWO(type, name, twin, ...)                                                                                     \
    type name(__VA_ARGS__);                                                                                            \
    type name##twin(__VA_ARGS__);
TWO(int, cudaLaunchKernel, _ptsz, const void *, dim3, dim3, void **, size_t, void *)
TWO(int, __cudaLaunchKernel, _ptsz, void *, dim3, dim3, void **, size_t, void *)
TWO(int, cudaLaunchCooperativeKernel, _ptsz, const void *, dim3, dim3, void **, size_t, void *)
TWO(int, cudaLaunchKernelExC, _ptsz, const struct config *, const void *, void **)
TWO(int, cudaLaunchHostFunc, _ptsz, void *, void (*)(void *), void *)
TWO(int, cudaMemcpy, _ptds, void *, const void *, size_t, int)
TWO(int, cudaMemcpyAsync, _ptsz, void *, const void *, size_t, int, void *)
TWO(int, cudaMemcpy2D, _ptds, void *, size_t, const void *, size_t, size_t, size_t, int)
TWO(int, cudaMemcpy2DAsync, _ptsz, void *, size_t, const void *, size_t, size_t, size_t, int, void *)
TWO(int, cudaMemcpy3D, _ptds, const struct copy_3d *)
TWO(int, cudaMemcpy3DAsync, _ptsz, const struct copy_3d *, void *)
TWO(int, cudaMemset, _ptds, void *, int, size_t)
TWO(int, cudaMemsetAsync, _ptsz, void *, int, size_t, void *)
TWO(int, cudaMemset2D, _ptds, void *, size_t, int, size_t, size_t)
TWO(int, cudaMemset2DAsync, _ptsz, void *, size_t, int, size_t, size_t, void *)
TWO(int, cudaMallocAsync, _ptsz, void **, size_t, void *)
TWO(int, cudaFreeAsync, _ptsz, void *, void *)
TWO(int, cudaStreamSynchronize, _ptsz, void *)
TWO(int, cudaStreamQuery, _ptsz, void *)
int cudaEventQuery(void *);
int cudaMemset3D(struct pitched, int, struct extent);
int cudaMemset3DAsync(struct pitched, int, struct extent, void *);
int cudaMalloc(void **, size_t);
int cudaMallocHost(void **, size_t);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaMallocPitch(void **, size_t *, size_t, size_t);
int cudaMalloc3D(struct pitched *, struct extent);
int cudaHostAlloc(void **, size_t, unsigned);
int cudaHostRegister(void *, size_t, unsigned);
int cudaHostUnregister(void *);
int cudaFree(void *);
int cudaFreeHost(void *);
int cudaDeviceSynchronize(void);
int cudaEventCreate(void **);
int cudaEventRecord(void *, void *);
int cudaEventSynchronize(void *);
int cudaStreamCreate(void **);
int cudaStreamWaitEvent(void *, void *, unsigned);
int cudaGetDeviceCount(int *);

static char scale, tiny, nameless;

__attribute__((constructor)) static void register_kernels(void)
{
    static const char binary[64];
    void **module = __cudaRegisterFatBinary((void *)(size_t)binary);
    __cudaRegisterFunction(module, &scale, &scale, "_Z5scalePff", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(module, &tiny, &tiny, "tiny", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(module);
}

static int n_errors, n_calls;
static void check(int result)
{
    n_calls++;
    n_errors += result != 0;
    if (errno != 77)
        printf("errno became %d after call %d\n", errno, n_calls);
    errno = 77; /* the doubles may set it themselves: only that we do not is asked */
}
#define CALL(call) (errno = 77, check(call))
#define BOTH(name, twin, ...) (CALL(name(__VA_ARGS__)), CALL(name##twin(__VA_ARGS__)))

static void nothing(void *data)
{
    (void)data;
}

static void launches(void)
{
    const dim3 grid = {3, 2, 1}, block = {64, 1, 2};
    void *arguments[1] = {NULL}, *kernel;
    const struct config config = {grid, block, 512, NULL, NULL, 0};
    BOTH(cudaLaunchKernel, _ptsz, &scale, grid, block, arguments, 128, NULL);
    BOTH(cudaLaunchCooperativeKernel, _ptsz, &scale, grid, block, arguments, 0, NULL);
    BOTH(cudaLaunchKernelExC, _ptsz, &config, &tiny, arguments);
    CALL(__cudaGetKernel(&kernel, &tiny));
    BOTH(__cudaLaunchKernel, _ptsz, kernel, grid, block, arguments, 64, NULL);
    BOTH(cudaLaunchHostFunc, _ptsz, NULL, nothing, NULL);
    CALL(cudaDeviceSynchronize());
}

static void copies(void)
{
    enum { N = 1 << 16 };
    static char host[N];
    char *device;
    struct pitched box;
    CALL(cudaMalloc((void **)&device, N));
    CALL(cudaMalloc3D(&box, (struct extent){256, 4, 4}));
    const struct copy_3d copy = {
        .from = {host, 256, 256, 4}, .to = box, .extent = {256, 4, 4}, .kind = 1 /* host to device */};
    BOTH(cudaMemcpy, _ptds, device, host, N, 1);
    BOTH(cudaMemcpyAsync, _ptsz, host, device, N / 2, 2, NULL);
    BOTH(cudaMemcpyAsync, _ptsz, device, device + N / 2, 1000, 3, NULL);
    BOTH(cudaMemcpyAsync, _ptsz, device, host, 500, 4, NULL);
    BOTH(cudaMemcpy2D, _ptds, device, 512, host, 256, 100, 10, 1);
    BOTH(cudaMemcpy2DAsync, _ptsz, device, 512, host, 256, 100, 11, 1, NULL);
    BOTH(cudaMemcpy3D, _ptds, &copy);
    BOTH(cudaMemcpy3DAsync, _ptsz, &copy, NULL);
    BOTH(cudaMemset, _ptds, device, 1, 4096);
    BOTH(cudaMemsetAsync, _ptsz, device, 1, 4097, NULL);
    BOTH(cudaMemset2D, _ptds, device, 256, 1, 100, 10);
    BOTH(cudaMemset2DAsync, _ptsz, device, 256, 1, 100, 11, NULL);
    CALL(cudaMemset3D(box, 1, (struct extent){256, 2, 2}));
    CALL(cudaMemset3DAsync(box, 1, (struct extent){256, 2, 3}, NULL));
    BOTH(cudaStreamSynchronize, _ptsz, NULL);
    CALL(cudaFree(device));
    CALL(cudaFree(box.memory));
}

static void memory(void)
{
    static char host[8192];
    void *address, *event;
    size_t pitch;
    CALL(cudaMalloc(&address, 1000));
    CALL(cudaFree(address));
    CALL(cudaFree(NULL));
    CALL(cudaMallocManaged(&address, 5000, 1));
    CALL(cudaFree(address));
    CALL(cudaMallocHost(&address, 4096));
    CALL(cudaFreeHost(address));
    CALL(cudaHostAlloc(&address, 4097, 0));
    CALL(cudaFreeHost(address));
    CALL(cudaHostRegister(host, sizeof host, 0));
    CALL(cudaHostUnregister(host));
    CALL(cudaMallocPitch(&address, &pitch, 100, 10));
    CALL(cudaFree(address));
    CALL(cudaMallocAsync(&address, 2048, NULL));
    CALL(cudaFreeAsync(address, NULL));
    CALL(cudaMallocAsync_ptsz(&address, 2049, NULL));
    CALL(cudaFreeAsync_ptsz(address, NULL));
    CALL(cudaEventCreate(&event));
    CALL(cudaEventRecord(event, NULL));
    CALL(cudaEventSynchronize(event));
    CALL(cudaStreamWaitEvent(NULL, event, 0));
}

/* Calls that fail, by their arguments or because the GPU program says so. */
static void bad(void)
{
    void *address = (void *)1;
    size_t pitch = 1;
    const dim3 one = {1, 1, 1};
    CALL(cudaMalloc(&address, (size_t)1 << 60));
    CALL(cudaMallocHost(&address, (size_t)1 << 60));
    CALL(cudaMallocPitch(&address, &pitch, 16, 16));
    CALL(cudaLaunchKernel(&nameless, one, one, NULL, 0, NULL));
    CALL(cudaMemcpyAsync(NULL, NULL, 100, 1, NULL));
    CALL(cudaFree((void *)0x1234));
}

/* Asks until the GPU is done, in loops that wait and in one that sleeps; then questions that are no loop. */
static void polls(void)
{
    enum { NOT_READY = 600 };
    const dim3 one = {1, 1, 1};
    void *event;
    CALL(cudaEventCreate(&event));
    for (int i = 0; i < 4; i++) {
        CALL(cudaLaunchKernel(&tiny, one, one, NULL, 0, NULL));
        CALL(cudaEventRecord(event, NULL));
        while (i == 0 && cudaEventQuery(event) == NOT_READY)
            ;
        while (i == 1 && cudaStreamQuery(NULL) == NOT_READY)
            ;
        while (i == 2 && cudaStreamQuery_ptsz(NULL) == NOT_READY)
            ;
        while (i == 3 && cudaEventQuery(event) == NOT_READY)
            usleep(100);
    }
    for (int i = 0; i < 1000; i++)
        CALL(cudaEventQuery(event));
}

static void *launch_many(void *stream)
{
    const dim3 one = {1, 1, 1};
    for (int i = 0; i < 500; i++)
        if (cudaLaunchKernel(i % 2 ? &scale : &tiny, one, one, NULL, 0, stream))
            abort();
    return NULL;
}

static void threads(void)
{
    pthread_t thread[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&thread[i], NULL, launch_many, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
    CALL(cudaDeviceSynchronize());
}

static void children(const char *self)
{
    int status;
    fflush(stdout);
    if (!fork()) {
        launches();
        fflush(stdout);
        _exit(0);
    }
    wait(&status);
    if (!fork()) {
        execl(self, self, "memory", NULL);
        _exit(1);
    }
    wait(&status);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int devices = -1;
    if (!strcmp(what, "launches"))
        launches();
    else if (!strcmp(what, "copies"))
        copies();
    else if (!strcmp(what, "memory"))
        memory();
    else if (!strcmp(what, "bad"))
        bad();
    else if (!strcmp(what, "polls"))
        polls();
    else if (!strcmp(what, "threads"))
        threads();
    else if (!strcmp(what, "children"))
        children(argv[0]);
    else if (!strcmp(what, "ask"))
        printf("%d", cudaGetDeviceCount(&devices));
    printf("%d calls, %d errors, %d\n", n_calls, n_errors, devices);
    return n_errors;
}

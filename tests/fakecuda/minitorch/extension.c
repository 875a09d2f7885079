/* SPDX-License-Identifier: MIT
 *
 * extension.c - what libtorch_cuda is to torch: linked against libcudart, so that its calls can be interposed like
 * torch's, with kernels named like torch's. Also the planted causes that need C: a mutex, allocation loops.
 */
#include "../programs/cuda.h"
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The order is that of KERNELS in cuda.py. */
static const char *const kernel_names[] = {
    "ampere_sgemm_128x64_tn",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_",
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_14func_wrapper_tIfEEjfLi4EEEEEvT1_",
    "_ZN2at6native12_GLOBAL__N_125multi_tensor_apply_kernelINS1_18TensorListMetadataILi4EEENS1_16AdamFunctorMasterE",
    "_ZN2at6native54_GLOBAL__N__softmax_warp_forwardIfffLi8ELb0EEEvPT0_PKT_iii",
    "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
};
enum { N_KERNELS = sizeof kernel_names / sizeof *kernel_names };
static char kernels[N_KERNELS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define PUBLIC __attribute__((visibility("default")))
PUBLIC int mt_launch(int kernel, unsigned n_blocks, void *stream);
PUBLIC int mt_allocate(void **address, size_t bytes, int is_pinned);
PUBLIC int mt_release(void *address, int is_pinned);
PUBLIC int mt_copy(void *target, const void *source, size_t bytes, int direction, void *stream, int is_async);
PUBLIC int mt_set(void *target, int value, size_t bytes, void *stream);
PUBLIC int mt_synchronize(void *stream);
PUBLIC int mt_synchronize_device(void);
PUBLIC int mt_stream(void **stream);
PUBLIC int mt_set_device(int device);
PUBLIC uint64_t mt_now_ns(void);
PUBLIC void mt_hold_mutex(uint64_t ns);
PUBLIC void mt_take_mutex(void);
PUBLIC int mt_cuda_malloc_for(uint64_t ns);
PUBLIC int mt_copy_for(void *target, const void *source, size_t bytes, uint64_t ns);
PUBLIC void mt_heap_for(uint64_t ns);
PUBLIC void mt_touch_until(volatile char *bytes, size_t n, size_t step, int is_write, uint64_t end_ns);

__attribute__((constructor)) static void register_kernels(void)
{
    static char image[] = "minitorch";
    void **module = __cudaRegisterFatBinary(image);
    for (int i = 0; i < N_KERNELS; i++)
        __cudaRegisterFunction(module, &kernels[i], NULL, kernel_names[i], -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(module);
}

int mt_launch(int kernel, unsigned n_blocks, void *stream)
{
    return cudaLaunchKernel(&kernels[kernel], (dim3){n_blocks, 1, 1}, (dim3){128, 1, 1}, NULL, 0, stream);
}

int mt_allocate(void **address, size_t bytes, int is_pinned)
{
    return is_pinned ? cudaMallocHost(address, bytes) : cudaMalloc(address, bytes);
}

int mt_release(void *address, int is_pinned)
{
    return is_pinned ? cudaFreeHost(address) : cudaFree(address);
}

int mt_copy(void *target, const void *source, size_t bytes, int direction, void *stream, int is_async)
{
    return is_async ? cudaMemcpyAsync(target, source, bytes, direction, stream)
                    : cudaMemcpy(target, source, bytes, direction);
}

int mt_set(void *target, int value, size_t bytes, void *stream)
{
    return cudaMemsetAsync(target, value, bytes, stream);
}

int mt_synchronize(void *stream)
{
    return cudaStreamSynchronize(stream);
}

int mt_synchronize_device(void)
{
    return cudaDeviceSynchronize();
}

int mt_stream(void **stream)
{
    return cudaStreamCreateWithFlags(stream, 1);
}

int mt_set_device(int device)
{
    return cudaSetDevice(device);
}

/* ---- planted causes ---- */
uint64_t mt_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void mt_hold_mutex(uint64_t ns)
{
    pthread_mutex_lock(&mutex);
    for (const uint64_t end_ns = mt_now_ns() + ns; mt_now_ns() < end_ns;)
        nanosleep(&(struct timespec){0, 100000}, NULL);
    pthread_mutex_unlock(&mutex);
}

void mt_take_mutex(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

int mt_cuda_malloc_for(uint64_t ns)
{
    int error = 0;
    for (const uint64_t end_ns = mt_now_ns() + ns; !error && mt_now_ns() < end_ns;) {
        void *memory;
        error = cudaMalloc(&memory, 1 << 20);
        if (!error)
            error = cudaFree(memory);
    }
    return error;
}

int mt_copy_for(void *target, const void *source, size_t bytes, uint64_t ns)
{
    int error = 0;
    for (const uint64_t end_ns = mt_now_ns() + ns; !error && mt_now_ns() < end_ns;)
        error = cudaMemcpy(target, source, bytes, DEVICE_TO_HOST);
    return error;
}

/* Nothing is written into the blocks: what that costs is not the allocator's. */
void mt_heap_for(uint64_t ns)
{
    enum { SLOTS = 512, ROUNDS = 256 };
    static void *slots[SLOTS];
    uint64_t random = 1;
    for (const uint64_t end_ns = mt_now_ns() + ns; mt_now_ns() < end_ns;)
        for (int i = 0; i < ROUNDS; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            void **slot = &slots[random >> 32 & (SLOTS - 1)];
            free(*slot);
            *slot = malloc((size_t)(random >> 41 & 2047) + 1100);
        }
}

/* A byte of each so many, until a time comes or all are done: where pages are missing, the kernel gets them. */
void mt_touch_until(volatile char *bytes, size_t n, size_t step, int is_write, uint64_t end_ns)
{
    enum { UNTIMED = 64 };
    for (size_t i = 0; i < n && mt_now_ns() < end_ns;)
        for (int j = 0; j < (is_write ? UNTIMED : 1) && i < n; j++, i += step)
            if (is_write)
                bytes[i] = 1;
            else
                (void)bytes[i];
}

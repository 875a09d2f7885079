/* SPDX-License-Identifier: MIT
 *
 * cuda.h - the part of the CUDA runtime that the test programs use, declared by us.
 */
#ifndef TEST_CUDA_H
#define TEST_CUDA_H

#include <stddef.h>

typedef struct {
    unsigned x, y, z;
} dim3;
typedef void *stream_t;
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST, DEVICE_TO_DEVICE };

void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
int cudaMalloc(void **, size_t);
int cudaMallocHost(void **, size_t);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaMallocAsync(void **, size_t, stream_t);
int cudaFreeAsync(void *, stream_t);
int cudaFree(void *);
int cudaFreeHost(void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpyAsync(void *, const void *, size_t, int, stream_t);
int cudaMemcpyAsync_ptsz(void *, const void *, size_t, int, stream_t);
int cudaMemcpyPeer(void *, int, const void *, int, size_t);
int cudaMemset(void *, int, size_t);
int cudaMemsetAsync(void *, int, size_t, stream_t);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, stream_t);
int cudaLaunchKernel_ptsz(const void *, dim3, dim3, void **, size_t, stream_t);
int cudaLaunchHostFunc(stream_t, void (*)(void *), void *);
int cudaDeviceSynchronize(void);
int cudaStreamCreate(stream_t *);
int cudaStreamCreateWithFlags(stream_t *, unsigned);
int cudaStreamDestroy(stream_t);
int cudaStreamSynchronize(stream_t);
int cudaStreamSynchronize_ptsz(stream_t);
int cudaStreamQuery(stream_t);
int cudaStreamWaitEvent(stream_t, void *, unsigned);
int cudaStreamBeginCapture(stream_t, int);
int cudaStreamEndCapture(stream_t, void **);
int cudaGraphInstantiateWithFlags(void **, void *, unsigned long long);
int cudaGraphLaunch(void *, stream_t);
int cudaGraphExecDestroy(void *);
int cudaGraphDestroy(void *);
int cudaEventCreate(void **);
int cudaEventRecord(void *, stream_t);
int cudaEventSynchronize(void *);
int cudaEventQuery(void *);
int cudaEventElapsedTime(float *, void *, void *);
int cudaEventDestroy(void *);
int cudaGetDeviceCount(int *);
int cudaSetDevice(int);
int cudaGetLastError(void);
int cudaMemPoolCreate(void **, const void *);
int cudaMemPoolTrimTo(void *, size_t);
int cudaMemPoolDestroy(void *);
int cudaMallocFromPoolAsync(void **, size_t, void *, stream_t);
int cudaMemGetInfo(size_t *, size_t *);
const char *cudaGetErrorName(int);

#endif

// SPDX-License-Identifier: MIT
// An ordinary CUDA program, built by nvcc and run unmodified on the doubles.
#include <cstdio>
#include <cstdlib>

__global__ void saxpy(int n, float a, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= a;
}
__global__ void reduce(float *x)
{
}

int main()
{
    const size_t bytes = 1 << 20;
    float *device = nullptr, *host = (float *)malloc(bytes);
    cudaStream_t stream;
    for (size_t i = 0; i < bytes / 4; i++)
        host[i] = (float)i;
    cudaMalloc(&device, bytes);
    cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice);
    cudaStreamCreate(&stream);
    for (int i = 0; i < 2; i++) {
        saxpy<<<1024, 256, 0, stream>>>(1 << 18, 2.f, device);
        reduce<<<1, 32, 0, stream>>>(device);
    }
    cudaStreamSynchronize(stream);
    saxpy<<<4, 256>>>(10, 1.f, device);
    cudaDeviceSynchronize();
    host[7] = 0;
    cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost);
    cudaFree(device);
    printf("%s %.0f\n", cudaGetErrorName(cudaGetLastError()), host[7]);
}

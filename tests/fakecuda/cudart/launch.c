/* SPDX-License-Identifier: MIT
 *
 * launch.c - launches, and what nvcc's host stubs call around them.
 */
#include "runtime.h"
#include <string.h>

static int launch(const struct fg_api *row, const void *function, dim3_t grid, dim3_t block, size_t shared_bytes,
                  void *stream_handle)
{
    BEGIN(row);
    struct fg_stream *stream = error ? NULL : fg_stream_of(stream_handle, row->is_per_thread);
    if (!error && !stream)
        error = FG_INVALID_HANDLE;
    if (!error) {
        struct fg_op op = {.kind = FG_KERNEL,
                           .name = fg_kernel_name(&call, function),
                           .grid = {grid.x, grid.y, grid.z},
                           .block = {block.x, block.y, block.z},
                           .shared_bytes = (uint32_t)shared_bytes,
                           .is_async = true};
        uint64_t end_ns;
        error = op.name ? fg_submit(&call, stream, &op, &end_ns) : 98; /* cudaErrorInvalidDeviceFunction */
    }
    return fg_leave(&call, error);
}

int cudaLaunchKernel(const void *function, dim3_t grid, dim3_t block, void **arguments, size_t shared_bytes,
                     void *stream)
{
    (void)arguments;
    return launch(ROW(cudaLaunchKernel), function, grid, block, shared_bytes, stream);
}

int cudaLaunchKernel_ptsz(const void *function, dim3_t grid, dim3_t block, void **arguments, size_t shared_bytes,
                          void *stream)
{
    (void)arguments;
    return launch(ROW(cudaLaunchKernel_ptsz), function, grid, block, shared_bytes, stream);
}

int cudaLaunchCooperativeKernel(const void *function, dim3_t grid, dim3_t block, void **arguments, size_t shared_bytes,
                                void *stream)
{
    (void)arguments;
    return launch(ROW(cudaLaunchCooperativeKernel), function, grid, block, shared_bytes, stream);
}

int cudaLaunchCooperativeKernel_ptsz(const void *function, dim3_t grid, dim3_t block, void **arguments,
                                     size_t shared_bytes, void *stream)
{
    (void)arguments;
    return launch(ROW(cudaLaunchCooperativeKernel_ptsz), function, grid, block, shared_bytes, stream);
}

/* cudaLaunchConfig_t */
struct launch_config {
    dim3_t grid, block;
    size_t shared_bytes;
    void *stream;
    void *attributes;
    unsigned n_attributes;
};

int cudaLaunchKernelExC(const struct launch_config *config, const void *function, void **arguments)
{
    (void)arguments;
    return launch(ROW(cudaLaunchKernelExC), function, config->grid, config->block, config->shared_bytes,
                  config->stream);
}

int cudaLaunchKernelExC_ptsz(const struct launch_config *config, const void *function, void **arguments)
{
    (void)arguments;
    return launch(ROW(cudaLaunchKernelExC_ptsz), function, config->grid, config->block, config->shared_bytes,
                  config->stream);
}

/* ---- nvcc's host stubs ---- */
static __thread struct {
    dim3_t grid, block;
    size_t shared_bytes;
    void *stream;
} pushed[8];
static __thread unsigned n_pushed;

unsigned __cudaPushCallConfiguration(dim3_t grid, dim3_t block, size_t shared_bytes, void *stream)
{
    if (n_pushed == sizeof pushed / sizeof *pushed)
        return 1;
    pushed[n_pushed].grid = grid;
    pushed[n_pushed].block = block;
    pushed[n_pushed].shared_bytes = shared_bytes;
    pushed[n_pushed++].stream = stream;
    return 0;
}

int __cudaPopCallConfiguration(dim3_t *grid, dim3_t *block, size_t *shared_bytes, void **stream)
{
    if (!n_pushed)
        return FG_INVALID_VALUE;
    n_pushed--;
    *grid = pushed[n_pushed].grid;
    *block = pushed[n_pushed].block;
    *shared_bytes = pushed[n_pushed].shared_bytes;
    *stream = pushed[n_pushed].stream;
    return FG_OK;
}

void **__cudaRegisterFatBinary(void *binary)
{
    static void *handles[1024];
    static unsigned n;
    void **handle = &handles[__atomic_fetch_add(&n, 1, __ATOMIC_RELAXED) % 1024];
    *handle = binary;
    return handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle;
}

char __cudaInitModule(void **handle)
{
    (void)handle;
    return 1;
}

void __cudaRegisterFunction(void **handle, const char *host_function, char *device_function, const char *device_name,
                            int thread_limit, void *tid, void *bid, void *block, void *grid, int *warp_size)
{
    (void)device_function, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
    fg_kernel_register(handle, host_function, device_name);
}

void __cudaRegisterVar(void **handle, char *host_variable, char *device_address, const char *device_name, int external,
                       size_t bytes, int constant, int global)
{
    (void)handle, (void)host_variable, (void)device_address, (void)device_name, (void)external, (void)bytes;
    (void)constant, (void)global;
}

void __cudaRegisterManagedVar(void **handle, void **host_variable, char *device_address, const char *device_name,
                              int external, size_t bytes, int constant, int global)
{
    (void)handle, (void)host_variable, (void)device_address, (void)device_name, (void)external, (void)bytes;
    (void)constant, (void)global;
}

#if FAKECUDART_MAJOR >= 13
int __cudaGetKernel(void **kernel, const void *function)
{
    *kernel = (void *)(uintptr_t)function;
    return FG_OK;
}

int __cudaLaunchKernel(void *kernel, dim3_t grid, dim3_t block, void **arguments, size_t shared_bytes, void *stream)
{
    (void)arguments;
    return launch(ROW(__cudaLaunchKernel), kernel, grid, block, shared_bytes, stream);
}

int __cudaLaunchKernel_ptsz(void *kernel, dim3_t grid, dim3_t block, void **arguments, size_t shared_bytes,
                            void *stream)
{
    (void)arguments;
    return launch(ROW(__cudaLaunchKernel_ptsz), kernel, grid, block, shared_bytes, stream);
}
#endif

#if FAKECUDART_MAJOR >= 12
int cudaGetKernel(void **kernel, const void *function)
{
    BEGIN(ROW(cudaGetKernel));
    *kernel = (void *)(uintptr_t)function;
    return fg_leave(&call, error);
}
#endif

int cudaGetFuncBySymbol(void **function, const void *symbol)
{
    BEGIN(ROW(cudaGetFuncBySymbol));
    *function = (void *)(uintptr_t)symbol;
    return fg_leave(&call, error);
}

int cudaFuncSetAttribute(const void *function, int attribute, int value)
{
    (void)function, (void)attribute, (void)value;
    BEGIN(ROW(cudaFuncSetAttribute));
    return fg_leave(&call, error);
}

int cudaFuncGetAttributes(void *attributes, const void *function)
{
    enum { FUNC_ATTRIBUTES_BYTES = 56 };
    (void)function;
    BEGIN(ROW(cudaFuncGetAttributes));
    if (!error)
        memset(attributes, 0, FUNC_ATTRIBUTES_BYTES);
    return fg_leave(&call, error);
}

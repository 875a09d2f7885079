/* SPDX-License-Identifier: MIT
 *
 * driver.c - a small libcuda.so.1 over the same engine, for programs that use the driver API and nothing else. The real
 * runtime cannot run on it: that wants private tables, and gets CUDA_ERROR_NOT_FOUND.
 */
#include "fakegpu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum driver_api {
#define API(name, cbid, suffix) API_##name,
#define TWIN(name, cbid, suffix) API_##name,
#include "driver.def"
#undef API
#undef TWIN
    N_DRIVER_APIS
};
static const struct fg_api apis[] = {
#define API(name, cbid, suffix) {#name, cbid, false, FG_DRIVER_API, suffix},
#define TWIN(name, cbid, suffix) {#name, cbid, true, FG_DRIVER_API, suffix},
#include "driver.def"
#undef API
#undef TWIN
};
enum { NOT_INITIALIZED = 3, NOT_FOUND = 500, VERSION = 13000 };
#define BEGIN(name)                                                                                                    \
    struct fg_call call;                                                                                               \
    int error = fg_enter(&call, &apis[API_##name])

static bool is_initialized;

__attribute__((constructor)) static void load(void)
{
    fg_add_apis(apis, N_DRIVER_APIS);
    fg_set_runtime(VERSION, "libcuda.so.1");
}

int cuInit(unsigned flags)
{
    (void)flags;
    BEGIN(cuInit);
    is_initialized = !error;
    return fg_leave(&call, error);
}

int cuDriverGetVersion(int *version)
{
    BEGIN(cuDriverGetVersion);
    const int chosen = (int)fg_program()->driver_version;
    *version = chosen ? chosen : VERSION;
    return fg_leave(&call, error);
}

/* What every call but the first two gives before cuInit. */
static int ready(int error)
{
    return error ? error : is_initialized ? 0 : NOT_INITIALIZED;
}

int cuDeviceGetCount(int *n)
{
    BEGIN(cuDeviceGetCount);
    error = ready(error);
    if (!error)
        *n = fg_program()->n_devices;
    return fg_leave(&call, error);
}

int cuDeviceGet(int *device, int ordinal)
{
    BEGIN(cuDeviceGet);
    error = ready(error);
    if (!error)
        *device = ordinal;
    return fg_leave(&call, error ? error : ordinal >= fg_program()->n_devices ? FG_INVALID_DEVICE : 0);
}

int cuDeviceGetName(char *name, int length, int device)
{
    BEGIN(cuDeviceGetName);
    error = ready(error);
    if (!error)
        snprintf(name, (size_t)length, "%s", fg_program()->device_names[device]);
    return fg_leave(&call, error);
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    BEGIN(cuDeviceGetAttribute);
    error = ready(error);
    if (!error)
        *value = attribute == 75 ? 9 : attribute == 16 ? 132 : 0;
    return fg_leave(&call, error);
}

static int make_current(void **context, int device)
{
    const int error = fg_set_device(device);
    if (!error)
        *context = (void *)(intptr_t)fg_context_id(fg_device());
    return error;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    BEGIN(cuDevicePrimaryCtxRetain);
    error = ready(error);
    return fg_leave(&call, error ? error : make_current(context, device));
}

int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
    (void)flags;
    BEGIN(cuCtxCreate_v2);
    error = ready(error);
    return fg_leave(&call, error ? error : make_current(context, device));
}

int cuCtxSetCurrent(void *context)
{
    BEGIN(cuCtxSetCurrent);
    error = ready(error);
    return fg_leave(&call, error ? error : context ? fg_set_device((int)(intptr_t)context - 1) : 0);
}

int cuCtxGetCurrent(void **context)
{
    BEGIN(cuCtxGetCurrent);
    error = ready(error);
    if (!error)
        *context = (void *)(intptr_t)fg_context_id(fg_device());
    return fg_leave(&call, error);
}

int cuCtxSynchronize(void)
{
    BEGIN(cuCtxSynchronize);
    error = ready(error);
    if (!error)
        fg_synchronize(&call, FG_WAIT_CONTEXT, -1, -1, fg_device_end(fg_device()));
    return fg_leave(&call, error);
}

/* ---- modules: any function that is asked for exists ---- */
static int load_module(struct fg_call *call, int error, void **module)
{
    if (!error) {
        *module = malloc(1);
        fg_compile(call);
    }
    return error;
}

int cuModuleLoadData(void **module, const void *image)
{
    (void)image;
    BEGIN(cuModuleLoadData);
    return fg_leave(&call, load_module(&call, ready(error), module));
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned n, void *options, void **values)
{
    (void)image, (void)n, (void)options, (void)values;
    BEGIN(cuModuleLoadDataEx);
    return fg_leave(&call, load_module(&call, ready(error), module));
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    BEGIN(cuModuleGetFunction);
    error = ready(error);
    if (!error) {
        *function = malloc(1); /* its address stands for the kernel */
        fg_kernel_register(module, *function, name);
    }
    return fg_leave(&call, error);
}

static int launch(struct fg_call *call, int error, void *function, const unsigned grid[3], const unsigned block[3],
                  unsigned shared_bytes, void *stream_handle)
{
    struct fg_stream *stream = error ? NULL : fg_stream_of(stream_handle, call->api->is_per_thread);
    uint64_t end_ns;
    if (error || !stream)
        return error ? error : FG_INVALID_HANDLE;
    struct fg_op op = {.kind = FG_KERNEL,
                       .name = fg_kernel_name(call, function),
                       .grid = {grid[0], grid[1], grid[2]},
                       .block = {block[0], block[1], block[2]},
                       .shared_bytes = shared_bytes,
                       .is_async = true};
    return op.name ? fg_submit(call, stream, &op, &end_ns) : FG_INVALID_HANDLE;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared_bytes, void *stream, void **arguments, void **extra)
{
    (void)arguments, (void)extra;
    BEGIN(cuLaunchKernel);
    error =
        launch(&call, ready(error), function, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared_bytes, stream);
    return fg_leave(&call, error);
}

int cuLaunchKernel_ptsz(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared_bytes, void *stream, void **arguments, void **extra)
{
    (void)arguments, (void)extra;
    BEGIN(cuLaunchKernel_ptsz);
    error =
        launch(&call, ready(error), function, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared_bytes, stream);
    return fg_leave(&call, error);
}

/* CUlaunchConfig */
struct launch_config {
    unsigned grid[3], block[3], shared_bytes;
    void *stream;
    void *attributes;
    unsigned n_attributes;
};

int cuLaunchKernelEx(const struct launch_config *config, void *function, void **arguments, void **extra)
{
    (void)arguments, (void)extra;
    BEGIN(cuLaunchKernelEx);
    error = launch(&call, ready(error), function, config->grid, config->block, config->shared_bytes, config->stream);
    return fg_leave(&call, error);
}

int cuLaunchKernelEx_ptsz(const struct launch_config *config, void *function, void **arguments, void **extra)
{
    (void)arguments, (void)extra;
    BEGIN(cuLaunchKernelEx_ptsz);
    error = launch(&call, ready(error), function, config->grid, config->block, config->shared_bytes, config->stream);
    return fg_leave(&call, error);
}

/* ---- memory and streams ---- */
int cuMemAlloc_v2(void **address, size_t bytes)
{
    BEGIN(cuMemAlloc_v2);
    error = ready(error);
    return fg_leave(&call, error ? error : fg_allocate(&call, address, bytes, FG_DEVICE, NULL, NULL));
}

int cuMemFree_v2(void *address)
{
    BEGIN(cuMemFree_v2);
    error = ready(error);
    return fg_leave(&call, error ? error : fg_release(&call, address, NULL));
}

static int copy(struct fg_call *call, int error, void *target, const void *source, size_t bytes, int kind, void *stream,
                bool is_async)
{
    struct fg_op op;
    uint64_t end_ns = 0;
    if (error)
        return error;
    fg_describe_copy(&op, target, source, bytes, kind);
    op.is_async = is_async;
    error = fg_submit(call, fg_stream_of(stream, false), &op, &end_ns);
    if (!error && (!is_async || op.source_kind == FG_PAGEABLE || op.target_kind == FG_PAGEABLE))
        fg_wait_until(end_ns);
    return error;
}

int cuMemcpyHtoD_v2(void *target, const void *source, size_t bytes)
{
    BEGIN(cuMemcpyHtoD_v2);
    return fg_leave(&call, copy(&call, ready(error), target, source, bytes, FG_HTOD, NULL, false));
}

int cuMemcpyDtoH_v2(void *target, const void *source, size_t bytes)
{
    BEGIN(cuMemcpyDtoH_v2);
    return fg_leave(&call, copy(&call, ready(error), target, source, bytes, FG_DTOH, NULL, false));
}

int cuMemcpyHtoDAsync_v2(void *target, const void *source, size_t bytes, void *stream)
{
    BEGIN(cuMemcpyHtoDAsync_v2);
    return fg_leave(&call, copy(&call, ready(error), target, source, bytes, FG_HTOD, stream, true));
}

int cuMemcpyDtoHAsync_v2(void *target, const void *source, size_t bytes, void *stream)
{
    BEGIN(cuMemcpyDtoHAsync_v2);
    return fg_leave(&call, copy(&call, ready(error), target, source, bytes, FG_DTOH, stream, true));
}

int cuMemsetD8_v2(void *target, unsigned char value, size_t bytes)
{
    BEGIN(cuMemsetD8_v2);
    error = ready(error);
    if (!error) {
        struct fg_op op = {.kind = FG_SET, .bytes = bytes, .value = value, .target = target, .target_kind = FG_DEVICE};
        uint64_t end_ns;
        error = fg_submit(&call, fg_stream_of(NULL, false), &op, &end_ns);
    }
    return fg_leave(&call, error);
}

int cuStreamCreate(void **stream, unsigned flags)
{
    BEGIN(cuStreamCreate);
    error = ready(error);
    if (!error)
        *stream = fg_stream_create(0, flags & 1);
    return fg_leave(&call, error);
}

int cuStreamDestroy_v2(void *stream)
{
    BEGIN(cuStreamDestroy_v2);
    error = ready(error);
    return fg_leave(&call, error ? error : fg_stream_destroy(stream));
}

int cuStreamSynchronize(void *handle)
{
    BEGIN(cuStreamSynchronize);
    error = ready(error);
    struct fg_stream *stream = error ? NULL : fg_stream_of(handle, false);
    if (!error && !stream)
        error = FG_INVALID_HANDLE;
    if (!error)
        fg_synchronize(&call, FG_WAIT_STREAM, stream->id, -1, fg_stream_end(stream));
    return fg_leave(&call, error);
}

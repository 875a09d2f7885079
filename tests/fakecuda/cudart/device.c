/* SPDX-License-Identifier: MIT
 *
 * device.c - devices, versions, errors, and the table of all functions.
 */
#include "runtime.h"
#include <stdio.h>
#include <string.h>

const struct fg_api fakecudart_apis[] = {
#define API(name, cbid, suffix) {#name, cbid, false, FG_RUNTIME_API, suffix},
#define TWIN(name, cbid, suffix) {#name, cbid, true, FG_RUNTIME_API, suffix},
#include "runtime.def"
#undef API
#undef TWIN
};

__attribute__((constructor)) static void load(void)
{
    char soname[32];
    snprintf(soname, sizeof soname, FAKECUDART_MAJOR == 11 ? "libcudart.so.%d.0" : "libcudart.so.%d", FAKECUDART_MAJOR);
    fg_add_apis(fakecudart_apis, N_RUNTIME_APIS);
    fg_set_runtime(FAKECUDART_VERSION, soname);
}

int cudaGetDeviceCount(int *n)
{
    BEGIN(ROW(cudaGetDeviceCount));
    *n = error ? 0 : fg_program()->n_devices;
    return fg_leave(&call, error);
}

int cudaGetDevice(int *device)
{
    BEGIN(ROW(cudaGetDevice));
    if (!error)
        *device = fg_device();
    return fg_leave(&call, error);
}

int cudaSetDevice(int device)
{
    BEGIN(ROW(cudaSetDevice));
    if (!error)
        error = fg_set_device(device);
    return fg_leave(&call, error);
}

int cudaDeviceSynchronize(void)
{
    BEGIN(ROW(cudaDeviceSynchronize));
    if (!error)
        fg_synchronize(&call, FG_WAIT_CONTEXT, -1, -1, fg_device_end(fg_device()));
    return fg_leave(&call, error);
}

int cudaDeviceReset(void)
{
    BEGIN(ROW(cudaDeviceReset));
    if (!error)
        fg_synchronize(&call, FG_WAIT_CONTEXT, -1, -1, fg_device_end(fg_device()));
    return fg_leave(&call, error);
}

/* A call that succeeds and does nothing. */
#define DOES_NOTHING(name, ...)                                                                                        \
    int name(__VA_ARGS__);                                                                                             \
    int name(__VA_ARGS__)                                                                                              \
    {                                                                                                                  \
        BEGIN(ROW(name));                                                                                              \
        return fg_leave(&call, error);                                                                                 \
    }
DOES_NOTHING(cudaProfilerStart, void)
DOES_NOTHING(cudaProfilerStop, void)

int cudaSetDeviceFlags(unsigned flags)
{
    (void)flags;
    BEGIN(ROW(cudaSetDeviceFlags));
    return fg_leave(&call, error);
}

int cudaDriverGetVersion(int *version)
{
    BEGIN(ROW(cudaDriverGetVersion));
    const int chosen = (int)fg_program()->driver_version;
    *version = error == FG_INSUFFICIENT_DRIVER ? 0 : chosen ? chosen : FAKECUDART_VERSION;
    return fg_leave(&call, error == FG_INSUFFICIENT_DRIVER ? FG_OK : error);
}

int cudaRuntimeGetVersion(int *version)
{
    *version = FAKECUDART_VERSION;
    return FG_OK;
}

/* The head of cudaDeviceProp that all versions share. */
struct properties {
    char name[256];
    char uuid[16], luid[8];
    unsigned luid_mask;
    size_t memory_bytes, shared_bytes_per_block;
    int registers_per_block, warp_size;
    size_t pitch;
    int threads_per_block, threads_dim[3], grid_size[3];
};

static int properties(const struct fg_api *row, struct properties *out, int device)
{
    BEGIN(row);
    if (!error && (device < 0 || device >= fg_program()->n_devices))
        error = FG_INVALID_DEVICE;
    if (!error) {
        memset(out, 0, sizeof *out);
        snprintf(out->name, sizeof out->name, "%s", fg_program()->device_names[device]);
        out->memory_bytes = (size_t)fg_program()->memory_bytes;
        out->shared_bytes_per_block = 49152;
        out->registers_per_block = 65536;
        out->warp_size = 32;
        out->threads_per_block = 1024;
    }
    return fg_leave(&call, error);
}

int cudaGetDeviceProperties(void *out, int device)
{
    return properties(ROW(cudaGetDeviceProperties), out, device);
}

int cudaGetDeviceProperties_v2(void *out, int device)
{
    return properties(ROW(cudaGetDeviceProperties), out, device);
}

int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    static const struct {
        int attribute, value;
    } rows[] = {{1, 1024}, {10, 32}, {16, 132}, {39, 2048}, {75, 9}, {76, 0}, {115, 1}};
    BEGIN(ROW(cudaDeviceGetAttribute));
    if (!error && (device < 0 || device >= fg_program()->n_devices))
        error = FG_INVALID_DEVICE;
    if (!error)
        *value = 0;
    for (size_t i = 0; !error && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].attribute == attribute)
            *value = rows[i].value;
    return fg_leave(&call, error);
}

int cudaDeviceGetPCIBusId(char *text, int length, int device)
{
    BEGIN(ROW(cudaDeviceGetPCIBusId));
    if (!error)
        snprintf(text, (size_t)length, "0000:%02X:00.0", 0x17 + device);
    return fg_leave(&call, error);
}

int cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    BEGIN(ROW(cudaDeviceCanAccessPeer));
    *can = device != peer;
    return fg_leave(&call, error);
}

int cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)peer, (void)flags;
    BEGIN(ROW(cudaDeviceEnablePeerAccess));
    return fg_leave(&call, error);
}

int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    BEGIN(ROW(cudaDeviceGetStreamPriorityRange));
    *least = 0;
    *greatest = -5;
    return fg_leave(&call, error);
}

int cudaGetLastError(void)
{
    BEGIN(ROW(cudaGetLastError));
    fg_leave(&call, error);
    return fg_last_error(true);
}

int cudaPeekAtLastError(void)
{
    BEGIN(ROW(cudaPeekAtLastError));
    fg_leave(&call, error);
    return fg_last_error(false);
}

static const struct {
    int code;
    const char *name, *text;
} errors[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {3, "cudaErrorInitializationError", "initialization error"},
    {4, "cudaErrorCudartUnloading", "driver shutting down"},
    {21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {35, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {600, "cudaErrorNotReady", "device not ready"},
    {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {801, "cudaErrorNotSupported", "operation not supported"},
    {900, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
};

const char *cudaGetErrorName(int code)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code)
            return errors[i].name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(int code)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code)
            return errors[i].text;
    return "unrecognized error code";
}

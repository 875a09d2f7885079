/* SPDX-License-Identifier: MIT
 *
 * driver_app.c - a program of the driver API, as Triton's launcher is one: it opens libcuda itself and launches kernels
 * from a module. `driver_app [ROUNDS]`: three kernels and a wait in each.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static int (*function(const char *name))()
{
    int (*get)(const char *, void **, int, unsigned long, int *) =
        (int (*)(const char *, void **, int, unsigned long, int *))dlsym(library, "cuGetProcAddress_v2");
    void *found = NULL;
    if (!get || get(name, &found, 13000, 0, NULL))
        exit(3);
    return (int (*)())found;
}

static void check(int result, const char *what)
{
    if (!result)
        return;
    printf("%s %d\n", what, result);
    exit(1);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    void *context, *module, *kernel, *memory, *stream;
    char host[64] = "moved";
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        puts("no driver");
        return 2;
    }
    if (function("cuMemAlloc")(&memory, (size_t)64) != 3)
        return 4; /* nothing works before cuInit */
    check(function("cuInit")(0u), "cuInit");
    check(function("cuDevicePrimaryCtxRetain")(&context, 0), "context");
    check(function("cuCtxSetCurrent")(context), "current");
    check(function("cuModuleLoadData")(&module, "ptx"), "module");
    check(function("cuModuleGetFunction")(&kernel, module, "triton_poi_fused_add_0"), "function");
    check(function("cuMemAlloc")(&memory, (size_t)64), "alloc");
    check(function("cuStreamCreate")(&stream, 1u), "stream");
    check(function("cuMemcpyHtoD")(memory, host, (size_t)64), "copy");
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < 3; k++)
            check(function("cuLaunchKernel")(kernel, 4u, 1u, 1u, 128u, 1u, 1u, 0u, stream, NULL, NULL), "launch");
        check(function("cuStreamSynchronize")(stream), "wait");
    }
    memset(host, 0, sizeof host);
    check(function("cuMemcpyDtoH")(host, memory, (size_t)64), "copy back");
    check(function("cuMemFree")(memory), "free");
    puts(host);
    return 0;
}

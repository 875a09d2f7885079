/* SPDX-License-Identifier: MIT
 *
 * kernel.c - which host function stands for which kernel, and what loading it costs the first time. Kernels are never
 * forgotten: records keep pointers to their names.
 */
#include "fakegpu.h"
#include "activity.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS_MAX = 16384, MODULES_MAX = 1024 };

struct kernel {
    const void *host_function, *module;
    const char *name;
    bool is_loaded;
};

static struct kernel kernels[KERNELS_MAX];
static const void *loaded_modules[MODULES_MAX];
static int n_kernels, n_loaded_modules;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct kernel *slot_of(const void *host_function)
{
    size_t at = ((uintptr_t)host_function >> 3) * 0x9E3779B97F4A7C15u >> 50;
    while (kernels[at % KERNELS_MAX].host_function && kernels[at % KERNELS_MAX].host_function != host_function)
        at++;
    return &kernels[at % KERNELS_MAX];
}

void fg_kernel_register(const void *module, const void *host_function, const char *name)
{
    pthread_mutex_lock(&lock);
    struct kernel *kernel = slot_of(host_function);
    if (!kernel->host_function && n_kernels < KERNELS_MAX - 1) {
        *kernel = (struct kernel){host_function, module, strdup(name), false};
        n_kernels++;
    }
    pthread_mutex_unlock(&lock);
}

static bool is_first_of_module(const void *module)
{
    for (int i = 0; i < n_loaded_modules; i++)
        if (loaded_modules[i] == module)
            return false;
    if (n_loaded_modules < MODULES_MAX)
        loaded_modules[n_loaded_modules++] = module;
    return true;
}

static void pay(struct fg_call *call, enum fg_overhead kind, double ns)
{
    const uint64_t start_ns = fg_now_ns(), start = fg_stamp();
    fg_busy(ns);
    fg_record_overhead(call, kind, start_ns, start);
}

void fg_compile(struct fg_call *call)
{
    pay(call, FG_OVERHEAD_COMPILER, fg_program()->jit_ns);
}

static const char *hostile_name(void)
{
    static char name[70001];
    if (!name[0]) {
        static const char head[] = "k\"]}\\\n\t\x01\x7f</script>\xff\xfe\xc3(%s%n;DROP";
        memset(name, 'x', sizeof name - 1);
        memcpy(name, head, sizeof head - 1);
    }
    return name;
}

const char *fg_kernel_name(struct fg_call *call, const void *host_function)
{
    pthread_mutex_lock(&lock);
    struct kernel *kernel = slot_of(host_function);
    if (!kernel->host_function) {
        pthread_mutex_unlock(&lock);
        return NULL;
    }
    const bool is_first = !kernel->is_loaded, is_module_first = is_first && is_first_of_module(kernel->module);
    kernel->is_loaded = true;
    const char *name = kernel->name;
    pthread_mutex_unlock(&lock);
    if (is_module_first)
        pay(call, FG_OVERHEAD_MODULE_LOADING, fg_program()->module_load_ns);
    if (is_first)
        pay(call, FG_OVERHEAD_LAZY_FUNCTION_LOADING, fg_program()->lazy_load_ns);
    return fg_fault_due(FG_FAULT_hostile_name) ? hostile_name() : name;
}

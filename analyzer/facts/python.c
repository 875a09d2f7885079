/* SPDX-License-Identifier: MIT
 *
 * python.c - Owns: where CPython's state lies in each module. Threads: any; a module is looked into under a lock.
 * Never: mistakes a lock of an extension for the GIL; opens a file twice.
 */
#include "python.h"

#include <pthread.h>
#include <string.h>

#include "symbols/elf_image.h"
#include "code_kind.h"

static bool is_interpreter(const char *path)
{
    return pt_code_of_file(path) == PT_CODE_PYTHON;
}

/* Both threads of the pass may ask at once. */
static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;

/* Without the export, the file name decides: a program with CPython linked in exports it. */
static void look_for_python(struct pt_module *module)
{
    struct pt_elf_image image = {0};
    const char *path = module->path ? module->path : "";
    module->python_known = true;
    const bool is_here = pt_elf_image_open(
        &image, path, module->build_id, module->build_id_bytes <= sizeof module->build_id ? module->build_id_bytes : 0);
    if (is_here && pt_elf_image_find_variable(&image, "_PyRuntime", &module->python_start, &module->python_end)) {
        module->python_start += module->load_bias;
        module->python_end += module->load_bias;
    } else if (is_interpreter(path)) {
        module->python_start = module->start;
        module->python_end = module->end;
    }
    if (is_here)
        pt_elf_image_close(&image);
}

static void know_python(struct pt_module *module)
{
    pthread_mutex_lock(&looking);
    if (!module->python_known)
        look_for_python(module);
    pthread_mutex_unlock(&looking);
}

static bool is_in_python(const struct pt_process *process, pt_u64 address, pt_i64 at_ns)
{
    const struct pt_module *found = pt_process_module(process, address, at_ns);
    if (!found)
        return false;
    know_python((struct pt_module *)(uintptr_t)found); /* a cache: what is shown of the session stays as it is */
    return address >= found->python_start && address < found->python_end;
}

bool pt_process_is_gil(const struct pt_process *process, pt_u64 address, pt_i64 at_ns)
{
    enum { N_CACHED = sizeof process->lock_cache / sizeof *process->lock_cache };
    pt_u64 *seen = &((struct pt_process *)(uintptr_t)process)->lock_cache[(address >> 3) % N_CACHED];
    if (!address || address & 1)
        return false;
    pt_u64 known = __atomic_load_n(seen, __ATOMIC_RELAXED); /* two threads may ask */
    if ((known & ~(pt_u64)1) != address) {
        known = address | (is_in_python(process, address, at_ns) ? 1 : 0);
        __atomic_store_n(seen, known, __ATOMIC_RELAXED);
    }
    return known & 1;
}

static bool has_python(const struct pt_process *process)
{
    if (is_interpreter(process->exe))
        return true;
    for (pt_u32 i = 0; i < process->n_modules; i++) {
        struct pt_module *module = &process->modules[i];
        if (is_interpreter(module->path))
            return true;
        if (!module->path || !process->exe || strcmp(module->path, process->exe) != 0)
            continue;
        know_python(module); /* the program may have CPython inside */
        if (module->python_start < module->python_end)
            return true;
    }
    return false;
}

/* Each of a native program's reads asks, and it may have hundreds of modules. */
bool pt_process_has_python(const struct pt_process *process)
{
    return pt_process_answer(process, PT_QUESTION_HAS_PYTHON, has_python);
}

bool pt_process_knows_gil(const struct pt_process *process)
{
    if (!is_interpreter(process->exe))
        return true;
    for (; process; process = process->forked_from)
        for (pt_u32 i = 0; i < process->n_modules; i++) {
            const struct pt_module *module = &process->modules[i];
            if (module->python_start < module->python_end || is_interpreter(module->path))
                return true;
        }
    return false;
}

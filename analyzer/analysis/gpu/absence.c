/* SPDX-License-Identifier: MIT
 *
 * Why there is no GPU timeline of a program that holds GPU code, or looks for the CUDA driver by itself: with a runtime
 * that is linked in, or none, nothing of CUDA is seen before the driver comes up, and where there is no driver that
 * never happens.
 *
 * Threads: one. State: none. Never: says anything of a program that does neither itself, whatever its libraries do:
 * those that decode video look for a GPU in every program.
 */
#include <string.h>

#include "symbols/elf_image.h"
#include "util/map.h"
#include "gpu.h"

/* With the dot: this program must not find itself. */
static const char driver[] = "libcuda.so.";

/* What makes it one: what nvcc puts GPU code into, or the name that dlopen is given. NULL = nothing. */
static const char *why_gpu_program(const char *exe)
{
    struct pt_elf_image image = {0};
    const char *why = NULL;
    if (!pt_elf_image_open(&image, exe, NULL, PT_ELF_ANY_BUILD))
        return NULL;
    if (pt_elf_image_has_section(&image, ".nv_fatbin") || pt_elf_image_has_section(&image, ".nvFatBinSegment"))
        why = "holds GPU code";
    else if (pt_elf_image_names_library(&image, driver))
        why = "asks for libcuda.so by itself";
    pt_elf_image_close(&image);
    return why;
}

static bool has_driver(const struct pt_process *process)
{
    for (pt_u32 i = 0; i < process->n_modules; i++)
        if (process->modules[i].path && !strncmp(pt_base_name(process->modules[i].path), driver, sizeof driver - 2))
            return true;
    return false;
}

const char *gpu_why_none(struct gpu *gpu, pt_u32 stage)
{
    const struct pt_session *session = gpu->profile->session;
    const struct pt_process *found = NULL;
    const char *why = NULL;
    struct pt_map known = {0}; /* executables that were looked at */
    for (pt_u32 i = 0; i < session->n_processes && !found; i++) {
        const struct pt_process *process = session->processes[i];
        if (gpu_stage_of(gpu, process) != stage || !process->exe)
            continue;
        pt_u64 *slot = pt_map_at(&known, (uintptr_t)pt_intern_text(&gpu->texts, process->exe));
        if (!*slot && (why = why_gpu_program(process->exe)))
            found = process;
        *slot = 1;
    }
    pt_map_fini(&known);
    if (!found)
        return NULL;
    const char *name = pt_base_name(found->exe);
    return pt_metrics_format(&gpu->profile->metrics,
                             has_driver(found)
                                 ? "%s %s and loaded the CUDA driver, but that did not load what "
                                   "CUDA_INJECTION64_PATH names: nothing is known of its GPU work"
                                 : "%s %s, but never loaded the CUDA driver (libcuda.so.1): there is none "
                                   "here, or the program did not use CUDA",
                             name, why);
}

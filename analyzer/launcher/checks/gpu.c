/* SPDX-License-Identifier: MIT
 *
 * checks/gpu.c - Owns: the check of what of GPUs will be recorded. Threads: main only. Never: asks the driver in our
 * own process.
 */
#include "gpu.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/environment.h"
#include "launcher/target.h"
#include "options/option_values.h"
#include "sampler/gpu/reader.h"
#include "util/text/path.h"
#include "cupti_search.h"

#define CALLS_ONLY "of CUDA only calls of the dynamic runtime are recorded, not what the GPU does"

/* As the sampler does. */
static bool name_gpus(char *ret_names, size_t size)
{
    enum { LIMIT_MS = 5000 };
    struct pt_gpu_reader reader;
    struct pt_gpu_reading reading;
    char ignored[160];
    const bool is_read = pt_gpu_reader_start(&reader, ignored, sizeof ignored) == 0 &&
                         pt_gpu_reader_take(&reader, LIMIT_MS, &reading) == 1 && reading.n;
    pt_gpu_reader_stop(&reader);
    if (is_read && reading.n > 1)
        snprintf(ret_names, size, "%zu GPUs, %.90s", reading.n, reading.names[0]);
    else
        snprintf(ret_names, size, "%.90s", is_read ? reading.names[0] : "/dev/nvidiactl");
    return is_read || access("/dev/nvidiactl", F_OK) == 0;
}

static bool inspect_python(const char *command, struct pt_target *ret_target)
{
    struct pt_error ignored = {0};
    if (!command || pt_target_inspect(command, NULL, ret_target, &ignored) < 0)
        return false;
    return !strncmp(pt_base_name(ret_target->binary), "python", strlen("python"));
}

/* A script of a shell starts what PATH has. */
static const char *python_of(const char *command, struct pt_target *target)
{
    return inspect_python(command, target) || inspect_python("python3", target) ? target->binary : NULL;
}

static void look_for_cupti(struct pt_doctor_check *check, const char *gpus, const char *command)
{
    char path[PATH_MAX];
    struct pt_target target;
    const char *python = python_of(command, &target);
    const int found = pt_cupti_search(python, path, sizeof path);
    if (found == 0) {
        pt_doctor_detail(check, PT_DOCTOR_OK, "%s; CUPTI is %.400s", gpus, path);
    } else if (found == -1) {
        pt_doctor_detail(check, PT_DOCTOR_WARN,
                         "%s, but no libcupti: not in the packages of %.200s, nor by its name, nor below CUDA_HOME. "
                         "Unless the command brings one, " CALLS_ONLY,
                         gpus, python ? python : "Python (there is none)");
        snprintf(check->remedy, sizeof check->remedy,
                 "install the CUDA toolkit or NVIDIA's wheel of CUPTI, or set CUDA_HOME to the toolkit's folder");
    } else {
        pt_doctor_detail(check, PT_DOCTOR_WARN, "%s; the search for libcupti did not end: the driver or Python hangs",
                         gpus);
    }
}

void pt_doctor_gpu(struct pt_doctor_checks *checks, const char *command)
{
    char gpus[128];
    if (!name_gpus(gpus, sizeof gpus))
        return;
    struct pt_doctor_check *check = pt_doctor_add(checks, "GPU");
    const char *other = getenv("CUDA_INJECTION64_PATH"), *cupti = getenv("PROFTRACE_CUPTI");
    if (pt_option_is_off("PROFTRACE_CUDA")) {
        pt_doctor_detail(check, PT_DOCTOR_OK, "%s; PROFTRACE_CUDA is off: nothing of it is recorded", gpus);
    } else if (cupti && !strcmp(cupti, "off")) {
        pt_doctor_detail(check, PT_DOCTOR_OK, "%s; PROFTRACE_CUPTI is off: " CALLS_ONLY, gpus);
    } else if (other && *other && !pt_environment_is_ours(other, strlen(other))) {
        pt_doctor_detail(check, PT_DOCTOR_WARN, "%s; CUDA_INJECTION64_PATH names another tool, %.200s: " CALLS_ONLY,
                         gpus, other);
        snprintf(check->remedy, sizeof check->remedy, "unset CUDA_INJECTION64_PATH");
    } else {
        look_for_cupti(check, gpus, command);
    }
}

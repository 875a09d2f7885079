/* SPDX-License-Identifier: MIT
 *
 * checks/machine.c - Owns: the questions about kernel and libc. Threads: main only. Never: needs a privilege.
 */
#include "machine.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cpu_profile/cpu_profile.h"
#include "util/small_file.h"

#define GLIBC_MINOR_FULL 35 /* native stacks need _dl_find_object, which is there since 2.35 */

static void check_clock(struct pt_doctor_checks *checks)
{
    struct pt_doctor_check *check = pt_doctor_add(checks, "clock");
    char source[64];
    if (!pt_small_file_word(source, sizeof source,
                            "/sys/devices/system/clocksource/clocksource0/current_clocksource")) {
        pt_doctor_detail(check, PT_DOCTOR_WARN, "the kernel's clock source is unknown");
    } else if (!strcmp(source, "tsc")) {
        pt_doctor_detail(check, PT_DOCTOR_OK, "the kernel uses the TSC");
    } else {
        pt_doctor_detail(check, PT_DOCTOR_WARN, "the kernel uses %s, not the TSC: each timestamp costs more", source);
        snprintf(check->remedy, sizeof check->remedy, "none needed; overhead is higher on this machine");
    }
}

static void check_libc(struct pt_doctor_checks *checks)
{
    struct pt_doctor_check *check = pt_doctor_add(checks, "glibc");
    const char *version = gnu_get_libc_version();
    int major = 0, minor = 0;
    if (sscanf(version, "%d.%d", &major, &minor) == 2 && (major > 2 || minor >= GLIBC_MINOR_FULL))
        pt_doctor_detail(check, PT_DOCTOR_OK, "%s", version);
    else
        pt_doctor_detail(check, PT_DOCTOR_WARN, "%s: older than 2.%d, so there are no native call stacks", version,
                         GLIBC_MINOR_FULL);
}

static void check_proc(struct pt_doctor_checks *checks)
{
    struct pt_doctor_check *check = pt_doctor_add(checks, "/proc");
    char line[64];
    if (pt_small_file_word(line, sizeof line, "/proc/self/stat")) {
        pt_doctor_detail(check, PT_DOCTOR_OK, "mounted");
        return;
    }
    pt_doctor_detail(check, PT_DOCTOR_FAIL, "not mounted: processes cannot be watched, descriptors not named");
    snprintf(check->remedy, sizeof check->remedy, "mount -t proc proc /proc");
}

/* Asked for, not deduced: a container's filter refuses what the setting of its host allows. */
static void check_perf(struct pt_doctor_checks *checks)
{
    struct pt_doctor_check *check = pt_doctor_add(checks, "perf events");
    struct pt_error err = {0};
    const char *remedy = "";
    char level[32];
    if (!pt_small_file_word(level, sizeof level, "/proc/sys/kernel/perf_event_paranoid")) {
        pt_doctor_detail(check, PT_DOCTOR_WARN, "this kernel has none: no CPU profile from outside");
    } else if (pt_cpu_profile_try(&remedy, &err) == 0) {
        pt_doctor_detail(check, PT_DOCTOR_OK, "perf_event_paranoid is %s", level);
    } else {
        pt_doctor_detail(check, PT_DOCTOR_WARN, "%s (perf_event_paranoid is %s): no CPU profile from outside", err.text,
                         level);
        snprintf(check->remedy, sizeof check->remedy, "%s", remedy);
    }
}

/* Our own memory is no secret to us: what refuses this refuses all. */
static bool may_read_memory(void)
{
    char from = 0, to;
    struct iovec here = {&to, sizeof to}, there = {&from, sizeof from};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)sizeof to;
}

static void check_ptrace(struct pt_doctor_checks *checks)
{
    struct pt_doctor_check *check = pt_doctor_add(checks, "ptrace");
    char scope[32];
    if (!may_read_memory()) {
        pt_doctor_detail(check, PT_DOCTOR_WARN, "process_vm_readv: %s: stacks of Python cannot be read from outside",
                         strerror(errno));
        snprintf(check->remedy, sizeof check->remedy, "in a container: --cap-add SYS_PTRACE");
    } else if (!pt_small_file_word(scope, sizeof scope, "/proc/sys/kernel/yama/ptrace_scope")) {
        pt_doctor_detail(check, PT_DOCTOR_OK, "not restricted");
    } else if (atoi(scope) <= 1 || (atoi(scope) == 2 && geteuid() == 0)) {
        pt_doctor_detail(check, PT_DOCTOR_OK, "ptrace_scope is %s: our own descendants can be read", scope);
    } else {
        pt_doctor_detail(check, PT_DOCTOR_WARN, "ptrace_scope is %s: stacks of Python cannot be read from outside",
                         scope);
        snprintf(check->remedy, sizeof check->remedy, "%s",
                 atoi(scope) == 3 ? "nobody can, until the next boot: set it below 3 in /etc/sysctl.d, and reboot"
                                  : "as root: sysctl kernel.yama.ptrace_scope=1");
    }
}

void pt_doctor_machine(struct pt_doctor_checks *checks)
{
    check_clock(checks);
    check_libc(checks);
    check_proc(checks);
    check_perf(checks);
    check_ptrace(checks);
}

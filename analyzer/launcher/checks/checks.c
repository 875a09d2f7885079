/* SPDX-License-Identifier: MIT
 *
 * checks/checks.c - Owns: the checks of directory, environment and command. Threads: main only. Never: leaves a file.
 */
#include "checks.h"

#include <linux/magic.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "proftrace/limits.h"
#include "launcher/session_dir.h"
#include "launcher/target.h"
#include "options/option_values.h"
#include "util/auto.h"
#include "util/runs_root.h"
#include "util/text/fmt.h"

#define ROOM_MIN_BYTES (1ull << 30)

/* ---- place ---- */
static void nearest_existing(const char *path, char *existing, size_t size)
{
    snprintf(existing, size, "%s", path);
    while (access(existing, F_OK) < 0) {
        char *slash = strrchr(existing, '/');
        if (!slash) {
            snprintf(existing, size, ".");
            return;
        }
        slash[slash == existing] = 0;
    }
}

static void check_room(struct pt_doctor_checks *checks, int directory_fd)
{
    struct pt_doctor_check *check = pt_doctor_add(checks, "free space");
    const pt_u64 bytes = pt_free_bytes(directory_fd);
    if (bytes >= ROOM_MIN_BYTES) {
        pt_doctor_detail(check, PT_DOCTOR_OK, "%s", pt_fmt_bytes(bytes).text);
        return;
    }
    pt_doctor_detail(check, PT_DOCTOR_WARN, "%s; a run takes a tenth of it, then overwrites its oldest events",
                     pt_fmt_bytes(bytes).text);
    snprintf(check->remedy, sizeof check->remedy, "make room, or set PROFTRACE_DIR to a larger file system");
}

/* Where each page that is written again needs new room, a page of a trace that cannot have it ends the program that
 * writes to it (SIGBUS), though the file was given its room before. */
static void check_copy_on_write(struct pt_doctor_checks *checks, int directory_fd)
{
    static const struct {
        long type;
        const char *name;
    } systems[] = {{BTRFS_SUPER_MAGIC, "btrfs"}, {NILFS_SUPER_MAGIC, "nilfs2"}, {0xca451a4e, "bcachefs"}};
    struct statfs of;
    for (size_t i = 0; fstatfs(directory_fd, &of) == 0 && i < sizeof systems / sizeof *systems; i++) {
        if (of.f_type != systems[i].type)
            continue;
        struct pt_doctor_check *check = pt_doctor_add(checks, "file system");
        pt_doctor_detail(check, PT_DOCTOR_WARN, "%s; if it becomes full, it ends programs that are traced (SIGBUS)",
                         systems[i].name);
        snprintf(check->remedy, sizeof check->remedy,
                 "keep room on it, or set PROFTRACE_DIR to ext4, XFS or a tmpfs (/dev/shm)");
    }
}

/* By trying: access() says yes in read-only and pseudo file systems. Returns a descriptor of the directory. */
static int open_if_writable(const char *directory, struct pt_error *err)
{
    char trial[48];
    snprintf(trial, sizeof trial, ".proftrace-doctor-%d", getpid());
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && mkdirat(fd, trial, 0700) == 0) {
        unlinkat(fd, trial, AT_REMOVEDIR);
        return fd;
    }
    const int problem = errno;
    if (fd >= 0)
        close(fd);
    return pt_fail(err, "cannot make a directory in %s: %s", directory, strerror(problem));
}

/* As the library counts, which makes it absolute and resolves nothing; 0 = unknown. */
static size_t absolute_bytes(const char *root)
{
    char here[PATH_MAX];
    if (*root == '/')
        return strlen(root);
    return getcwd(here, sizeof here) ? strlen(here) + 1 + strlen(root) : 0;
}

/* The library makes an absolute one, but not what is above it. */
static bool is_left_to_the_user(const char *root, const char *existing)
{
    const size_t bytes = strlen(existing);
    return *root == '/' && strchr(root + bytes + (root[bytes] == '/'), '/');
}

void pt_doctor_place(struct pt_doctor_checks *checks)
{
    PT_AUTO(pt_freep) char *root = pt_runs_root();
    struct pt_doctor_check *check = pt_doctor_add(checks, "run directories");
    struct pt_error err = {0};
    char existing[PATH_MAX];
    const size_t bytes = absolute_bytes(root);
    if (bytes > PT_ROOT_MAX_BYTES) {
        pt_doctor_detail(check, PT_DOCTOR_FAIL, "the path has %zu bytes, at most %d can be used: %s", bytes,
                         PT_ROOT_MAX_BYTES, root);
        snprintf(check->remedy, sizeof check->remedy, "set PROFTRACE_DIR to a shorter one");
        return;
    }
    nearest_existing(root, existing, sizeof existing);
    const bool is_there = !strcmp(existing, root);
    PT_AUTO(pt_closep) int fd = is_there ? pt_session_root_open(root, &err) : open_if_writable(existing, &err);
    if (fd < 0) {
        pt_doctor_detail(check, PT_DOCTOR_FAIL, "%s", err.text);
        snprintf(check->remedy, sizeof check->remedy, "set PROFTRACE_DIR to a directory of your own");
        return;
    }
    if (!is_there && is_left_to_the_user(root, existing)) {
        pt_doctor_detail(check, PT_DOCTOR_WARN,
                         "%s: run and pipeline make it, but under LD_PRELOAD alone nothing is recorded until the "
                         "folder around it is there",
                         root);
        snprintf(check->remedy, sizeof check->remedy, "mkdir -p %s", root);
    } else {
        pt_doctor_detail(check, PT_DOCTOR_OK, "%s%s", root, is_there ? "" : " (will be made)");
    }
    check_room(checks, fd);
    check_copy_on_write(checks, fd);
}

/* ---- environment ---- */
static void check_switch_off(struct pt_doctor_checks *checks, const char *name, bool is_off)
{
    if (!is_off)
        return;
    struct pt_doctor_check *check = pt_doctor_add(checks, "switched off");
    pt_doctor_detail(check, PT_DOCTOR_FAIL, "%s=%s: nothing is recorded", name, getenv(name));
    snprintf(check->remedy, sizeof check->remedy, "unset %s", name);
}

static void no_effect(void *context, const char *problem, const char *remedy)
{
    struct pt_doctor_check *check = pt_doctor_add(context, "options");
    pt_doctor_detail(check, PT_DOCTOR_WARN, "%s", problem);
    snprintf(check->remedy, sizeof check->remedy, "%s", remedy);
}

void pt_doctor_environment(struct pt_doctor_checks *checks)
{
    /* As the library reads them. */
    check_switch_off(checks, "PROFTRACE_DISABLE", pt_option_is_on("PROFTRACE_DISABLE"));
    check_switch_off(checks, "ENABLE_PROFILING", pt_option_is_off_by_alias());
    pt_check_option_values(environ, no_effect, checks);
    const char *preload = getenv("LD_PRELOAD");
    if (preload && *preload)
        pt_doctor_detail(pt_doctor_add(checks, "LD_PRELOAD"), PT_DOCTOR_OK, "already holds %s; ours is added", preload);
}

/* ---- command ---- */
void pt_doctor_target(struct pt_doctor_checks *checks, const char *command)
{
    struct pt_doctor_check *check = pt_doctor_add(checks, "command");
    struct pt_target target;
    struct pt_error err = {0};
    if (pt_target_inspect(command, NULL, &target, &err) < 0) {
        pt_doctor_detail(check, PT_DOCTOR_FAIL, "%s", err.text);
    } else if (target.traced) {
        const int is_script = strcmp(target.path, target.binary) != 0;
        pt_doctor_detail(check, PT_DOCTOR_OK, "%.250s can be traced%s%.250s", target.path,
                         is_script ? "; it is run by " : "", is_script ? target.binary : "");
    } else {
        pt_doctor_detail(check, PT_DOCTOR_FAIL, "%.350s: %s", target.binary, target.reason);
        snprintf(check->remedy, sizeof check->remedy, "%s",
                 target.preload ? "it runs untraced, but what it starts is traced"
                                : "it runs untraced; trace the programs it starts, or build it for x86-64 glibc");
    }
}

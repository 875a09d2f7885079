/* SPDX-License-Identifier: MIT
 *
 * checks/library.c - Owns: one trial run of `true` under the library. Threads: main only. Never: leaves its scratch
 * directory.
 */
#include "library.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proftrace/format.h"
#include "launcher/environment.h"
#include "launcher/library.h"
#include "launcher/session_dir.h"
#include "launcher/target.h"
#include "util/auto.h"

#define TRIAL_PROGRAM "true"
#define TRIAL_LIMIT_MS 10000

extern char **environ;

/* Removes the files of a flat directory and counts the traces among them. */
static int remove_directory(const char *path)
{
    int traces = 0;
    DIR *entries = opendir(path);
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        const char *dot = strrchr(entry->d_name, '.');
        traces += dot && (!strcmp(dot, PT_FILE_SUFFIX) || !strcmp(dot, PT_SMALL_SUFFIX));
        unlinkat(dirfd(entries), entry->d_name, 0);
    }
    if (entries)
        closedir(entries);
    rmdir(path);
    return traces;
}

/* Runs the program with its stderr in a pipe, of which the first line is kept. Returns the wait status, -1 = it hung.
 */
static int run_trial(char *program, char **environment, char *complaint, size_t size)
{
    int ends[2];
    char *argv[] = {program, NULL};
    *complaint = 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], 2);
        execve(program, argv, environment);
        _exit(127);
    }
    close(ends[1]);
    struct pollfd ready = {.fd = ends[0], .events = POLLIN};
    const bool ended = pid > 0 && poll(&ready, 1, TRIAL_LIMIT_MS) == 1;
    const ssize_t n = ended ? read(ends[0], complaint, size - 1) : 0;
    complaint[n > 0 ? n : 0] = 0;
    complaint[strcspn(complaint, "\n")] = 0;
    close(ends[0]);
    int status = -1;
    if (pid > 0 && !ended)
        kill(pid, SIGKILL);
    if (pid > 0 && waitpid(pid, &status, 0) != pid)
        status = -1;
    return status;
}

static int make_scratch(struct pt_session_dir *ret_dir, struct pt_error *err)
{
    char path[PATH_MAX];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/proftrace-doctor-XXXXXX", folder && *folder ? folder : "/tmp");
    if (!mkdtemp(path))
        return pt_fail(err, "cannot make %s: %s", path, strerror(errno));
    if (pt_session_dir_create(path, TRIAL_PROGRAM, ret_dir, err) == 0)
        return 0;
    rmdir(path);
    return -1;
}

/* Some systems have none that the library can be loaded into: a static busybox, or no such program at all. */
static int find_trial(struct pt_target *ret_program, struct pt_error *err)
{
    if (pt_target_inspect(TRIAL_PROGRAM, NULL, ret_program, err) < 0)
        return -1;
    return ret_program->traced ? 0 : pt_fail(err, "%s is %s", ret_program->path, ret_program->reason);
}

static void try_library(struct pt_doctor_check *check, const char *library)
{
    struct pt_error err = {0};
    struct pt_session_dir dir;
    struct pt_target program;
    if (find_trial(&program, &err) < 0) {
        pt_doctor_detail(check, PT_DOCTOR_WARN, "could not be tried: no program to try it on: %s", err.text);
        return;
    }
    if (make_scratch(&dir, &err) < 0) {
        pt_doctor_detail(check, PT_DOCTOR_WARN, "could not be tried: %s", err.text);
        return;
    }
    const struct pt_environment_request request = {.library = library, .session = dir.path};
    PT_AUTO(pt_environment_freep) char **environment = pt_environment_make(environ, &request, &err);
    char complaint[300];
    const int status = environment ? run_trial(program.path, environment, complaint, sizeof complaint) : -1;
    const int traces = remove_directory(dir.path);
    pt_session_dir_close(&dir);
    if (status != 0 || complaint[0])
        pt_doctor_detail(check, PT_DOCTOR_FAIL, "%s does not run as before under it%s%s", program.path,
                         complaint[0] ? ": " : "", complaint);
    else if (!traces)
        pt_doctor_detail(check, PT_DOCTOR_FAIL, "it loads into %s but writes no trace", program.path);
    else
        pt_doctor_detail(check, PT_DOCTOR_OK, "%s loads and writes a trace", library);
}

void pt_doctor_library(struct pt_doctor_checks *checks)
{
    struct pt_doctor_check *check = pt_doctor_add(checks, "library");
    struct pt_error err = {0};
    PT_AUTO(pt_freep) char *library = pt_library_find(&err);
    if (library)
        try_library(check, library);
    else
        pt_doctor_detail(check, PT_DOCTOR_FAIL, "%s", err.text);
    if (check->status == PT_DOCTOR_FAIL && library)
        snprintf(check->remedy, sizeof check->remedy,
                 "see whether PROFTRACE_DISABLE is set; else build and install proftrace anew");
}

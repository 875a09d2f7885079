/* SPDX-License-Identifier: MIT
 *
 * target.c - Owns: the judgement of a command before it runs. Threads: main only. Never: runs anything.
 *
 * Preloading into some programs makes the loader print an error into the program's own stderr (32-bit), or makes the
 * program die (musl, a sanitizer that is not first). Such a target runs without us and is listed as untraced.
 */
#include "target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/text/path.h"
#include "elf_file.h"

#define SCRIPT_DEPTH_MAX 5 /* the kernel's own limit */

/* ---- finding it ---- */
static int try_path(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return errno;
    if (!S_ISREG(status.st_mode))
        return EISDIR;
    return access(path, X_OK) < 0 ? errno : 0;
}

/* In an element of PATH, as the command will find it: a relative one is of the folder in which it is started. */
static int name_in(const char *element, size_t length, const char *cwd, const char *command, char (*ret)[PATH_MAX])
{
    const bool below = cwd && *element != '/';
    return snprintf(*ret, sizeof *ret, "%s%s%.*s%s%s", below ? cwd : "", below ? "/" : "", (int)length, element,
                    length ? "/" : "", command);
}

/* As execvp does: the first executable wins; a file that is not executable is remembered for the message. */
static int search_path(const char *command, const char *path, const char *cwd, struct pt_target *target)
{
    int problem = ENOENT;
    for (const char *at = path ? path : "/bin:/usr/bin";; at++) {
        const size_t length = strcspn(at, ":");
        char candidate[PATH_MAX];
        const int n = name_in(at, length, cwd, command, &candidate);
        const int found = n < (int)sizeof candidate ? try_path(candidate) : ENAMETOOLONG;
        if (found == 0) {
            memcpy(target->path, candidate, (size_t)n + 1);
            return 0;
        }
        /* A directory of PATH that cannot be read counts as without the command. */
        if (found == EACCES && problem == ENOENT && access(candidate, F_OK) == 0) {
            memcpy(target->path, candidate, (size_t)n + 1);
            problem = EACCES;
        }
        at += length;
        if (!*at)
            return problem;
    }
}

static int find(const char *command, const struct pt_target_place *place, struct pt_target *target,
                struct pt_error *err)
{
    const char *cwd = place ? place->cwd : NULL;
    int problem = ENOENT;
    if (strchr(command, '/')) {
        const int n = name_in("", 0, *command == '/' ? NULL : cwd, command, &target->path);
        problem = n < (int)sizeof target->path ? try_path(target->path) : ENAMETOOLONG;
    } else if (*command) {
        const char *path = place && place->path_variable ? place->path_variable : getenv("PATH");
        problem = search_path(command, path, cwd, target);
    }
    if (!problem)
        return 0;
    if (problem == EISDIR)
        return pt_fail_code(err, 126, "%s is not a program but a directory or device", command);
    if (problem == EACCES)
        return pt_fail_code(err, 126, "%s is not executable; `chmod +x` it or name its interpreter", target->path);
    if (problem == ENOENT && !strchr(command, '/'))
        return pt_fail_code(err, 127, "%s: no such command in PATH; check the spelling or give its path", command);
    return pt_fail_code(err, 127, "%s: %s; check the path", command, strerror(problem));
}

/* ---- following #! lines ---- */
static bool script_interpreter(int fd, char *interpreter, size_t size)
{
    char line[256];
    const ssize_t n = pread(fd, line, sizeof line - 1, 0);
    if (n < 3 || line[0] != '#' || line[1] != '!')
        return false;
    line[n] = 0;
    char *start = line + 2 + strspn(line + 2, " \t");
    start[strcspn(start, " \t\n")] = 0;
    snprintf(interpreter, size, "%s", start);
    return *start != 0;
}

/* ---- judging it ---- */
__attribute__((format(printf, 2, 3))) static void untraced(struct pt_target *target, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(target->reason, sizeof target->reason, format, arguments);
    va_end(arguments);
    target->traced = target->preload = target->traced_by_name = false;
}

/* What makes the kernel set AT_SECURE: the loader then drops LD_PRELOAD, and so it must. */
static bool gains_privilege(int fd)
{
    struct stat status;
    struct statvfs mount;
    if (fstat(fd, &status) < 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
        (fstatvfs(fd, &mount) == 0 && mount.f_flag & ST_NOSUID))
        return false;
    const bool setuid = status.st_mode & S_ISUID && status.st_uid != getuid();
    const mode_t group_exec = S_ISGID | S_IXGRP;
    const bool setgid = (status.st_mode & group_exec) == group_exec && status.st_gid != getgid();
    const bool capable = getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
    return setuid || setgid || capable;
}

static bool is_glibc_loader(const char *interpreter)
{
    const char *name = pt_base_name(interpreter);
    return !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-2.", 5) || !strncmp(name, "ld64.so", 7);
}

static void judge(int fd, struct pt_target *target)
{
    struct pt_elf_facts facts;
    pt_elf_facts_read(fd, &facts);
    if (!facts.is_elf)
        return; /* a script without #! goes to /bin/sh; binfmt_misc formats to their own interpreter */
    target->traced_by_name = true;
    if (facts.class_bits != 64)
        untraced(target, "a 32-bit program; the tracer is 64-bit");
    else if (facts.machine != EM_X86_64)
        untraced(target, "built for another machine (ELF machine %d)", facts.machine);
    else if (gains_privilege(fd))
        untraced(target, "setuid, setgid or with file capabilities: the loader ignores LD_PRELOAD for it");
    else if (facts.sanitizer[0])
        untraced(target, "built with a sanitizer (%s), whose runtime must come first", facts.sanitizer);
    else if (facts.interpreter[0] && strstr(facts.interpreter, "ld-musl"))
        untraced(target, "linked with musl; the tracer needs glibc");
    else if (facts.interpreter[0] && !is_glibc_loader(facts.interpreter))
        untraced(target, "its loader %.100s is not glibc's", facts.interpreter);
    else if (!facts.interpreter[0] && strncmp(facts.soname, "ld-linux", 8) != 0) {
        untraced(target, "statically linked: LD_PRELOAD has no effect on it; link it dynamically");
        target->preload = true;
    }
}

int pt_target_inspect(const char *command, const struct pt_target_place *place, struct pt_target *ret_target,
                      struct pt_error *err)
{
    *ret_target = (struct pt_target){.traced = true, .preload = true};
    if (find(command, place, ret_target, err) < 0)
        return -1;
    memcpy(ret_target->binary, ret_target->path, sizeof ret_target->binary);
    for (int depth = 0; depth < SCRIPT_DEPTH_MAX; depth++) {
        PT_AUTO(pt_closep) int fd = open(ret_target->binary, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
            return 0; /* executable but not readable: let the kernel and the loader judge */
        char interpreter[256];
        if (!script_interpreter(fd, interpreter, sizeof interpreter)) {
            judge(fd, ret_target);
            return 0;
        }
        /* A relative one is of the folder in which the command is started, wherever the script is. */
        char path[sizeof ret_target->binary];
        const int n = name_in("", 0, *interpreter == '/' || !place ? NULL : place->cwd, interpreter, &path);
        const int problem = n < (int)sizeof path ? try_path(path) : ENAMETOOLONG;
        if (problem)
            return pt_fail_code(err, problem == ENOENT ? 127 : 126, "%s: its interpreter %s cannot be run: %s",
                                ret_target->binary, interpreter, strerror(problem));
        memcpy(ret_target->binary, path, (size_t)n + 1);
    }
    return 0;
}

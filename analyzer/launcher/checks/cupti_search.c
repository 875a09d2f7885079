/* SPDX-License-Identifier: MIT
 *
 * checks/cupti_search.c - Owns: a process that looks for libcupti in the order of preload/cuda/cupti/library.c, and
 * ends. Threads: main only. Never: loads a library of CUDA into our own process, where it would stay; waits for ever.
 *
 * A command that has not begun has nothing mapped. What it will map is guessed: Python's packages bring the runtime of
 * CUDA with them, and CUPTI beside it, and only that Python knows where it looks for packages.
 */
#include "cupti_search.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proftrace/cuda.h"

#define LIMIT_MS 10000

struct major {
    int number;
    const char *cupti, *runtime;
};
#define ROW(number, cupti, runtime) {number, cupti, runtime},
static const struct major majors[] = {PT_CUPTI_MAJORS(ROW)};
#undef ROW
static const char *const beside[] = {PT_CUPTI_BESIDE};
static const char *const homes[] = {PT_CUPTI_HOMES};
static const char *const below_home[] = {PT_CUPTI_BELOW_HOME};
#define N(list) (sizeof(list) / sizeof *(list))

/* Where a runtime of CUDA lies: a conda environment's lib, the wheels of CUDA 12 and 13, PyTorch. */
static const char list_folders[] = "import sys\n"
                                   "print(sys.prefix + '/lib')\n"
                                   "for folder in sys.path:\n"
                                   "    if folder[:1] == '/':\n"
                                   "        for below in 'nvidia/cuda_runtime/lib', 'nvidia/cu13/lib', 'torch/lib':\n"
                                   "            print(folder + '/' + below)\n";

/* ---- in the process that looks ---- */

struct places {
    char folders[64 << 10]; /* a line each */
};

static void run_python(const char *python, int to_fd)
{
    char option[] = "-c", program[sizeof list_folders], path[PATH_MAX];
    snprintf(path, sizeof path, "%s", python);
    memcpy(program, list_folders, sizeof program);
    char *argv[] = {path, option, program, NULL};
    const int null_fd = open("/dev/null", O_RDWR);
    dup2(null_fd, 0);
    dup2(to_fd, 1);
    dup2(null_fd, 2);
    setenv("PROFTRACE_DISABLE", "1", 1); /* where LD_PRELOAD is exported, it would be a run of its own */
    execv(path, argv);
    _exit(127);
}

static void list(const char *python, struct places *places)
{
    int ends[2];
    size_t used = 0;
    ssize_t n;
    if (!python || pipe2(ends, O_CLOEXEC) < 0)
        return;
    if (fork() == 0)
        run_python(python, ends[1]);
    close(ends[1]);
    while ((n = read(ends[0], places->folders + used, sizeof places->folders - 1 - used)) > 0)
        used += (size_t)n;
    places->folders[used] = 0;
}

static void *open_in(const char *folder, size_t length, const char *below, const char *name)
{
    char path[PATH_MAX];
    const int n = snprintf(path, sizeof path, "%.*s%s%s", (int)length, folder, below, name);
    return n > 0 && (size_t)n < sizeof path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
}

static bool holds(const char *folder, size_t length, const char *name)
{
    char path[PATH_MAX];
    const int n = snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, name);
    return n > 0 && (size_t)n < sizeof path && access(path, F_OK) == 0;
}

/* Beside `library`, wherever it is. */
static void *open_beside(const struct places *places, const char *library, const char *name)
{
    void *found = NULL;
    for (const char *at = places->folders; *at && !found; at += strspn(at, "\n")) {
        const size_t length = strcspn(at, "\n");
        for (size_t i = 0; holds(at, length, library) && !found && i < N(beside); i++)
            found = open_in(at, length, beside[i], name);
        at += length;
    }
    return found;
}

static void *open_at_home(const char *variable, const char *name)
{
    const char *home = getenv(variable);
    void *found = NULL;
    for (size_t i = 0; home && *home && !found && i < N(below_home); i++)
        found = open_in(home, strlen(home), below_home[i], name);
    return found;
}

/* Behind the rows of the same runtime: until CUDA 11 each minor version of libcupti has one. */
static size_t end_of_major(size_t first)
{
    size_t end = first;
    while (end < N(majors) && majors[end].number == majors[first].number)
        end++;
    return end;
}

/* All rows at one place before the next place, as the library does it. */
static void *open_major(const struct places *places, size_t first)
{
    const size_t end = end_of_major(first);
    void *found = NULL;
    for (size_t i = first; i < end && !found; i++)
        found = open_beside(places, majors[i].runtime, majors[i].cupti);
    for (size_t i = first; i < end && !found; i++)
        found = open_beside(places, PT_CUPTI_TORCH, majors[i].cupti);
    for (size_t i = first; i < end && !found; i++)
        found = dlopen(majors[i].cupti, RTLD_LAZY | RTLD_LOCAL);
    for (size_t j = 0; !found && j < N(homes); j++)
        for (size_t i = first; i < end && !found; i++)
            found = open_at_home(homes[j], majors[i].cupti);
    return found;
}

/* The newest version of CUDA that the driver supports; 0 = not known. */
static int driver_major(void)
{
    int version = 0;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    int (*get_version)(int *) = driver ? (int (*)(int *))dlsym(driver, "cuDriverGetVersion") : NULL;
    return get_version && get_version(&version) == 0 ? version / 1000 : 0;
}

static bool has_runtime(const struct places *places, const struct major *major)
{
    for (const char *at = places->folders; *at; at += strspn(at, "\n")) {
        const size_t length = strcspn(at, "\n");
        if (holds(at, length, major->runtime))
            return true;
        at += length;
    }
    return false;
}

static void *find_library(const struct places *places)
{
    void *found = NULL;
    for (size_t i = 0; i < N(majors) && !found; i = end_of_major(i))
        if (has_runtime(places, &majors[i]))
            found = open_major(places, i);
    const int driver = found ? 0 : driver_major();
    for (size_t i = 0; i < N(majors) && !found; i = end_of_major(i))
        if (!driver || majors[i].number <= driver)
            found = open_major(places, i);
    return found;
}

static void look(const char *python, int to_fd)
{
    static struct places places;
    struct link_map *map = NULL;
    setpgid(0, 0);
    /* Neither the driver nor Python is to be recorded, or to change a folder. */
    unsetenv("CUDA_INJECTION64_PATH");
    setenv("PROFTRACE_DISABLE", "1", 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    list(python, &places);
    void *library = find_library(&places);
    if (library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map)
        dprintf(to_fd, "%s", map->l_name);
    _exit(0);
}

/* ---- in ours ---- */

int pt_cupti_search(const char *python, char *ret_path, size_t size)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -2;
    const pid_t pid = fork();
    if (pid == 0)
        look(python, ends[1]);
    close(ends[1]);
    struct pollfd ready = {.fd = ends[0], .events = POLLIN};
    const bool ended = pid > 0 && poll(&ready, 1, LIMIT_MS) == 1;
    const ssize_t n = ended ? read(ends[0], ret_path, size - 1) : 0;
    ret_path[n > 0 ? n : 0] = 0;
    close(ends[0]);
    if (pid > 0 && ended)
        waitpid(pid, NULL, 0);
    else if (pid > 0) /* with its Python; not waited for: a driver that hangs may not let it end */
        kill(-pid, SIGKILL);
    return !ended ? -2 : n > 0 ? 0 : -1;
}

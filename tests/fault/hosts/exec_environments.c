/* SPDX-License-Identifier: MIT
 *
 * T34: every way to exec, with every kind of environment. The child prints the environment it got; what is the
 * program's own must arrive untouched. argv[1]: way.
 */
#include "host.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

extern char **environ;
static char *self;

static int is_the_librarys(const char *variable)
{
    static const char *const names[] = {"LD_PRELOAD=", "PROFTRACE_",
                                        "CUDA_INJECTION64_PATH=", "NVTX_INJECTION64_PATH=", "INTEL_LIBITTNOTIFY64="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(variable, names[i], strlen(names[i])))
            return 1;
    return 0;
}

static void print_environment(void)
{
    int n = 0;
    for (char **e = environ; e && *e; e++) {
        if (is_the_librarys(*e))
            continue;
        n++;
        if (!strncmp(*e, "OWN", 3) && n < 20)
            puts(*e);
    }
    printf("environment of %d\n", n > 10 ? n : -1);
}

static int memory_file(void)
{
    const int from = open("/proc/self/exe", O_RDONLY), to = memfd_create("image", 0);
    char bytes[65536];
    for (ssize_t n; (n = read(from, bytes, sizeof bytes)) > 0;)
        if (write(to, bytes, (size_t)n) != n)
            return -1;
    close(from);
    return to;
}

static void *exec_from_thread(void *arguments)
{
    execv(self, arguments);
    return NULL;
}

static char **many_variables(int n)
{
    int k = 0;
    while (environ[k])
        k++;
    char **list = calloc((size_t)(n + k + 1), sizeof *list);
    k = 0;
    for (char **e = environ; *e; e++)
        list[k++] = *e;
    for (int i = 0; i < n; i++) {
        list[k] = malloc(24);
        snprintf(list[k++], 24, i < 9 ? "OWN%d=" : "O%d=", i);
    }
    return list;
}

/* ---- the ways ---- */

static char *arguments[2];

static void way_execv(void)
{
    execv(self, arguments);
}

static void way_execve(void)
{
    execve(self, arguments, environ);
}

static void way_execl(void)
{
    execl(self, self, (char *)0);
}

static void way_execle(void)
{
    execle(self, self, (char *)0, environ);
}

static void way_execlp(void)
{
    execlp(self, self, (char *)0);
}

static void way_execvp(void)
{
    execvp(self, arguments);
}

static void way_execvpe(void)
{
    execvpe(self, arguments, environ);
}

static void way_fexecve(void)
{
    fexecve(open(self, O_RDONLY | O_CLOEXEC), arguments, environ);
}

static void way_execveat(void)
{
    execveat(open(self, O_RDONLY | O_CLOEXEC), "", arguments, environ, AT_EMPTY_PATH);
}

static void way_memfd(void)
{
    fexecve(memory_file(), arguments, environ);
}

static void way_raw(void)
{
    syscall(SYS_execve, self, arguments, environ);
}

static void way_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, exec_from_thread, arguments);
    pthread_join(thread, NULL);
}

static void way_many(void)
{
    execve(self, arguments, many_variables(100000));
}

static void way_too_many(void)
{
    execve(self, arguments, many_variables(400000));
    printf("too many: %s\n", strerror(errno));
    exit(8);
}

static void way_empty(void)
{
    execve(self, arguments, (char *[]){(char *)"OWN=alone", NULL});
}

static void way_null(void)
{
    execve(self, arguments, NULL);
}

static void way_script(void)
{
    execl("./script", "./script", (char *)0);
}

static void way_missing(void)
{
    for (int i = 0; i < 100; i++)
        MUST(execl("/nonexistent", "x", (char *)0) == -1 && errno == ENOENT);
    MUST(execl("/etc/passwd", "x", (char *)0) == -1 && errno == EACCES);
    exit(host_broken);
}

/* What is open as a path is opened again to look into it: not among the program's own descriptors. */
static void way_no_program(void)
{
    const int data = open("./data", O_PATH | O_CLOEXEC), free_before = dup(0);
    close(free_before);
    MUST(fexecve(data, arguments, environ) == -1 && errno == ENOEXEC);
    MUST(execveat(data, "", arguments, environ, AT_EMPTY_PATH) == -1 && errno == ENOEXEC);
    const int free_after = dup(0);
    MUST(free_before == free_after);
    exit(host_broken);
}

static void way_script_descriptor(void)
{
    fexecve(open("./script", O_RDONLY), arguments, environ);
}

static const struct {
    const char *name;
    void (*go)(void);
} ways[] = {
    {"execv", way_execv},
    {"execve", way_execve},
    {"execl", way_execl},
    {"execle", way_execle},
    {"execlp", way_execlp},
    {"execvp", way_execvp},
    {"execvpe", way_execvpe},
    {"fexecve", way_fexecve},
    {"execveat", way_execveat},
    {"memfd", way_memfd},
    {"raw", way_raw},
    {"thread", way_thread},
    {"many", way_many},
    {"empty", way_empty},
    {"null", way_null},
    {"script", way_script},
    {"too-many", way_too_many},
    {"missing", way_missing},
    {"no-program", way_no_program},
    {"script-descriptor", way_script_descriptor},
};

int main(int argc, char **argv)
{
    arguments[0] = self = argv[0];
    if (argc < 2) {
        alloc_pairs(100, 4247);
        print_environment();
        return 7;
    }
    alloc_pairs(100, 4242);
    trace_must("size:4242", "==", 100);
    putenv((char *)"OWN=kept");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(argv[1], ways[i].name))
            ways[i].go();
    return 9; /* no such way, or it failed */
}

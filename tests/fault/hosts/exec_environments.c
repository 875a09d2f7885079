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

int main(int argc, char **argv)
{
    char *arguments[] = {argv[0], NULL};
    self = argv[0];
    if (argc < 2) {
        alloc_pairs(100, 4247);
        print_environment();
        return 7;
    }
    const char *way = argv[1];
    alloc_pairs(100, 4242);
    trace_must("size:4242", "==", 100);
    putenv((char *)"OWN=kept");
    if (!strcmp(way, "execv"))
        execv(self, arguments);
    if (!strcmp(way, "execve"))
        execve(self, arguments, environ);
    if (!strcmp(way, "execl"))
        execl(self, self, (char *)0);
    if (!strcmp(way, "execle"))
        execle(self, self, (char *)0, environ);
    if (!strcmp(way, "execlp"))
        execlp(self, self, (char *)0);
    if (!strcmp(way, "execvp"))
        execvp(self, arguments);
    if (!strcmp(way, "execvpe"))
        execvpe(self, arguments, environ);
    if (!strcmp(way, "fexecve"))
        fexecve(open(self, O_RDONLY | O_CLOEXEC), arguments, environ);
    if (!strcmp(way, "execveat"))
        execveat(open(self, O_RDONLY | O_CLOEXEC), "", arguments, environ, AT_EMPTY_PATH);
    if (!strcmp(way, "memfd"))
        fexecve(memory_file(), arguments, environ);
    if (!strcmp(way, "raw"))
        syscall(SYS_execve, self, arguments, environ);
    if (!strcmp(way, "thread")) {
        pthread_t thread;
        pthread_create(&thread, NULL, exec_from_thread, arguments);
        pthread_join(thread, NULL);
    }
    if (!strcmp(way, "many"))
        execve(self, arguments, many_variables(100000));
    if (!strcmp(way, "too-many")) {
        execve(self, arguments, many_variables(400000));
        printf("too many: %s\n", strerror(errno));
        return 8;
    }
    if (!strcmp(way, "empty"))
        execve(self, arguments, (char *[]){(char *)"OWN=alone", NULL});
    if (!strcmp(way, "null"))
        execve(self, arguments, NULL);
    if (!strcmp(way, "script"))
        execl("./script", "./script", (char *)0);
    if (!strcmp(way, "missing")) {
        for (int i = 0; i < 100; i++)
            MUST(execl("/nonexistent", "x", (char *)0) == -1 && errno == ENOENT);
        MUST(execl("/etc/passwd", "x", (char *)0) == -1 && errno == EACCES);
        return host_broken;
    }
    return 9;
}

/* SPDX-License-Identifier: MIT
 *
 * T39: daemons, closers of everything and counters of descriptors. The next open gives the number that it gives without
 * us, and the trace goes on. argv[1]: loop, closefrom, close_range, raw, daemon, count, select; terminal: login_tty
 * closes what it is given, and the number belongs to another file then, which is opened where no hook sees it.
 */
#include "host.h"

#include <dirent.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <utmp.h>

static int count_descriptors(void)
{
    int n = 0;
    DIR *directory = opendir("/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(directory));)
        n += entry->d_name[0] != '.';
    closedir(directory);
    return n;
}

static void storm(void)
{
    alloc_pairs(30000, 4242);
    MUST(null_writes(5000) == 0);
}

static void close_all(const char *way)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    const int last = limit.rlim_cur > 70000 ? 70000 : (int)limit.rlim_cur;
    if (!strcmp(way, "loop"))
        for (int fd = 3; fd < last; fd++)
            close(fd);
    if (!strcmp(way, "closefrom"))
        closefrom(3);
    if (!strcmp(way, "close_range"))
        MUST(close_range(3, ~0u, 0) == 0);
    if (!strcmp(way, "raw"))
        MUST(syscall(SYS_close_range, 3, ~0u, 0) == 0);
}

static long unseen_open(const char *path)
{
    long result = SYS_open;
    __asm__ volatile("syscall" : "+a"(result) : "D"(path), "S"(O_RDONLY) : "rcx", "r11", "memory");
    return result;
}

static int give_to_terminal(void)
{
    int controller, terminal;
    char byte;
    MUST(openpty(&controller, &terminal, NULL, NULL, NULL) == 0);
    MUST(write(terminal, "x", 1) == 1); /* the library knows its name now */
    const pid_t pid = fork();
    if (!pid) {
        if (login_tty(terminal) || unseen_open("/dev/zero") != terminal || read(terminal, &byte, 1) != 1)
            _exit(1);
        _exit(3);
    }
    const int status = wait_for(pid);
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    trace_must("fd_path:/dev/zero:io_read", "==", 1);
    return host_broken;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "terminal"))
        return give_to_terminal();
    const char *way = argc > 1 ? argv[1] : "count";
    printf("descriptors %d, next %d\n", count_descriptors(), dup(0));
    fflush(stdout);
    alloc_pairs(1000, 4242);
    close_all(way);
    storm();
    printf("descriptors %d, next %d\n", count_descriptors(), dup(0));
    if (!strcmp(way, "select")) {
        fd_set set;
        int fd = -1, last = 0;
        while ((fd = open("/dev/null", O_RDONLY)) >= 0 && fd < FD_SETSIZE - 1)
            last = fd;
        FD_ZERO(&set);
        FD_SET(last, &set);
        MUST(select(last + 1, &set, NULL, NULL, NULL) == 1);
        printf("last %d\n", last);
    }
    trace_must("size:4242", "==", 31000 + (strcmp(way, "daemon") ? 0 : 30000));
    trace_must("fd_path:/dev/null:io_write", "==", 5000 * (strcmp(way, "daemon") ? 1 : 2));
    trace_must("processes", "==", strcmp(way, "daemon") ? 1 : 2);
    if (!strcmp(way, "daemon")) {
        /* The parent leaves inside daemon(); the driver waits for the file that the child leaves. */
        MUST(daemon(1, 0) == 0);
        storm();
        const int fd = open("daemon.done", O_CREAT | O_WRONLY, 0600);
        close(fd);
    }
    return host_broken;
}

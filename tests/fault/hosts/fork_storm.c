/* SPDX-License-Identifier: MIT
 *
 * T14: a process of eight busy threads forks again and again; each child uses every kind of hook under an alarm, and
 * must end by itself. argv[1]: number of children.
 */
#include "host.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

static volatile int stop;

static void *busy(void *unused)
{
    char name[] = "/dev/null";
    while (!stop) {
        alloc_pairs(20, 333);
        for (volatile int spin = 0; spin < 20000; spin++)
            ;
        const int fd = open(name, O_RDWR);
        if (write(fd, "x", 1) != 1)
            abort();
        close(fd);
    }
    return unused;
}

static void child(void)
{
    struct stat status;
    char bytes[16];
    struct iovec vector = {bytes, sizeof bytes};
    alarm(20);
    const int fd = open("/dev/zero", O_RDWR), copy = dup(fd);
    if (read(fd, bytes, 16) != 16 || pread(copy, bytes, 16, 5) != 16 || readv(fd, &vector, 1) != 16 ||
        write(fd, bytes, 16) != 16 || pwrite(fd, bytes, 16, 0) != 16 || writev(fd, &vector, 1) != 16 ||
        fstat(fd, &status) || stat("/", &status) || access("/", F_OK) || lseek(fd, 0, SEEK_SET))
        _exit(1);
    void *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(map, 4096);
    DIR *directory = opendir("/dev");
    while (readdir(directory))
        ;
    closedir(directory);
    FILE *stream = fopen("/etc/passwd", "r");
    if (!stream || !fgets(bytes, sizeof bytes, stream) || fclose(stream))
        _exit(2);
    close(copy);
    close(fd);
    alloc_pairs(100, 4242);
    _exit(3);
}

int main(int argc, char **argv)
{
    const int children = argc > 1 ? atoi(argv[1]) : 100;
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, busy, NULL);
    int good = 0;
    for (int i = 0; i < children; i++) {
        const pid_t pid = fork();
        if (!pid)
            child();
        const int status = wait_for(pid);
        good += WIFEXITED(status) && WEXITSTATUS(status) == 3;
    }
    stop = 1;
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    MUST(good == children);
    trace_must("size:4242", "==", 100L * children);
    trace_must("processes", "==", 1 + children);
    trace_must("io_pwrite", "==", children);
    trace_must("proc_fork", "==", children);
    return host_broken;
}

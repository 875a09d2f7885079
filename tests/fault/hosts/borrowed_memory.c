/* SPDX-License-Identifier: MIT
 *
 * B6: children of clone(CLONE_VM | CLONE_VFORK | CLONE_SETTLS) run in their maker's memory with a thread pointer of
 * their own, to nothing that libc knows, as Chromium makes one to give up its root directory. Below and at that pointer
 * lie zeros in one, and in the other what a stack has left there. Each makes calls that succeed and calls that fail;
 * the one that is not a child of vfork but of fork has memory of its own, too. Later their maker records as before.
 */
#include "host.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define STORAGE 65536
#define CALLS 5 /* of each child: chdir, stat, open, close, write */

static char stack[STORAGE] __attribute__((aligned(16)));
static char storage[2 * STORAGE] __attribute__((aligned(64)));

/* As errno: where the thread pointer is NULL, libc's own address of it is one that cannot be read. */
static int child(void *fails)
{
    struct stat status;
    const char *folder = fails ? "/no/such/folder" : "/";
    const int expected = fails ? -1 : 0;
    if (chdir(folder) != expected)
        _exit(1);
    if (stat(folder, &status) != expected)
        _exit(2);
    const int fd = open(fails ? (const char *)8 : "/dev/null", O_WRONLY);
    if ((fd < 0) != (fails != NULL))
        _exit(3);
    if (write(fd, "x", 1) != (fails ? -1 : 1))
        _exit(4);
    if (close(fd) != expected)
        _exit(5);
    _exit(7);
}

static int status_of(int flags, void *thread_pointer, void *fails)
{
    const pid_t pid = clone(child, stack + sizeof stack, flags | CLONE_SETTLS | SIGCHLD, fails, 0, thread_pointer, 0);
    const int status = wait_for(pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int main(void)
{
    const int in_memory_of_parent = CLONE_VM | CLONE_VFORK | CLONE_FS;
    for (int fails = 0; fails < 2; fails++) {
        void *const argument = fails ? storage : NULL;
        memset(storage, 0, sizeof storage);
        MUST(status_of(in_memory_of_parent, storage + STORAGE, argument) == 7);
        MUST(status_of(0, storage + STORAGE, argument) == 7);
        memset(storage, 0x5a, STORAGE); /* below the pointer: what a stack left there */
        MUST(status_of(in_memory_of_parent, storage + STORAGE, argument) == 7);
        for (size_t i = 0; i < STORAGE / sizeof(void *); i++) /* addresses that can be read and written */
            ((void **)storage)[i] = storage + 64;
        MUST(status_of(in_memory_of_parent, storage + STORAGE, argument) == 7);
        for (size_t i = 0; i < STORAGE / sizeof(void *); i++)
            MUST(((void **)storage)[i] == storage + 64 ||
                 i + 64 > STORAGE / sizeof(void *)); /* libc's errno may lie at the end */
    }
    struct stat status;
    for (int i = 0; i < 100; i++)
        stat("/", &status);
    trace_must("meta_stat", "==", 100);
    trace_must("fd_path:/:meta_stat", "==", 100);
    trace_must("lost", ">=", 6 * CALLS);
    return host_broken;
}

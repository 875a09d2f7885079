/* SPDX-License-Identifier: MIT
 *
 * B6: signals for the whole process group arrive while programs are started. Each handler runs in the process that
 * installed it, once per signal, and nowhere else: not in a helper that shares its memory.
 */
#include "host.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define STARTS 1500

static pid_t self;
static volatile sig_atomic_t strangers;

static void on_signal(int number)
{
    (void)number;
    if (syscall(SYS_getpid) != self)
        strangers++;
}

static void *nothing(void *unused)
{
    return unused;
}

int main(void)
{
    self = getpid();
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL); /* no longer a process with one thread */
    pthread_join(thread, NULL);
    const pid_t sender = fork();
    if (!sender) {
        signal(SIGUSR1, SIG_IGN);
        for (;;)
            kill(0, SIGUSR1);
    }
    close(open("program", O_CREAT | O_WRONLY, 0600));
    for (int i = 0; i < STARTS; i++) {
        chmod("program", 0600); /* a file that nobody has looked at yet */
        MUST(execl("program", "program", NULL) == -1 && errno == EACCES);
    }
    kill(sender, SIGKILL);
    wait_for(sender);
    MUST(strangers == 0);
    trace_must("proc_exec_failed", "==", STARTS);
    return host_broken;
}

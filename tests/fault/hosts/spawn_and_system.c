/* SPDX-License-Identifier: MIT
 *
 * T33: posix_spawn with file actions, posix_spawnp, system and popen, each from the main thread and from another:
 * results as ever, children join the run.
 */
#include "host.h"

#include <pthread.h>
#include <spawn.h>

extern char **environ;
static char *self;

static void spawn_with_actions(void)
{
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    char *arguments[] = {self, (char *)"child", NULL};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 9, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, 9, 11);
    posix_spawn_file_actions_addclose(&actions, 9);
    MUST(posix_spawn(&pid, self, &actions, NULL, arguments, environ) == 0);
    const int status = wait_for(pid);
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    MUST(posix_spawn(&pid, "/nonexistent", NULL, NULL, arguments, environ) == ENOENT);
    MUST(posix_spawnp(&pid, "no-such-program-anywhere", NULL, NULL, arguments, environ) == ENOENT);
    char *truth[] = {(char *)"true", NULL};
    MUST(posix_spawnp(&pid, "true", NULL, NULL, truth, environ) == 0);
    MUST(wait_for(pid) == 0);
}

static void shell(void)
{
    MUST(WEXITSTATUS(system("exit 5")) == 5);
    MUST(system(NULL) != 0);
    char line[64] = "";
    FILE *stream = popen("echo from a pipe; exit 4", "r");
    MUST(stream && fgets(line, sizeof line, stream) && !strcmp(line, "from a pipe\n"));
    MUST(WEXITSTATUS(pclose(stream)) == 4);
}

static void *both(void *unused)
{
    spawn_with_actions();
    shell();
    return unused;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        alloc_pairs(100, 4247);
        return write(11, "x", 1) == 1 ? 7 : 8;
    }
    self = argv[0];
    pthread_t thread;
    both(NULL);
    pthread_create(&thread, NULL, both, NULL);
    pthread_join(thread, NULL);
    trace_must("size:4247", "==", 200);
    trace_must("proc_spawn", "==", 10); /* popen is one */
    trace_must("proc_spawn.errors", "==", 4);
    trace_must("proc_system", ">=", 2);
    trace_must("processes", "==", 11); /* self, and twice: the child, true, three shells */
    return host_broken;
}

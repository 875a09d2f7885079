/* SPDX-License-Identifier: MIT
 *
 * apart.c - Owns: the process that writes reports. Threads: main only. Never: outlives the launcher.
 */
#include "apart.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_file/launcher.h"
#include "util/auto.h"
#include "util/text/shell_word.h"

/* Only who comes to the end says the code: out of memory ends with one of ours, too. */
__attribute__((noreturn)) static void be_apart(int (*work)(void *context), void *context, int said_fd, pid_t launcher)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher)
        _exit(0);
    const int code = work(context);
    fflush(NULL);
    if (write(said_fd, &code, sizeof code) < 0)
        _exit(1);
    exit(code);
}

bool pt_apart(int (*work)(void *context), void *context, int *ret_code, char ret_how[static PT_STATUS_TEXT_BYTES])
{
    int said[2], status = 0;
    const pid_t launcher = getpid();
    fflush(NULL); /* else both would write what waits */
    pt_run_launcher_over();
    const bool has_pipe = pipe2(said, O_CLOEXEC) == 0;
    const pid_t pid = has_pipe ? fork() : -1;
    if (pid == 0)
        be_apart(work, context, said[1], launcher);
    if (has_pipe)
        close(said[1]);
    if (pid < 0) {
        *ret_code = work(context);
    } else {
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        pt_status_text(status, ret_how, PT_STATUS_TEXT_BYTES);
    }
    const bool is_done = pid < 0 || read(said[0], ret_code, sizeof *ret_code) == (ssize_t)sizeof *ret_code;
    if (has_pipe)
        close(said[0]);
    return is_done;
}

void pt_apart_say(const char *how, const char *path)
{
    PT_AUTO(pt_str_fini) struct pt_str word = {0};
    pt_shell_word(&word, path);
    fprintf(stderr, "proftrace: writing the reports ended early (%s); `proftrace report %s` tries again\n", how,
            pt_str_text(&word));
}

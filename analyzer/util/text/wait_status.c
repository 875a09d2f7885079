/* SPDX-License-Identifier: MIT
 *
 * wait_status.c - Owns: the words for how a process ended. Threads: any. Never: leaves a signal without its number.
 */
#include "wait_status.h"
#include "posix_names.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

void pt_status_text(int wait_status, char *text, size_t size)
{
    if (!WIFSIGNALED(wait_status)) {
        snprintf(text, size, "exit %d", WEXITSTATUS(wait_status));
        return;
    }
    const int number = WTERMSIG(wait_status);
    const char *name = pt_signal_name(number);
    if (name)
        snprintf(text, size, "signal %d (SIG%s)", number, name);
    else
        snprintf(text, size, "signal %d", number);
}

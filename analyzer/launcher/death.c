/* SPDX-License-Identifier: MIT
 *
 * death.c - Owns: when a death is said to be for want of memory. Threads: any. Never: says so as a fact where only the
 * figures speak for it.
 */
#include "death.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "util/text/fmt.h"
#include "util/text/wait_status.h"

/* Of the limit: the kernel counts more than the pages that are mapped. */
#define NEAR_LIMIT_PERCENT 80

void pt_death_text(const struct pt_death *death, char *text, size_t size)
{
    const bool is_kill = WIFSIGNALED(death->wait_status) && WTERMSIG(death->wait_status) == SIGKILL;
    const bool is_bad = WIFSIGNALED(death->wait_status) || WEXITSTATUS(death->wait_status);
    const bool is_near = death->limit_bytes && death->rss_max_bytes / NEAR_LIMIT_PERCENT >= death->limit_bytes / 100;
    pt_status_text(death->wait_status, text, size);
    const size_t n = strlen(text);
    if (is_bad && death->group_kills)
        snprintf(text + n, size - n, ": out of memory: the kernel killed %llu process%s of its control group",
                 (unsigned long long)death->group_kills, death->group_kills > 1 ? "es" : "");
    else if (is_kill && death->machine_kills)
        snprintf(text + n, size - n, ": out of memory, as it seems: the kernel killed %llu process%s of the machine",
                 (unsigned long long)death->machine_kills, death->machine_kills > 1 ? "es" : "");
    else if (is_kill && is_near)
        snprintf(text + n, size - n, ": maybe out of memory: RSS %s of %s", pt_fmt_bytes(death->rss_max_bytes).text,
                 pt_fmt_bytes(death->limit_bytes).text);
}

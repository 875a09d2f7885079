/* SPDX-License-Identifier: MIT
 *
 * living_thread.c - Owns: nothing. Threads: any. Never: allocates more than opendir does.
 */
#include "living_thread.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "small_file.h"

static bool has_ended(uint32_t pid, uint32_t tid)
{
    enum { STATE = 3 };
    char text[1024];
    if (pt_small_file_peek(text, sizeof text, "/proc/%u/task/%u/stat", pid, tid) <= 0)
        return true;
    const char *state = pt_small_file_stat_field(text, STATE);
    return !state || *state == 'Z' || *state == 'X';
}

uint32_t pt_living_thread(uint32_t pid)
{
    char path[32];
    uint32_t living = pid;
    if (!has_ended(pid, pid))
        return pid;
    snprintf(path, sizeof path, "/proc/%u/task", pid);
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory && living == pid && (entry = readdir(directory))) {
        const uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        living = tid && !has_ended(pid, tid) ? tid : pid;
    }
    if (directory)
        closedir(directory);
    return living;
}

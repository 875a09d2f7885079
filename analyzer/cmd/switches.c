/* SPDX-License-Identifier: MIT
 *
 * switches.c - Owns: the switches that commands read from the environment. Threads: main only. Never: changes it.
 */
#include "switches.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

static bool is_set(const char *name, const char *const *values)
{
    const char *text = getenv(name);
    for (; text && *values; values++)
        if (!strcasecmp(text, *values))
            return true;
    return false;
}

static const char *const yes[] = {"1", "true", "on", "yes", NULL};
static const char *const no[] = {"0", "false", "off", "no", NULL};

const char *pt_environment_disabled_by(void)
{
    return is_set("PROFTRACE_DISABLE", yes) ? "PROFTRACE_DISABLE"
           : is_set("ENABLE_PROFILING", no) ? "ENABLE_PROFILING"
                                            : NULL;
}

void pt_say_disabled(const char *what_follows)
{
    const char *variable = pt_environment_disabled_by();
    if (variable && !pt_environment_says_quiet())
        fprintf(stderr, "proftrace: switched off by %s=%s: %s\n", variable, getenv(variable), what_follows);
}

bool pt_environment_says_quiet(void)
{
    return is_set("PROFTRACE_QUIET", yes);
}

void pt_fill_standard_descriptors(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd < 3);
    if (fd >= 3)
        close(fd);
}

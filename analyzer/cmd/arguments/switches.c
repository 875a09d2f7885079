/* SPDX-License-Identifier: MIT
 *
 * switches.c - Owns: the switches that commands read from the environment. Threads: main only. Never: changes it.
 */
#include "switches.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "options/option_values.h"

const char *pt_environment_disabled_by(void)
{
    return pt_option_is_on("PROFTRACE_DISABLE") ? "PROFTRACE_DISABLE"
           : pt_option_is_off_by_alias()        ? "ENABLE_PROFILING"
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
    return pt_option_is_on("PROFTRACE_QUIET");
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

/* SPDX-License-Identifier: MIT
 *
 * cases.h - what programs of many cases share: `program CASE [N]` runs one, N times what it does.
 */
#ifndef TEST_CASES_H
#define TEST_CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct program_case {
    const char *name;
    void (*run)(void);
};

static inline int run_case(int argc, char **argv, const struct program_case *cases, size_t n, int *repeat)
{
    if (argc > 2)
        *repeat = atoi(argv[2]);
    for (size_t i = 0; argc > 1 && i < n; i++)
        if (!strcmp(argv[1], cases[i].name)) {
            cases[i].run();
            return 0;
        }
    fprintf(stderr, "%s CASE [N]\n", argv[0]);
    return 2;
}

static inline void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

#endif

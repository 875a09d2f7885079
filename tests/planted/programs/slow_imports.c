/* SPDX-License-Identifier: MIT
 *
 * A program that brings an interpreter along: it looks for each of its modules in each directory of a long search path.
 * --fixed: the path is short. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MODULES = 300, DIRECTORIES = 3000, ROUNDS = 300000000 };

static struct {
    char path[96];
    int length;
} directories[DIRECTORIES];

static int is_found(const char *module, int n_directories)
{
    struct stat st;
    for (int i = 0; i < n_directories; i++) {
        strcpy(directories[i].path + directories[i].length, module);
        if (!stat(directories[i].path, &st))
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    const int is_fixed = argc > 1 && !strcmp(argv[1], "--fixed");
    volatile unsigned sum = 0;
    int n_found = 0;
    for (int i = 0; i < DIRECTORIES; i++)
        directories[i].length = sprintf(directories[i].path, "lib/python3.11/site-packages/%d/", i);
    for (int i = 0; i < MODULES; i++) {
        char module[32];
        snprintf(module, sizeof module, "module_%d.py", i);
        n_found += is_found(module, is_fixed ? 3 : DIRECTORIES);
    }
    for (unsigned i = 0; i < ROUNDS; i++)
        sum += i;
    return n_found;
}

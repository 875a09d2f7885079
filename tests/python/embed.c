/* SPDX-License-Identifier: MIT
 *
 * embed.c - a program that loads its Python itself, as PyInstaller's do, runs a line, and does so again.
 *
 * usage: embed LIBPYTHON local|global TIMES CODE
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void nothing(void);
typedef int run_string(const char *);

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    void *python = dlopen(argv[1], RTLD_NOW | (strcmp(argv[2], "local") == 0 ? RTLD_LOCAL : RTLD_GLOBAL));
    if (!python) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    nothing *initialise = (nothing *)dlsym(python, "Py_Initialize");
    nothing *finalise = (nothing *)dlsym(python, "Py_Finalize");
    run_string *run = (run_string *)dlsym(python, "PyRun_SimpleString");
    for (int i = 0; i < atoi(argv[3]); i++) {
        initialise();
        run(argv[4]);
        finalise();
    }
    printf("left: %d\n", dlclose(python));
    return 0;
}

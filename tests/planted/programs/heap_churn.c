/* SPDX-License-Identifier: MIT
 * A buffer of 32 KiB for each of very many steps; with --fixed one for all. */
#include <stdlib.h>

int main(int argc, char **argv)
{
    char *volatile keep = malloc(32768);
    (void)argv;
    for (long i = 0; i < 60000000; i++) {
        char *volatile buffer = argc > 1 ? keep : malloc(32768);
        buffer[i & 1023] = 1;
        if (argc == 1)
            free(buffer);
    }
    return 0;
}

/* SPDX-License-Identifier: MIT
 * Linked statically: nothing can be preloaded. With --fixed (and linked as usual) it is like any other. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    free(malloc(100));
    FILE *file = fopen("out", "w");
    fputs("done\n", file);
    usleep(300000);
    return fclose(file) != 0;
}

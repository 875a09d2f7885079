/* SPDX-License-Identifier: MIT
 * Writes a million short lines to a stream without a buffer; with --fixed the stream keeps its own. */
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argv;
    FILE *file = fopen("lines", "w");
    if (argc == 1)
        setvbuf(file, NULL, _IONBF, 0);
    for (int i = 0; i < 1000000; i++)
        fputs("a line of text\n", file);
    return fclose(file) != 0;
}

/* SPDX-License-Identifier: MIT
 *
 * lines.c - reads code objects as a test writes them, one a line: MINOR FIRST_LINE TABLE OFFSET..., the table in hex;
 * prints the line of each offset by python_walk.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/python_walk.h"

enum { CODE = 64, TABLE = 128, MOST = 1 << 20 };
static unsigned char memory[TABLE + 16 + MOST];

static int read_memory(void *context, pt_u64 address, void *to, pt_u64 bytes)
{
    (void)context;
    if (address > sizeof memory || bytes > sizeof memory - address)
        return -1;
    memcpy(to, memory + address, bytes);
    return 0;
}

static pt_u64 set_table(const char *hex)
{
    pt_u64 n = 0, at = TABLE;
    for (unsigned byte; n < MOST && sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
        memory[TABLE + 8 + n] = (unsigned char)byte;
    memcpy(memory + CODE, &at, sizeof at);
    memcpy(memory + TABLE, &n, sizeof n);
    return n;
}

int main(void)
{
    static char line[4 * MOST];
    static struct pt_python_header python = {.layout = {.code_lines = 0, .bytes_size = 0, .bytes_data = 8}};
    const struct pt_python_view view = {&python, read_memory, NULL};
    while (fgets(line, sizeof line, stdin)) {
        const unsigned minor = (unsigned)atoi(strtok(line, " "));
        const pt_u32 first = (pt_u32)atoi(strtok(NULL, " "));
        const char *table = strtok(NULL, " ");
        python.version = 3u << 24 | minor << 16;
        set_table(strcmp(table, "-") == 0 ? "" : table);
        for (const char *offset; (offset = strtok(NULL, " \n"));) {
            const struct pt_python_point point = {CODE, atoi(offset)};
            printf("%u ", pt_python_line(&view, &point, first));
        }
        putchar('\n');
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "helper_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[64], before[4096];

int enter_directory(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/proftrace-unit-XXXXXX");
    return getcwd(before, sizeof before) && mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

int leave_directory(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf -- %s", directory);
    return chdir(before) == 0 && system(command) == 0 ? 0 : -1;
}

void write_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

char *read_text(const char *path)
{
    static char buffer[1 << 20];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t n = fread(buffer, 1, sizeof buffer - 1, file);
    fclose(file);
    buffer[n] = 0;
    return strdup(buffer);
}

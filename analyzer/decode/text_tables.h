/* SPDX-License-Identifier: MIT
 *
 * text_tables.h - names of constants in the text form, shared by its writer and its reader. Internal to decode/.
 */
#ifndef PT_DECODE_TEXT_TABLES_H
#define PT_DECODE_TEXT_TABLES_H

#include <fcntl.h>
#include <stdint.h>

/* Flags that contain others stand before them. */
static const struct {
    const char *name;
    uint32_t bits;
} open_flags[] = {
    {"O_WRONLY", O_WRONLY},       {"O_RDWR", O_RDWR},         {"O_CREAT", O_CREAT},     {"O_EXCL", O_EXCL},
    {"O_NOCTTY", O_NOCTTY},       {"O_TRUNC", O_TRUNC},       {"O_APPEND", O_APPEND},   {"O_NONBLOCK", O_NONBLOCK},
    {"O_SYNC", O_SYNC},           {"O_DSYNC", O_DSYNC},       {"O_DIRECT", O_DIRECT},   {"O_TMPFILE", O_TMPFILE},
    {"O_DIRECTORY", O_DIRECTORY}, {"O_NOFOLLOW", O_NOFOLLOW}, {"O_NOATIME", O_NOATIME}, {"O_CLOEXEC", O_CLOEXEC},
    {"O_PATH", O_PATH},
};

static const char *const whence_names[] = {"SEEK_SET", "SEEK_CUR", "SEEK_END", "SEEK_DATA", "SEEK_HOLE"};

#endif

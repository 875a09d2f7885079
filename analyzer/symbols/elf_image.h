/* SPDX-License-Identifier: MIT
 *
 * elf_image.h - an ELF file mapped for reading, with its build-id, after the checks that make it safe to read.
 */
#ifndef PT_SYMBOLS_ELF_IMAGE_H
#define PT_SYMBOLS_ELF_IMAGE_H

#include <libelf.h>
#include <stdbool.h>

#include "proftrace/types.h"

struct pt_elf_image {
    Elf *elf; /* NULL = closed */
    void *bytes;
    pt_u64 n_bytes;
};

#define PT_ELF_ANY_BUILD UINT32_MAX /* for build_id_bytes: any file that is there now */

/* Changes when the file, or its debug file, is another one: the size and time of each; 0 = there is none. */
struct pt_elf_stamp {
    pt_u64 numbers[4];
};
struct pt_elf_stamp pt_elf_image_stamp(const char *path, const pt_u8 *build_id, pt_u32 build_id_bytes);

/* Opens a regular file of the right build (no bytes = a file that has no build-id either). False leaves *image closed.
 */
bool pt_elf_image_open(struct pt_elf_image *image, const char *path, const pt_u8 *build_id, pt_u32 build_id_bytes);
/* /usr/lib/debug/.build-id/xx/yyyy.debug */
bool pt_elf_image_open_debug(struct pt_elf_image *image, const pt_u8 *build_id, pt_u32 build_id_bytes);
/* The address range, in the file, of an exported variable; false = none of that name is exported. */
bool pt_elf_image_find_variable(const struct pt_elf_image *image, const char *name, pt_u64 *ret_start, pt_u64 *ret_end);
/* Whether its constants contain the full file name of a shared library, of any version: an argument for dlopen.
 * `name` ends in the dot before the version: "libcuda.so." */
bool pt_elf_image_names_library(const struct pt_elf_image *image, const char *name);
bool pt_elf_image_has_section(const struct pt_elf_image *image, const char *name);
void pt_elf_image_close(struct pt_elf_image *image);

#endif

/* SPDX-License-Identifier: MIT
 *
 * debuginfod.h - debug files from a server, only for users who asked for it by setting DEBUGINFOD_URLS.
 */
#ifndef PT_SYMBOLS_DEBUGINFOD_H
#define PT_SYMBOLS_DEBUGINFOD_H

#include "elf_image.h"

bool pt_debuginfod_open(struct pt_elf_image *image, const pt_u8 *build_id, pt_u32 build_id_bytes);

#endif

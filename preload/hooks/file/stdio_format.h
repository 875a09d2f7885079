/* SPDX-License-Identifier: MIT
 *
 * stdio_format.h - hooks of the printf and scanf families.
 */
#ifndef PT_HOOKS_FILE_STDIO_FORMAT_H
#define PT_HOOKS_FILE_STDIO_FORMAT_H

/* Find what a shell's children write with. */
void pt_format_find_functions(void) __attribute__((visibility("hidden")));

#endif

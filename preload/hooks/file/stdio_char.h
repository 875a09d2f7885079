/* SPDX-License-Identifier: MIT
 *
 * stdio_char.h - hooks of what reads and writes one character.
 */
#ifndef PT_HOOKS_FILE_STDIO_CHAR_H
#define PT_HOOKS_FILE_STDIO_CHAR_H

/* Find what a shell's children write with. */
void pt_char_find_functions(void) __attribute__((visibility("hidden")));

#endif

/* SPDX-License-Identifier: MIT
 *
 * output/terminal.h - a pseudo-terminal with the settings of our own that changes no byte.
 */
#ifndef PT_LAUNCHER_OUTPUT_TERMINAL_H
#define PT_LAUNCHER_OUTPUT_TERMINAL_H

#include <stdbool.h>

/* Never becomes a controlling terminal. The master does not block. -1 with errno on failure. */
int pt_terminal_like(int fd, int *ret_master, int *ret_slave);
/* Give it the size of `fd`; true when that changed anything. */
bool pt_terminal_resize(int master, int fd);

#endif

/* SPDX-License-Identifier: MIT
 *
 * wait_status.h - how a process ended, as text: "exit 0", "signal 9 (SIGKILL)".
 */
#ifndef PT_UTIL_TEXT_WAIT_STATUS_H
#define PT_UTIL_TEXT_WAIT_STATUS_H

#include <stddef.h>

enum { PT_STATUS_TEXT_BYTES = 48 };

/* Of what wait() says; PT_STATUS_TEXT_BYTES are always enough. */
void pt_status_text(int wait_status, char *text, size_t size);

#endif

/* SPDX-License-Identifier: MIT
 *
 * top/screen.h - the terminal while `top` has it: single keys, its size, and everything as before at the end.
 */
#ifndef PT_CMD_TOP_SCREEN_H
#define PT_CMD_TOP_SCREEN_H

#include <signal.h>
#include <stdbool.h>
#include <termios.h>

#include "util/error.h"
#include "util/str.h"

struct pt_screen {
    bool is_open; /* else stdin or stdout is no terminal, and nothing was changed */
    struct termios before;
    sigset_t mask_before;
    int signals_fd;
    int end_signal; /* asked us to end; 0 = none did */
};

int pt_screen_open(struct pt_screen *screen, struct pt_error *err);
/* The terminal as it was; a signal that asked for the end then ends us. */
void pt_screen_close(struct pt_screen *screen);

enum { PT_KEY_NONE, PT_KEY_RESIZED = 256, PT_KEY_END };

/* The next key within so many ms, PT_KEY_RESIZED for another size or after we were stopped, PT_KEY_END for a signal or
 * when there is no more input; PT_KEY_NONE = the time is over. */
int pt_screen_key(struct pt_screen *screen, int timeout_ms);

/* `text` from the top left corner, cut to the height of the screen, `last` in its last line. */
int pt_screen_show(const struct pt_screen *screen, const struct pt_str *text, const char *last, struct pt_error *err);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Owns: what is known of the terminal. Threads: main only (it sets the locale's character type). Never: writes to it.
 */
#include "medium.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROWEST = 40, WIDEST = 10000, WITHOUT_TERMINAL = 80 };

static pt_u32 terminal_width(int fd)
{
    struct winsize size;
    if (isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col >= NARROWEST)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    const long width = columns ? strtol(columns, NULL, 10) : 0;
    return width >= NARROWEST && width < WIDEST ? (pt_u32)width : WITHOUT_TERMINAL;
}

static struct pt_render_options medium_of(int fd, bool may_color)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    setlocale(LC_CTYPE, "");
    return (struct pt_render_options){
        .width = terminal_width(fd),
        .utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8"),
        .is_terminal = may_color && isatty(fd),
        .color = may_color && isatty(fd) && !(no_color && *no_color) && !(term && !strcmp(term, "dumb")),
    };
}

struct pt_render_options pt_medium_of(const char *output)
{
    return medium_of(STDOUT_FILENO, !output);
}

struct pt_render_options pt_medium_of_stderr(void)
{
    return medium_of(STDERR_FILENO, true);
}

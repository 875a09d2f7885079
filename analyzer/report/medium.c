/* SPDX-License-Identifier: MIT
 *
 * Owns: questions about the terminal. Threads: main only (it sets the locale's character type).
 */
#include "medium.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROWEST = 20, WIDEST = 10000, WITHOUT_TERMINAL = 80 };

static pt_u32 terminal_width(void)
{
    struct winsize size;
    if (isatty(1) && !ioctl(1, TIOCGWINSZ, &size) && size.ws_col >= NARROWEST)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    const long width = columns ? strtol(columns, NULL, 10) : 0;
    return width >= NARROWEST && width < WIDEST ? (pt_u32)width : WITHOUT_TERMINAL;
}

struct pt_render_options pt_medium_of(const char *output)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    setlocale(LC_CTYPE, "");
    return (struct pt_render_options){
        .width = terminal_width(),
        .utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8"),
        .color = !output && isatty(1) && !(no_color && *no_color) && !(term && !strcmp(term, "dumb")),
    };
}

/* SPDX-License-Identifier: MIT
 *
 * Owns: the mode of the terminal. Threads: main only, but for the end of all. Never: leaves it changed, whatever ends
 * us but SIGKILL: signals wait in a descriptor, errors of ours have a handler, and who stops us gets the terminal back
 * first.
 */
#include "screen.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "report/text_file.h"
#include "util/auto.h"

static const char enter[] = "\033[?1049h\033[?25l", leave[] = "\033[?25h\033[?1049l";

static void put(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        return; /* it is gone, and with it what could be restored */
}

static void take_terminal(const struct pt_screen *screen)
{
    struct termios raw = screen->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    put(enter);
}

static void give_terminal(const struct pt_screen *screen)
{
    put(leave);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &screen->before);
}

/* ---- ends that do not come back to us ---- */

/* An error of ours: no descriptor can receive these. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

/* Whose terminal it is; NULL = nobody's. */
static struct pt_screen *open_screen;

static void give_and_die(int number)
{
    if (open_screen)
        give_terminal(open_screen);
    signal(number, SIG_DFL);
    raise(number); /* once the handler has returned */
}

/* What is said of it on the other screen goes with that. */
static void give_at_exit(void)
{
    static const char reason[] = "proftrace: out of memory\n";
    if (!open_screen)
        return;
    give_terminal(open_screen);
    if (write(STDERR_FILENO, reason, sizeof reason - 1) < 0)
        return;
}

static bool has_action(int number, void (*action)(int))
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == action;
}

static void guard(struct pt_screen *screen)
{
    static bool is_registered;
    open_screen = screen;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (has_action(faults[i], SIG_DFL))
            signal(faults[i], give_and_die);
    if (!is_registered)
        is_registered = atexit(give_at_exit) == 0;
}

static void unguard(void)
{
    open_screen = NULL;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (has_action(faults[i], give_and_die))
            signal(faults[i], SIG_DFL);
}

/* All that end or stop us, and a new size; not what is ignored, as under nohup. */
static void signals_to_take(sigset_t *ret_set)
{
    static const int left[] = {SIGCHLD, SIGCONT, SIGURG, SIGTTIN, SIGTTOU};
    sigfillset(ret_set);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        sigdelset(ret_set, left[i]);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(ret_set, faults[i]);
    for (int number = 1; number <= SIGRTMAX; number++)
        if (has_action(number, SIG_IGN))
            sigdelset(ret_set, number);
}

/* ---- the screen ---- */

int pt_screen_open(struct pt_screen *screen, struct pt_error *err)
{
    sigset_t set;
    *screen = (struct pt_screen){.signals_fd = -1};
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &screen->before) < 0)
        return 0;
    signals_to_take(&set);
    screen->signals_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (screen->signals_fd < 0)
        return pt_fail(err, "cannot receive signals: %s", strerror(errno));
    sigprocmask(SIG_BLOCK, &set, &screen->mask_before);
    screen->is_open = true;
    guard(screen);
    take_terminal(screen);
    return 0;
}

void pt_screen_close(struct pt_screen *screen)
{
    if (!screen->is_open)
        return;
    give_terminal(screen);
    unguard();
    pt_closep(&screen->signals_fd);
    screen->is_open = false;
    if (screen->end_signal) {
        signal(screen->end_signal, SIG_DFL);
        raise(screen->end_signal);
    }
    sigprocmask(SIG_SETMASK, &screen->mask_before, NULL);
}

static void stop_and_come_back(struct pt_screen *screen)
{
    give_terminal(screen);
    raise(SIGSTOP);
    take_terminal(screen);
}

static int take_signal(struct pt_screen *screen)
{
    struct signalfd_siginfo info;
    int key = PT_KEY_NONE;
    while (key != PT_KEY_END && read(screen->signals_fd, &info, sizeof info) == sizeof info) {
        key = PT_KEY_RESIZED;
        if (info.ssi_signo == SIGTSTP)
            stop_and_come_back(screen);
        else if (info.ssi_signo != SIGWINCH) {
            screen->end_signal = (int)info.ssi_signo;
            key = PT_KEY_END;
        }
    }
    return key;
}

int pt_screen_key(struct pt_screen *screen, int timeout_ms)
{
    struct pollfd fds[] = {{.fd = screen->signals_fd, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    unsigned char key;
    if (poll(fds, 2, timeout_ms) <= 0)
        return PT_KEY_NONE;
    if (fds[0].revents)
        return take_signal(screen);
    return read(STDIN_FILENO, &key, 1) == 1 ? key : PT_KEY_END;
}

int pt_screen_show(const struct pt_screen *screen, const struct pt_str *text, const char *last, struct pt_error *err)
{
    enum { USUAL = 24, LOWEST = 3 };
    struct winsize size;
    PT_AUTO(pt_str_fini) struct pt_str out = {0};
    (void)screen;
    const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row >= LOWEST;
    int left = (is_known ? size.ws_row : USUAL) - 1;
    pt_str_add(&out, "\033[H");
    for (const char *at = pt_str_text(text); *at && left; left--) {
        const size_t n = strcspn(at, "\n");
        /* Before the text: behind one as wide as the screen the cursor is still on its last character. */
        pt_str_add(&out, "\033[K");
        pt_str_bytes(&out, at, n);
        pt_str_char(&out, '\n');
        at += n + (at[n] == '\n');
    }
    pt_str_add(&out, "\033[J");
    pt_str_printf(&out, "\033[%d;1H%.*s", is_known ? size.ws_row : USUAL, is_known ? size.ws_col : 80, last);
    return pt_text_file_write(NULL, &out, err);
}

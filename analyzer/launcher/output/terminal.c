/* SPDX-License-Identifier: MIT
 *
 * output/terminal.c - Owns: how a pseudo-terminal is made. Threads: main only. Never: touches our own terminal.
 */
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "util/fd.h"

static int open_slave(int master)
{
    /* By descriptor first: by name it may be another container's. */
    const int fd = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    char name[64];
    if (fd >= 0 || ptsname_r(master, name, sizeof name) != 0)
        return fd;
    return open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

bool pt_terminal_resize(int master, int fd)
{
    struct winsize size, before;
    if (ioctl(fd, TIOCGWINSZ, &size) < 0 || ioctl(master, TIOCGWINSZ, &before) < 0)
        return false;
    if (size.ws_row == before.ws_row && size.ws_col == before.ws_col && size.ws_xpixel == before.ws_xpixel &&
        size.ws_ypixel == before.ws_ypixel)
        return false;
    return ioctl(master, TIOCSWINSZ, &size) == 0;
}

int pt_terminal_like(int fd, int *ret_master, int *ret_slave)
{
    const int master = pt_fd_above_standard(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    if (master < 0)
        return -1;
    const int slave = unlockpt(master) == 0 ? pt_fd_above_standard(open_slave(master)) : -1;
    struct termios settings;
    if (slave < 0 || tcgetattr(fd, &settings) < 0)
        goto fail;
    /* The real terminal itself turns \n into \r\n; and no keys are typed here. */
    settings.c_oflag &= ~(tcflag_t)OPOST;
    if (tcsetattr(slave, TCSANOW, &settings) < 0)
        goto fail;
    (void)pt_terminal_resize(master, fd);
    *ret_master = master;
    *ret_slave = slave;
    return 0;
fail:;
    const int problem = errno;
    close(master);
    if (slave >= 0)
        close(slave);
    errno = problem;
    return -1;
}

/* SPDX-License-Identifier: MIT
 *
 * stdio_open.c - hooks that make and end streams. They also update the table of descriptors, so they work whenever
 * descriptors or streams are recorded.
 *
 * Entered by any thread of the host. A stream is never touched after it was closed.
 */
#include "stdio.h"

#include <fcntl.h>
#include <mntent.h>

#include "core/names/intern.h"

PT_ALWAYS_INLINE int is_recorded(void)
{
    return pt_likely(pt_switches.io) || pt_switches.stdio;
}

static PT_NOINLINE void stream_made(pt_u64 start, pt_u64 end, const FILE *stream, pt_u32 path)
{
    if (pt_switches.stdio)
        pt_spent(PT_EV_stdio_open, start, end, pt_stdio_fd(stream), pt_result_and(stream ? 0 : -1, path), 0);
}

static PT_NOINLINE void file_opened(pt_u64 start, pt_u64 end, const FILE *stream, const char *path)
{
    const pt_u32 path_id = pt_path_id(stream ? 0 : -1, AT_FDCWD, path);
    stream_made(start, end, stream, path_id);
    pt_fd_opened(pt_stdio_fd(stream), path_id);
}

CUSTOM(FILE *, fopen, (const char *path, const char *mode), (path, mode))
CUSTOM(FILE *, fopen64, (const char *path, const char *mode), (path, mode))
CUSTOM(FILE *, _IO_fopen, (const char *path, const char *mode), (path, mode))
CUSTOM(FILE *, freopen, (const char *path, const char *mode, FILE *stream), (path, mode, stream))
CUSTOM(FILE *, freopen64, (const char *path, const char *mode, FILE *stream), (path, mode, stream))
CUSTOM(FILE *, tmpfile, (void), ())
CUSTOM(FILE *, tmpfile64, (void), ())
CUSTOM(int, fclose, (FILE * stream), (stream))
CUSTOM(int, _IO_fclose, (FILE * stream), (stream))
CUSTOM(int, pclose, (FILE * stream), (stream))
CUSTOM(int, endmntent, (FILE * stream), (stream))
CUSTOM(int, __endmntent, (FILE * stream), (stream))
HOOK(FILE *, fdopen, (int fd, const char *mode), (fd, mode), stdio, stream_made(start, end, ret, pt_fd_path(fd)))
HOOK(FILE *, _IO_fdopen, (int fd, const char *mode), (fd, mode), stdio, stream_made(start, end, ret, pt_fd_path(fd)))
CUSTOM(FILE *, popen, (const char *command, const char *mode), (command, mode))
CUSTOM(FILE *, _IO_popen, (const char *command, const char *mode), (command, mode))

/* The time is that of starting the command; the stream is one of a pipe. */
static FILE *command_recorded(FILE *(*real)(const char *, const char *), const char *command, const char *mode)
{
    if (pt_unlikely(!is_recorded()))
        return real(command, mode);
    const pt_u64 start = pt_clock();
    FILE *const stream = real(command, mode);
    const pt_u64 end = pt_clock();
    if (pt_switches.io)
        pt_spent(PT_EV_proc_spawn, start, end, 0,
                 pt_words((pt_u32)(stream ? 0 : -pt_errno()), pt_intern_redacted(stream ? command : 0)), 0);
    stream_made(end, end, stream, pt_fd_path(pt_stdio_fd(stream)));
    return stream;
}

FILE *popen(const char *command, const char *mode)
{
    return command_recorded(real_popen, command, mode);
}

FILE *_IO_popen(const char *command, const char *mode)
{
    return command_recorded(real__IO_popen, command, mode);
}

PT_ALWAYS_INLINE FILE *open_recorded(FILE *(*real)(const char *, const char *), const char *path, const char *mode)
{
    if (pt_unlikely(!is_recorded()))
        return real(path, mode);
    const pt_u64 start = pt_clock();
    FILE *const stream = real(path, mode);
    file_opened(start, pt_clock(), stream, path);
    return stream;
}

FILE *fopen(const char *path, const char *mode)
{
    return open_recorded(real_fopen, path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    return open_recorded(real_fopen64, path, mode);
}

FILE *_IO_fopen(const char *path, const char *mode)
{
    return open_recorded(real__IO_fopen, path, mode);
}

/* Without a path, freopen changes the mode of the open file: its name stays. */
static FILE *reopen_recorded(FILE *(*real)(const char *, const char *, FILE *), const char *path, const char *mode,
                             FILE *stream)
{
    if (pt_unlikely(!is_recorded()))
        return real(path, mode, stream);
    const pt_u32 old_path = pt_fd_forget(pt_stdio_fd(stream));
    const pt_u64 start = pt_clock();
    FILE *const result = real(path, mode, stream);
    const pt_u64 end = pt_clock();
    const pt_u32 new_path = path ? pt_path_id(result ? 0 : -1, AT_FDCWD, path) : old_path;
    stream_made(start, end, result, new_path);
    pt_fd_opened(pt_stdio_fd(result), new_path);
    return result;
}

FILE *freopen(const char *path, const char *mode, FILE *stream)
{
    return reopen_recorded(real_freopen, path, mode, stream);
}

FILE *freopen64(const char *path, const char *mode, FILE *stream)
{
    return reopen_recorded(real_freopen64, path, mode, stream);
}

static FILE *temp_recorded(FILE *(*real)(void))
{
    if (pt_unlikely(!is_recorded()))
        return real();
    const pt_u64 start = pt_clock();
    FILE *const stream = real();
    const pt_u64 end = pt_clock();
    const int fd = pt_stdio_fd(stream);
    if (pt_switches.io)
        pt_spent(PT_EV_io_open_temp, start, end, fd, pt_words((pt_u32)(stream ? fd : -pt_errno()), pt_fd_path(fd)), 0);
    stream_made(start, end, stream, pt_fd_path(fd));
    return stream;
}

FILE *tmpfile(void)
{
    return temp_recorded(real_tmpfile);
}

FILE *tmpfile64(void)
{
    return temp_recorded(real_tmpfile64);
}

static int close_recorded(int (*real)(FILE *), FILE *stream)
{
    if (pt_unlikely(!is_recorded()))
        return real(stream);
    const int fd = pt_stdio_fd(stream);
    const pt_u32 path = pt_fd_forget(fd);
    const pt_u64 start = pt_clock();
    const int ret = real(stream);
    if (pt_switches.stdio)
        pt_spent(PT_EV_stdio_close, start, pt_clock(), fd, pt_result_and(ret, path), 0);
    return ret;
}

int fclose(FILE *stream)
{
    return close_recorded(real_fclose, stream);
}

int _IO_fclose(FILE *stream)
{
    return close_recorded(real__IO_fclose, stream);
}

/* They close the stream inside libc. */
int endmntent(FILE *stream)
{
    if (is_recorded())
        pt_fd_forget(pt_stdio_fd(stream));
    return real_endmntent(stream);
}

int __endmntent(FILE *stream)
{
    if (is_recorded())
        pt_fd_forget(pt_stdio_fd(stream));
    return real___endmntent(stream);
}

/* The time is that of waiting for the command; closing the stream itself takes none. */
int pclose(FILE *stream)
{
    if (pt_unlikely(!pt_switches.waits))
        return close_recorded(real_pclose, stream);
    const int fd = is_recorded() ? pt_stdio_fd(stream) : -1;
    const pt_u32 path = is_recorded() ? pt_fd_forget(fd) : 0;
    const pt_u64 start = pt_clock();
    const int ret = real_pclose(stream);
    const pt_u64 end = pt_clock();
    pt_spent(PT_EV_wait_child, start, end, -1, pt_words((pt_u32)(ret < 0 ? -pt_errno() : 0), ~0u),
             pt_words((pt_u32)ret, 0));
    if (pt_switches.stdio)
        pt_spent(PT_EV_stdio_close, end, end, fd, pt_result_and(ret, path), 0);
    return ret;
}

/* SPDX-License-Identifier: MIT
 *
 * stdio_format.c - hooks of the printf and scanf families.
 *
 * Entered by any thread of the host. A variadic call cannot be forwarded: ours hands the arguments to the real function
 * that takes a va_list, as libc's own does. Never: bytes of scanf, which returns how many fields it read, not how many
 * bytes.
 */
#include "stdio_format.h"

#include "stdio.h"

#include <stdarg.h>

CUSTOM_RAW(int, vprintf, (const char *format, va_list values), (format, values))
CUSTOM_RAW(int, vfprintf, (FILE * stream, const char *format, va_list values), (stream, format, values))
CUSTOM(int, _IO_vfprintf, (FILE * stream, const char *format, va_list values), (stream, format, values))
CUSTOM_RAW(int, vdprintf, (int fd, const char *format, va_list values), (fd, format, values))
CUSTOM(int, __vprintf_chk, (int flag, const char *format, va_list values), (flag, format, values))
CUSTOM(int, __vfprintf_chk, (FILE * stream, int flag, const char *format, va_list values),
       (stream, flag, format, values))
CUSTOM(int, __vdprintf_chk, (int fd, int flag, const char *format, va_list values), (fd, flag, format, values))
CUSTOM_RAW(int, vscanf, (const char *format, va_list values), (format, values))
CUSTOM_RAW(int, vfscanf, (FILE * stream, const char *format, va_list values), (stream, format, values))
CUSTOM_RAW(int, __vfscanf, (FILE * stream, const char *format, va_list values), (stream, format, values))
CUSTOM_RAW(int, __isoc99_vscanf, (const char *format, va_list values), (format, values))
CUSTOM_RAW(int, __isoc99_vfscanf, (FILE * stream, const char *format, va_list values), (stream, format, values))
CUSTOM_RAW(int, __isoc23_vscanf, (const char *format, va_list values), (format, values)) /* since glibc 2.38 */
CUSTOM_RAW(int, __isoc23_vfscanf, (FILE * stream, const char *format, va_list values), (stream, format, values))

static PT_NOINLINE void descriptor_wrote(pt_u64 start, pt_u64 end, int fd, int ret)
{
    const pt_i64 bytes = ret >= 0 ? ret : -pt_errno();
    pt_spent(PT_EV_stdio_write, start, end, fd, (pt_u64)bytes, pt_words(pt_fd_path(fd), 0));
}

static PT_NOINLINE void scanned(pt_u64 start, pt_u64 end, FILE *stream, int ret)
{
    pt_stdio_read(start, end, stream, ret >= 0 ? 0 : -1);
}

int hook_vprintf(const char *format, va_list values)
{
    if (pt_unlikely(!pt_switches.stdio))
        return real_vprintf(format, values);
    const pt_u64 start = pt_clock();
    const int ret = real_vprintf(format, values);
    pt_stdio_wrote(start, pt_clock(), stdout, ret);
    return ret;
}

int hook_vfprintf(FILE *stream, const char *format, va_list values)
{
    if (pt_unlikely(!pt_switches.stdio))
        return real_vfprintf(stream, format, values);
    const pt_u64 start = pt_clock();
    const int ret = real_vfprintf(stream, format, values);
    pt_stdio_wrote(start, pt_clock(), stream, ret);
    return ret;
}

int _IO_vfprintf(FILE *stream, const char *format, va_list values)
{
    if (pt_unlikely(!pt_switches.stdio))
        return real__IO_vfprintf(stream, format, values);
    const pt_u64 start = pt_clock();
    const int ret = real__IO_vfprintf(stream, format, values);
    pt_stdio_wrote(start, pt_clock(), stream, ret);
    return ret;
}

int hook_vdprintf(int fd, const char *format, va_list values)
{
    if (pt_unlikely(!pt_switches.stdio))
        return real_vdprintf(fd, format, values);
    const pt_u64 start = pt_clock();
    const int ret = real_vdprintf(fd, format, values);
    descriptor_wrote(start, pt_clock(), fd, ret);
    return ret;
}

int __vprintf_chk(int flag, const char *format, va_list values)
{
    if (pt_unlikely(!pt_switches.stdio))
        return real___vprintf_chk(flag, format, values);
    const pt_u64 start = pt_clock();
    const int ret = real___vprintf_chk(flag, format, values);
    pt_stdio_wrote(start, pt_clock(), stdout, ret);
    return ret;
}

int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list values)
{
    if (pt_unlikely(!pt_switches.stdio))
        return real___vfprintf_chk(stream, flag, format, values);
    const pt_u64 start = pt_clock();
    const int ret = real___vfprintf_chk(stream, flag, format, values);
    pt_stdio_wrote(start, pt_clock(), stream, ret);
    return ret;
}

int __vdprintf_chk(int fd, int flag, const char *format, va_list values)
{
    if (pt_unlikely(!pt_switches.stdio))
        return real___vdprintf_chk(fd, flag, format, values);
    const pt_u64 start = pt_clock();
    const int ret = real___vdprintf_chk(fd, flag, format, values);
    descriptor_wrote(start, pt_clock(), fd, ret);
    return ret;
}

int hook_vscanf(const char *format, va_list values)
{
    if (pt_unlikely(!pt_switches.stdio))
        return real_vscanf(format, values);
    const pt_u64 start = pt_clock();
    const int ret = real_vscanf(format, values);
    scanned(start, pt_clock(), stdin, ret);
    return ret;
}

int hook___isoc99_vscanf(const char *format, va_list values)
{
    if (pt_unlikely(!pt_switches.stdio))
        return real___isoc99_vscanf(format, values);
    const pt_u64 start = pt_clock();
    const int ret = real___isoc99_vscanf(format, values);
    scanned(start, pt_clock(), stdin, ret);
    return ret;
}

int hook___isoc23_vscanf(const char *format, va_list values)
{
    if (pt_unlikely(!pt_switches.stdio))
        return real___isoc23_vscanf(format, values);
    const pt_u64 start = pt_clock();
    const int ret = real___isoc23_vscanf(format, values);
    scanned(start, pt_clock(), stdin, ret);
    return ret;
}

int hook_vfscanf(FILE *stream, const char *format, va_list values)
{
    if (pt_unlikely(!pt_switches.stdio))
        return real_vfscanf(stream, format, values);
    const pt_u64 start = pt_clock();
    const int ret = real_vfscanf(stream, format, values);
    scanned(start, pt_clock(), stream, ret);
    return ret;
}

int hook___vfscanf(FILE *stream, const char *format, va_list values)
{
    if (pt_unlikely(!pt_switches.stdio))
        return real___vfscanf(stream, format, values);
    const pt_u64 start = pt_clock();
    const int ret = real___vfscanf(stream, format, values);
    scanned(start, pt_clock(), stream, ret);
    return ret;
}

int hook___isoc99_vfscanf(FILE *stream, const char *format, va_list values)
{
    if (pt_unlikely(!pt_switches.stdio))
        return real___isoc99_vfscanf(stream, format, values);
    const pt_u64 start = pt_clock();
    const int ret = real___isoc99_vfscanf(stream, format, values);
    scanned(start, pt_clock(), stream, ret);
    return ret;
}

int hook___isoc23_vfscanf(FILE *stream, const char *format, va_list values)
{
    if (pt_unlikely(!pt_switches.stdio))
        return real___isoc23_vfscanf(stream, format, values);
    const pt_u64 start = pt_clock();
    const int ret = real___isoc23_vfscanf(stream, format, values);
    scanned(start, pt_clock(), stream, ret);
    return ret;
}

/* A variadic function, forwarded to the one that takes a va_list. */
#define VARIADIC(name, parameters, last, through, arguments)                                                           \
    PT_EXPORT int hook_##name parameters __asm__(#name);                                                               \
    int hook_##name parameters                                                                                         \
    {                                                                                                                  \
        va_list values;                                                                                                \
        va_start(values, last);                                                                                        \
        const int ret = through arguments;                                                                             \
        va_end(values);                                                                                                \
        return ret;                                                                                                    \
    }

VARIADIC(printf, (const char *format, ...), format, hook_vprintf, (format, values))
VARIADIC(_IO_printf, (const char *format, ...), format, hook_vprintf, (format, values))
VARIADIC(fprintf, (FILE * stream, const char *format, ...), format, hook_vfprintf, (stream, format, values))
VARIADIC(_IO_fprintf, (FILE * stream, const char *format, ...), format, hook_vfprintf, (stream, format, values))
VARIADIC(dprintf, (int fd, const char *format, ...), format, hook_vdprintf, (fd, format, values))
VARIADIC(__printf_chk, (int flag, const char *format, ...), format, __vprintf_chk, (flag, format, values))
VARIADIC(__fprintf_chk, (FILE * stream, int flag, const char *format, ...), format, __vfprintf_chk,
         (stream, flag, format, values))
VARIADIC(__dprintf_chk, (int fd, int flag, const char *format, ...), format, __vdprintf_chk, (fd, flag, format, values))
VARIADIC(scanf, (const char *format, ...), format, hook_vscanf, (format, values))
VARIADIC(fscanf, (FILE * stream, const char *format, ...), format, hook_vfscanf, (stream, format, values))
VARIADIC(__isoc99_scanf, (const char *format, ...), format, hook___isoc99_vscanf, (format, values))
VARIADIC(__isoc99_fscanf, (FILE * stream, const char *format, ...), format, hook___isoc99_vfscanf,
         (stream, format, values))
VARIADIC(__isoc23_scanf, (const char *format, ...), format, hook___isoc23_vscanf, (format, values))
VARIADIC(__isoc23_fscanf, (FILE * stream, const char *format, ...), format, hook___isoc23_vfscanf,
         (stream, format, values))

void pt_format_find_functions(void)
{
    PT_RESOLVE(vprintf);
    PT_RESOLVE(__vprintf_chk);
}

/* SPDX-License-Identifier: MIT
 *
 * stdio_char.c - hooks of the functions that move one character, and of what fills and empties the buffer behind those
 * that the compiler puts in place of a call.
 *
 * The former take 2 ns, so they get no event and no clock: two additions in the thread's own area, which no other
 * thread writes. Entered by any thread of the host, which holds the stream or knows that no other thread uses it.
 */
#include "stdio.h" /* first: it keeps <stdio.h> from defining what is hooked here */

#include "core/file/attach.h"

PT_ALWAYS_INLINE void count_call(enum pt_counted which, pt_u64 bytes)
{
    struct pt_thread_area *area = pt_area_to_count_in();
    if (pt_likely(area != 0)) {
        area->counted_calls[which]++;
        area->counted_bytes[which] += bytes;
    }
}

#define CHARACTER(name, parameters, arguments, which, bytes)                                                           \
    PT_REAL(int, name, parameters, arguments)                                                                          \
    PT_EXPORT int name parameters;                                                                                     \
    int name parameters                                                                                                \
    {                                                                                                                  \
        const int ret = real_##name arguments;                                                                         \
        if (pt_likely(pt_switches.stdio))                                                                              \
            count_call(PT_COUNTED_STDIO_##which##_CHAR, ret == EOF ? 0 : (bytes));                                     \
        return ret;                                                                                                    \
    }

CHARACTER(fgetc, (FILE * stream), (stream), READ, 1)
CHARACTER(getc, (FILE * stream), (stream), READ, 1)
CHARACTER(_IO_getc, (FILE * stream), (stream), READ, 1)
CHARACTER(fgetc_unlocked, (FILE * stream), (stream), READ, 1)
CHARACTER(getc_unlocked, (FILE * stream), (stream), READ, 1)
CHARACTER(getchar, (void), (), READ, 1)
CHARACTER(getchar_unlocked, (void), (), READ, 1)
CHARACTER(getw, (FILE * stream), (stream), READ, sizeof(int))
CHARACTER(ungetc, (int c, FILE *stream), (c, stream), READ, 0)
CHARACTER(_IO_ungetc, (int c, FILE *stream), (c, stream), READ, 0)

CHARACTER(fputc, (int c, FILE *stream), (c, stream), WRITE, 1)
CHARACTER(putc, (int c, FILE *stream), (c, stream), WRITE, 1)
CHARACTER(_IO_putc, (int c, FILE *stream), (c, stream), WRITE, 1)
CHARACTER(fputc_unlocked, (int c, FILE *stream), (c, stream), WRITE, 1)
CHARACTER(putc_unlocked, (int c, FILE *stream), (c, stream), WRITE, 1)
CHARACTER(putchar, (int c), (c), WRITE, 1)
CHARACTER(putchar_unlocked, (int c), (c), WRITE, 1)
CHARACTER(putw, (int c, FILE *stream), (c, stream), WRITE, sizeof(int))

/* ---- getc_unlocked, putc_unlocked and kin in optimised programs (uniq, paste): libc is called only where the buffer
 * is empty or full. Whoever comes then stands for the whole buffer: where blocks go through it, too, each kind of call
 * meets its end as often as it moves bytes. libc itself reaches these functions without us, so that nothing counts
 * twice. ---- */

CUSTOM(int, __uflow, (FILE * stream), (stream))
CUSTOM(int, __underflow, (FILE * stream), (stream))
CUSTOM(int, __overflow, (FILE * stream, int c), (stream, c))

enum { IN_BACKUP = 0x100, UNBUFFERED = 0x2, LINE_BUFFERED = 0x200 }; /* of _flags: libc's ABI */

/* Is text that was read before put aside, for a character that ungetc gave back? Then nothing is read from the file. */
static int has_more_behind(const FILE *stream)
{
    return stream->_flags & IN_BACKUP && stream->_IO_save_end > stream->_IO_save_base;
}

/* taken: the characters that the caller has been given, and that are in the buffer no more. */
static int refill(int (*real)(FILE *), FILE *stream, pt_i64 taken)
{
    if (pt_unlikely(!pt_switches.stdio) || has_more_behind(stream))
        return real(stream);
    const pt_u64 start = pt_clock();
    const int ret = real(stream);
    const pt_u64 end = pt_clock();
    if (stream->_mode <= 0) /* the buffers of wide streams lie elsewhere */
        pt_stdio_read(start, end, stream, ret == EOF ? -1 : stream->_IO_read_end - stream->_IO_read_ptr + taken);
    return ret;
}

int __uflow(FILE *stream)
{
    return refill(real___uflow, stream, 1);
}

int __underflow(FILE *stream)
{
    return refill(real___underflow, stream, 0);
}

static pt_i64 unwritten_bytes(const FILE *stream)
{
    return stream->_IO_write_ptr > stream->_IO_write_base ? stream->_IO_write_ptr - stream->_IO_write_base : 0;
}

/* A full buffer is written, and the character is the first of the next one: it is counted with that. Where lines or
 * characters are written at once, each character comes here. */
static PT_NOINLINE void put_character(pt_u64 start, pt_u64 end, FILE *stream, pt_i64 before, int ret)
{
    const int each_comes = stream->_flags & (UNBUFFERED | LINE_BUFFERED);
    if (stream->_mode > 0)
        return;
    if (ret == EOF || unwritten_bytes(stream) != before + 1)
        pt_stdio_wrote(start, end, stream, ret == EOF ? -1 : each_comes ? 1 : before);
    else if (each_comes)
        count_call(PT_COUNTED_STDIO_WRITE_CHAR, 1);
}

int __overflow(FILE *stream, int c)
{
    if (pt_unlikely(!pt_switches.stdio))
        return real___overflow(stream, c);
    const pt_i64 before = unwritten_bytes(stream);
    const pt_u64 start = pt_clock();
    const int ret = real___overflow(stream, c);
    put_character(start, pt_clock(), stream, before, ret);
    return ret;
}

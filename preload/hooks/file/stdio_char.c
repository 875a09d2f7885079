/* SPDX-License-Identifier: MIT
 *
 * stdio_char.c - hooks of the functions that move one character.
 *
 * They take 2 ns, so they get no event and no clock: two additions in the thread's own area, which no other thread
 * writes.
 */
#include "stdio.h" /* first: it keeps <stdio.h> from defining what is hooked here */
#include "stdio_char.h"

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

void pt_char_find_functions(void)
{
    PT_RESOLVE(putc);
    PT_RESOLVE(putchar);
}

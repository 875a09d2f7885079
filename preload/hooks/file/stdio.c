/* SPDX-License-Identifier: MIT
 *
 * stdio.c - hooks of blocks, lines, flushes and positions of streams.
 *
 * Entered by any thread of the host. Takes no stream lock of its own; the caller's arguments are read after the real
 * call has used them.
 */
#include "stdio.h"

#include <string.h>

#include "core/sandbox.h"
#include "core/sys.h"

/* -1 is either the end of the file or an error; only the latter has an errno of its own. Where the end was seen, too,
 * the error was one of an earlier call. */
static pt_i64 bytes_or_error(const FILE *stream, pt_i64 bytes)
{
    if (bytes >= 0)
        return bytes;
    return stream && (stream->_flags & (_IO_ERR_SEEN | _IO_EOF_SEEN)) == _IO_ERR_SEEN ? -pt_errno() : 0;
}

void pt_stdio_read(pt_u64 start, pt_u64 end, FILE *stream, pt_i64 bytes)
{
    const int fd = pt_stdio_fd(stream);
    const pt_i64 result = bytes_or_error(stream, bytes);
    pt_spent(PT_EV_stdio_read, start, end, fd, (pt_u64)result, pt_words(pt_fd_path(fd), 0));
}

void pt_stdio_wrote(pt_u64 start, pt_u64 end, FILE *stream, pt_i64 bytes)
{
    const int fd = pt_stdio_fd(stream);
    const pt_i64 result = bytes >= 0 ? bytes : -pt_errno();
    pt_spent(PT_EV_stdio_write, start, end, fd, (pt_u64)result, pt_words(pt_fd_path(fd), 0));
}

static PT_NOINLINE void got_line(pt_u64 start, pt_u64 end, FILE *stream, const char *line)
{
    pt_stdio_read(start, end, stream, line ? (pt_i64)strlen(line) : -1);
}

static PT_NOINLINE void put_text(pt_u64 start, pt_u64 end, FILE *stream, const char *text, int newline, int ret)
{
    pt_stdio_wrote(start, end, stream, ret < 0 ? -1 : (pt_i64)strlen(text) + newline);
}

static PT_NOINLINE void stream_done(pt_u32 kind, pt_u64 start, pt_u64 end, FILE *stream, int ret)
{
    const int fd = pt_stdio_fd(stream);
    pt_spent(kind, start, end, fd, pt_result_and(ret, pt_fd_path(fd)), 0);
}

/* Read, not asked: ftello() would take the stream's lock. As ftello() has it; the buffers of wide streams hold other
 * text than the file. */
static pt_u64 position_plus_1(const FILE *stream)
{
    const pt_i64 unread = stream->_IO_read_end - stream->_IO_read_ptr;
    const int is_known = stream->_mode <= 0 && stream->_IO_write_ptr <= stream->_IO_write_base && stream->_offset >= 0;
    return is_known && unread >= 0 && unread <= stream->_offset ? (pt_u64)(stream->_offset - unread) + 1 : 0;
}

static PT_NOINLINE void seek_done(pt_u64 start, pt_u64 end, FILE *stream, int ret)
{
    const int fd = pt_stdio_fd(stream);
    const pt_u64 at = fd >= 0 && ret == 0 ? position_plus_1(stream) : 0;
    pt_spent(PT_EV_stdio_seek, start, end, fd, pt_result_and(ret, pt_fd_path(fd)), at);
}

/* Where the stream is in its file; -1 = it is in none, or nobody may ask. libc keeps it only once it has moved. */
static PT_NOINLINE pt_i64 position(const FILE *stream)
{
    const int fd = pt_stdio_fd(stream);
    const long of_file = fd >= 0 && stream->_mode <= 0 && pt_may_call() ? pt_syscall3(SYS_lseek, fd, 0, SEEK_CUR) : -1;
    const pt_i64 unread = of_file >= 0 ? stream->_IO_read_end - stream->_IO_read_ptr : 0;
    return unread >= 0 && unread <= of_file ? of_file - unread : -1;
}

/* fread does not say how much of an item it got that it could not finish: nothing of a file that is smaller than the
 * one item asked for. It is asked for where the question costs nothing beside the reading. */
PT_ALWAYS_INLINE pt_i64 position_before_item(const FILE *stream, size_t size)
{
    enum { LARGE_ITEM_BYTES = 1 << 20 };
    return pt_unlikely(size >= LARGE_ITEM_BYTES) ? position(stream) : -1;
}

/* Where the file's position is shared, another process may have moved it: further than was asked for is not believed.
 */
static PT_NOINLINE void read_to_end(pt_u64 start, pt_u64 end, FILE *stream, pt_i64 bytes, pt_i64 asked, pt_i64 before)
{
    const pt_i64 moved = position(stream) - before;
    pt_stdio_read(start, end, stream, moved > bytes && moved < asked ? moved : bytes > 0 ? bytes : -1);
}

PT_ALWAYS_INLINE void got_items(pt_u64 start, pt_u64 end, FILE *stream, pt_i64 bytes, pt_i64 asked, pt_i64 before)
{
    if (pt_unlikely(before >= 0 && bytes < asked))
        read_to_end(start, end, stream, bytes, asked, before);
    else
        pt_stdio_read(start, end, stream, bytes > 0 || asked == 0 ? bytes : -1);
}

/* fwrite has no -1: an error is the 0 of a call that was given something. */
PT_ALWAYS_INLINE void put_items(pt_u64 start, pt_u64 end, FILE *stream, pt_i64 bytes, pt_i64 given)
{
    pt_stdio_wrote(start, end, stream, bytes > 0 || given == 0 ? bytes : -1);
}

#define FREAD(name, parameters, arguments)                                                                             \
    CUSTOM(size_t, name, parameters, arguments)                                                                        \
    size_t name parameters                                                                                             \
    {                                                                                                                  \
        if (pt_unlikely(!pt_switches.stdio))                                                                           \
            return real_##name arguments;                                                                              \
        const pt_i64 before = position_before_item(stream, size);                                                      \
        const pt_u64 start = pt_clock();                                                                               \
        const size_t ret = real_##name arguments;                                                                      \
        got_items(start, pt_clock(), stream, (pt_i64)(ret * size), (pt_i64)(count * size), before);                    \
        return ret;                                                                                                    \
    }

#include "stdio.def"

/* Neither text to write nor text that was read ahead. Streams of wide characters keep theirs elsewhere. */
static int is_empty(const FILE *stream)
{
    return stream->_mode <= 0 && stream->_IO_write_ptr <= stream->_IO_write_base &&
           stream->_IO_read_ptr >= stream->_IO_read_end;
}

/* One that has nothing to do is not recorded: shells make one in each forked child, which would ask the kernel for the
 * name of its output because of it. It may still wait for a thread that holds the stream. */
static int flush(FILE *stream, int (*real)(FILE *))
{
    enum { LEAST_WAIT_TICKS = 1 << 18 }; /* about 0.1 ms */
    if (pt_unlikely(!pt_switches.stdio))
        return real(stream);
    const int has_work = !stream || !is_empty(stream);
    const pt_u64 start = pt_clock();
    const int ret = real(stream);
    const pt_u64 end = pt_clock();
    if (has_work || end - start >= LEAST_WAIT_TICKS)
        stream_done(PT_EV_stdio_flush, start, end, stream, ret);
    return ret;
}

int fflush(FILE *stream)
{
    return flush(stream, real_fflush);
}

int fflush_unlocked(FILE *stream)
{
    return flush(stream, real_fflush_unlocked);
}

int _IO_fflush(FILE *stream)
{
    return flush(stream, real__IO_fflush);
}

void rewind(FILE *stream)
{
    if (pt_unlikely(!pt_switches.stdio)) {
        real_rewind(stream);
        return;
    }
    const pt_u64 start = pt_clock();
    real_rewind(stream);
    seek_done(start, pt_clock(), stream, 0);
}

void pt_stdio_find_functions(void)
{
    PT_RESOLVE(fflush);
    PT_RESOLVE(fputs);
    PT_RESOLVE(fwrite);
}

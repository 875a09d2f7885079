/* SPDX-License-Identifier: MIT
 *
 * shared_counters.c - part of both libraries in the preset coverage, and of nothing else.
 *
 * Owns: where the counters of clang's coverage lie: in a file, mapped by every process that has the library. So nothing
 * has to happen at the end of a process, and those that die by SIGKILL, exec or _exit count, too; fork and exec need no
 * care. Two processes that count at the same instant may lose a count, never that a line was reached.
 *
 * The file bears the hash of the library's function names. With PT_COVERAGE_WRITE=FILE in the environment the process
 * writes the counts there, as llvm-profdata wants them, and ends. Threads: one, in a constructor. Never: calls libc,
 * whose functions are our own hooks in the injected half.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#pragma clang attribute push(__attribute__((no_profile_instrument_function)), apply_to = function)

enum { PAGE = 4096, MOST_BYTES = 64 << 20 };

/* The profile runtime would write a file of its own at exit; that somebody else defines this keeps it from doing so. */
int __llvm_profile_runtime;

extern char __start___llvm_prf_cnts[] __attribute__((visibility("hidden")));
extern char __stop___llvm_prf_cnts[] __attribute__((visibility("hidden")));
extern const char __start___llvm_prf_names[] __attribute__((visibility("hidden")));
extern const char __stop___llvm_prf_names[] __attribute__((visibility("hidden")));
uint64_t __llvm_profile_get_size_for_buffer(void);
int __llvm_profile_write_buffer(char *buffer);

/* The last object of the library: the counters begin at a page, and end at one. */
__attribute__((section("__llvm_prf_cnts"), aligned(PAGE), used)) static char padding[PAGE];

static long call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static void *map(long fd, unsigned long bytes, int flags)
{
    const long at = call(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    return at < 0 && at > -PAGE ? NULL : (void *)at;
}

/* DIRECTORY/proftrace-<hash of the names>: tests that compare the mappings of a host leave out what bears our name. */
static void name_file(char *path)
{
    uint64_t hash = 14695981039346656037ull;
    for (const char *at = __start___llvm_prf_names; at < __stop___llvm_prf_names; at++)
        hash = (hash ^ (uint8_t)*at) * 1099511628211ull;
    for (const char *from = PT_COVERAGE_DIR "/proftrace-"; *from;)
        *path++ = *from++;
    for (int shift = 60; shift >= 0; shift -= 4)
        *path++ = "0123456789abcdef"[hash >> shift & 15];
    *path = 0;
}

static const char *variable(char **environment, const char *name)
{
    for (; *environment; environment++) {
        const char *at = *environment, *wanted = name;
        while (*wanted && *at == *wanted)
            at++, wanted++;
        if (!*wanted && *at == '=')
            return at + 1;
    }
    return NULL;
}

static void write_counts(const char *path)
{
    const unsigned long bytes = __llvm_profile_get_size_for_buffer();
    char *buffer = map(-1, bytes, MAP_PRIVATE | MAP_ANONYMOUS);
    const long fd = call(SYS_open, (long)path, O_WRONLY | O_CREAT | O_TRUNC, 0644, 0, 0, 0);
    const int failed = !buffer || fd < 0 || __llvm_profile_write_buffer(buffer) ||
                       call(SYS_write, fd, (long)buffer, (long)bytes, 0, 0, 0) != (long)bytes;
    call(SYS_exit_group, failed, 0, 0, 0, 0, 0);
}

__attribute__((constructor(101))) static void share_counters(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    char path[sizeof PT_COVERAGE_DIR + 32];
    const unsigned long bytes = (unsigned long)(__stop___llvm_prf_cnts - __start___llvm_prf_cnts);
    name_file(path);
    const long fd = call(SYS_open, (long)path, O_RDWR | O_CREAT | O_CLOEXEC, 0666, 0, 0, 0);
    if (fd < 0 || bytes > MOST_BYTES)
        return;
    if (call(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0) < (long)bytes)
        call(SYS_ftruncate, fd, (long)bytes, 0, 0, 0, 0);
    uint64_t *shared = map(fd, bytes, MAP_SHARED);
    call(SYS_close, fd, 0, 0, 0, 0, 0);
    if (!shared)
        return;
    const uint64_t *early = (const uint64_t *)__start___llvm_prf_cnts; /* counted before this constructor */
    for (unsigned long i = 0; i < bytes / sizeof *early; i++)
        if (early[i])
            shared[i] += early[i];
    call(SYS_mremap, (long)shared, (long)bytes, (long)bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
         (long)__start___llvm_prf_cnts, 0);
    const char *wanted = variable(environment, "PT_COVERAGE_WRITE");
    if (wanted)
        write_counts(wanted);
}

#pragma clang attribute pop

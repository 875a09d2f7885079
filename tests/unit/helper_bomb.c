/* SPDX-License-Identifier: MIT
 *
 * helper_bomb.c - Owns: bombs on disk and the children that read them. Never: measures wall time: other tests run
 * beside this one.
 */
#include "helper_bomb.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "cmd/cmd.h"

#if defined(__has_feature)
#define INSTRUMENTED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INSTRUMENTED 1
#else
#define INSTRUMENTED 0
#endif
/* Instrumented, everything is slower, and shadow memory would count. */
enum { MAX_MIB = INSTRUMENTED ? 4096 : 512, MAX_CPU_S = INSTRUMENTED ? 120 : 60 };

void bomb_begin(struct bomb *bomb)
{
    *bomb = (struct bomb){.folder = "/tmp/proftrace-bomb-XXXXXX"};
    assert_non_null(mkdtemp(bomb->folder));
    struct pt_trace_writer *w = helper_sample();
    pt_u64 n;
    const pt_u8 *bytes = pt_writer_finish(w, &n);
    pt_str_bytes(&bomb->bytes, (const char *)bytes, n);
    pt_trace_writer_free(w);
}

struct pt_file_header *bomb_header(struct bomb *bomb)
{
    return (struct pt_file_header *)(void *)bomb->bytes.text;
}

static void pad(struct pt_str *str, size_t align)
{
    static const char zeros[PT_PAGE_BYTES];
    pt_str_bytes(str, zeros, (align - str->n % align) % align);
}

void bomb_segment(struct bomb *bomb, pt_u16 type, pt_u32 slot, pt_u64 claimed, const struct pt_str *content)
{
    const pt_u64 whole = (sizeof(struct pt_segment) + content->n + PT_PAGE_BYTES - 1) & ~(pt_u64)(PT_PAGE_BYTES - 1);
    const struct pt_segment head = {
        .magic = PT_SEGMENT_MAGIC, .type = type, .bytes = claimed ? claimed : whole, .slot = slot, .serial = 1};
    pt_str_bytes(&bomb->bytes, (const char *)&head, sizeof head);
    pt_str_bytes(&bomb->bytes, pt_str_text(content), content->n);
    pad(&bomb->bytes, PT_PAGE_BYTES);
}

void bomb_block(struct pt_str *content, struct pt_block head, const void *payload, pt_u32 bytes)
{
    const pt_u32 stored = head.stored_bytes;
    head.stored_bytes = bytes; /* what the checksum covers */
    head.encoded_bytes = head.encoded_bytes ? head.encoded_bytes : bytes;
    head.crc = pt_block_crc(&head, payload);
    head.commit = PT_BLOCK_MAGIC;
    head.stored_bytes = stored ? stored : bytes;
    pt_str_bytes(content, (const char *)&head, sizeof head);
    pt_str_bytes(content, payload, bytes);
    pad(content, PT_BLOCK_ALIGN);
}

void bomb_definition(struct pt_str *content, pt_u16 type, pt_u32 id, const void *payload, pt_u32 bytes, pt_u32 claimed)
{
    const pt_u64 whole = (sizeof(struct pt_def) + (pt_u64)(claimed ? claimed : bytes) + 7) & ~7ull;
    const struct pt_def def = {
        .commit = PT_DEF_MAGIC | whole << 32,
        .id = id,
        .type = type,
        .crc = pt_crc32c(0, payload, bytes),
        .payload_bytes = claimed ? claimed : bytes,
    };
    pt_str_bytes(content, (const char *)&def, sizeof def);
    pt_str_bytes(content, payload, bytes);
    pad(content, 8);
}

struct pt_str bomb_frame(pt_u64 expanded, int window_log, int tells_size)
{
    static const char zeros[1 << 20];
    char packed[1 << 16];
    struct pt_str frame = {0};
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, window_log);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_contentSizeFlag, tells_size);
    if (tells_size)
        ZSTD_CCtx_setPledgedSrcSize(zstd, expanded);
    while (expanded) {
        const size_t n = expanded < sizeof zeros ? expanded : sizeof zeros;
        ZSTD_inBuffer in = {zeros, n, 0};
        expanded -= n;
        for (size_t left = 1; in.pos < in.size || (!expanded && left);) {
            ZSTD_outBuffer out = {packed, sizeof packed, 0};
            left = ZSTD_compressStream2(zstd, &out, &in, expanded ? ZSTD_e_continue : ZSTD_e_end);
            assert_false(ZSTD_isError(left));
            pt_str_bytes(&frame, packed, out.pos);
        }
    }
    ZSTD_freeCCtx(zstd);
    return frame;
}

struct pt_str bomb_columns(pt_u32 n, pt_u8 kind)
{
    const struct pt_record_columns head = {.count = n};
    struct pt_str plain = {0}, frame = {0};
    pt_str_bytes(&plain, (const char *)&head, sizeof head);
    for (pt_u32 i = 0; i < n; i++)
        pt_str_char(&plain, (char)kind);
    for (pt_u32 i = 0; i < 2 * n; i++)
        pt_str_char(&plain, 0);
    char packed[1 << 16];
    const size_t bytes = ZSTD_compress(packed, sizeof packed, plain.text, plain.n, 3);
    assert_false(ZSTD_isError(bytes));
    pt_str_bytes(&frame, packed, bytes);
    pt_str_fini(&plain);
    return frame;
}

int bomb_file(struct bomb *bomb, const char *name, const void *bytes, size_t n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", bomb->folder, name);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    return fd;
}

void bomb_write(struct bomb *bomb, pt_u64 bytes)
{
    const int fd = bomb_file(bomb, "100.ptr", bomb->bytes.text, bomb->bytes.n);
    if (bytes > bomb->bytes.n && ftruncate(fd, (off_t)bytes) < 0)
        skip(); /* the file system has no files of that size */
    close(fd);
}

/* ---- reading it ---- */

static void limit(int resource, rlim_t value)
{
    setrlimit(resource, &(struct rlimit){value, value});
}

/* In the child: what main does with a command. */
static int run_command(int argc, char **argv, int errors)
{
    struct pt_error err = {0};
    signal(SIGXCPU, SIG_DFL);
    /* At the hard limit it would be SIGKILL, which says nothing. */
    setrlimit(RLIMIT_CPU, &(struct rlimit){MAX_CPU_S, MAX_CPU_S + 1});
    if (!INSTRUMENTED)
        limit(RLIMIT_DATA, (rlim_t)MAX_MIB << 20);
    if (!freopen("/dev/null", "w", stdout) || dup2(errors, STDERR_FILENO) < 0)
        return 99;
    const int code = pt_command_find(argv[0])->run(argc, argv, &err);
    if (code >= 0)
        return code;
    fprintf(stderr, "%s\n", err.text);
    fflush(stderr);
    return err.exit_code ? err.exit_code : 1;
}

/* How a command ended, and what it took. */
struct ended {
    int status;
    struct rusage used;
    char message[512];
};

static struct ended run_and_wait(int argc, char **argv)
{
    struct ended ended = {0};
    const int errors = memfd_create("errors", MFD_CLOEXEC);
    const pid_t pid = fork();
    if (!pid)
        _exit(run_command(argc, argv, errors));
    assert_int_equal(wait4(pid, &ended.status, 0, &ended.used), pid);
    assert_true(pread(errors, ended.message, sizeof ended.message - 1, 0) >= 0);
    close(errors);
    if (getenv("BOMB_VERBOSE"))
        fprintf(stderr, "%s: status %x, %ld MiB, %ld.%02ld s: %.200s\n", argv[0], (unsigned)ended.status,
                ended.used.ru_maxrss / 1024, (long)(ended.used.ru_utime.tv_sec + ended.used.ru_stime.tv_sec),
                (long)ended.used.ru_utime.tv_usec / 10000, ended.message);
    return ended;
}

static bool is_expected(int code, enum bomb_outcome expected)
{
    return (code == 0 && expected != BOMB_REFUSED) || (code == 3 && expected != BOMB_SALVAGED);
}

static void survive_command(struct bomb *bomb, const char *const *words, enum bomb_outcome expected)
{
    char *argv[8] = {NULL};
    int argc = 0;
    for (; words[argc]; argc++)
        argv[argc] = strcmp(words[argc], "RUN") ? (char *)(size_t)words[argc] : bomb->folder;
    const struct ended ended = run_and_wait(argc, argv);
    if (WIFSIGNALED(ended.status))
        fail_msg("%s: killed by %s (more than %d s of CPU time is SIGXCPU): %s", argv[0],
                 strsignal(WTERMSIG(ended.status)), MAX_CPU_S, ended.message);
    const int code = WEXITSTATUS(ended.status);
    if (ended.used.ru_maxrss / 1024 > MAX_MIB)
        fail_msg("%s: took %ld MiB", argv[0], ended.used.ru_maxrss / 1024);
    if (code == 2 && !strcmp(argv[0], "export") && strstr(ended.message, "too large for a viewer"))
        return;
    if (!is_expected(code, expected))
        fail_msg("%s: exit %d: %s", argv[0], code, ended.message);
    if (code == 3)
        assert_true(strlen(ended.message) > 10);
}

static void remove_folder(const char *folder)
{
    char path[400];
    DIR *directory = opendir(folder);
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path); /* "." and ".." refuse */
    }
    if (directory)
        closedir(directory);
    rmdir(folder);
}

void bomb_survive(struct bomb *bomb, enum bomb_outcome expected)
{
    static const char *const commands[][8] = {
        {"info", "RUN", "--json"},
        {"stats", "RUN", "--by", "stack"},
        {"report", "RUN", "--format", "json"},
        {"dump", "RUN"},
        {"export", "RUN", "--to", "chrome", "-o", "/dev/null"},
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        survive_command(bomb, commands[i], expected);
    remove_folder(bomb->folder);
    pt_str_fini(&bomb->bytes);
}

/* SPDX-License-Identifier: MIT
 *
 * session.c - joins or makes the run directory.
 *
 * Entered by the constructor only, while the process has one thread. Directories are 0700, files 0600, never follows a
 * link, never overwrites a file, never uses a root that belongs to another user.
 */
#include "session.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "proftrace/limits.h"
#include "options.h"
#include "session_page.h"
#include "sys.h"
#include "text.h"

char pt_session_path[PT_RUN_PATH_MAX_BYTES + 2];

static pt_u64 budget_bytes(void)
{
    if (pt_options.budget_mib)
        return pt_options.budget_mib << 20;
    struct statfs fs;
    const int is_known = pt_syscall2(SYS_statfs, pt_session_path, &fs) == 0;
    return pt_default_budget_bytes(is_known ? (pt_u64)fs.f_bavail * (pt_u64)fs.f_bsize : ~0ull,
                                   pt_options.session_ring_mib << 20);
}

/* YYYYMMDD-HHMMSS in UTC: days to civil date by the proleptic Gregorian calendar. */
static void add_stamp(struct pt_text *text, pt_u64 seconds)
{
    const pt_u64 day = seconds / 86400, second = seconds % 86400, z = day + 719468, era = z / 146097, doe = z % 146097;
    const pt_u64 yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365,
                 doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    const pt_u64 mp = (5 * doy + 2) / 153, month = mp < 10 ? mp + 3 : mp - 9;
    pt_text_number(text, yoe + era * 400 + (month <= 2), 4);
    pt_text_number(text, month, 2);
    pt_text_number(text, doy - (153 * mp + 2) / 5 + 1, 2);
    pt_text_byte(text, '-');
    pt_text_number(text, second / 3600, 2);
    pt_text_number(text, second / 60 % 60, 2);
    pt_text_number(text, second % 60, 2);
}

enum directory { OURS, OF_ANOTHER_USER, NOT_THERE };

static enum directory look_at(const char *path)
{
    struct stat info;
    const long fd = pt_syscall3(SYS_open, path, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0)
        return fd == -EACCES ? OF_ANOTHER_USER : NOT_THERE;
    const int is_ours = pt_syscall2(SYS_fstat, fd, &info) == 0 && info.st_uid == (uid_t)pt_syscall0(SYS_geteuid);
    pt_syscall1(SYS_close, fd);
    return is_ours ? OURS : OF_ANOTHER_USER;
}

/* With the folders between, which begin at `from`, where they are missing: a root may be runs/profiling. */
static void make_folder(char *path, size_t from)
{
    if (pt_syscall2(SYS_mkdir, path, 0700) != -ENOENT)
        return;
    for (char *at = path + from; *at; at++)
        if (*at == '/') {
            *at = 0;
            pt_syscall2(SYS_mkdir, path, 0700);
            *at = '/';
        }
    pt_syscall2(SYS_mkdir, path, 0700);
}

/* A symbolic link with a slash behind it would be followed, whatever O_NOFOLLOW says. */
static void cut_slashes(struct pt_text *path)
{
    while (path->length > 1 && path->bytes[path->length - 1] == '/')
        path->bytes[--path->length] = 0;
}

/* The root as an absolute path, made if missing, ours and a real directory. */
static int open_root(struct pt_text *path)
{
    if (pt_options.dir[0] != '/') {
        if (pt_syscall2(SYS_getcwd, path->bytes, path->room) <= 0 || path->bytes[0] != '/')
            return -1;
        path->length = pt_text_length(path->bytes);
        if (path->length > 1)
            pt_text_byte(path, '/');
    }
    /* What is above an absolute path is the user's to make: a wrong one must not litter the system. */
    const size_t from = path->length;
    pt_u64 left = pt_text_length(pt_options.dir); /* without slashes behind it, as above */
    while (left > 1 && pt_options.dir[left - 1] == '/')
        left--;
    /* Not of what is in the buffer: that may be the beginning of a longer one, whose next byte is a slash. */
    if (path->length + left > PT_ROOT_MAX_BYTES)
        return -1;
    for (const char *byte = pt_options.dir; left; left--)
        pt_text_byte(path, *byte++);
    make_folder(path->bytes, from ? from : path->length);
    return look_at(path->bytes) == OURS ? 0 : -1;
}

/* Move <root>/latest to this session: a new link under a private name, then an atomic rename. */
static void move_latest(const char *root, const char *name)
{
    char link[640], latest[640];
    struct pt_text text = {link, 0, sizeof link}, to = {latest, 0, sizeof latest};
    pt_text_add(&text, root);
    pt_text_add(&text, "/.latest-");
    pt_text_add(&text, name);
    pt_text_add(&to, root);
    pt_text_add(&to, "/latest");
    if (pt_syscall2(SYS_symlink, name, link) == 0 && pt_syscall2(SYS_rename, link, latest) != 0)
        pt_syscall1(SYS_unlink, link);
}

static int make_session(const char *command)
{
    char root[PT_ROOT_MAX_BYTES + 2], name[96];
    struct pt_text path = {root, 0, sizeof root};
    if (open_root(&path) < 0)
        return -1;
    for (int attempt = 0; attempt < 8; attempt++) {
        pt_u32 id = 0;
        if (pt_syscall3(SYS_getrandom, &id, sizeof id, GRND_NONBLOCK) != sizeof id)
            id = (pt_u32)pt_sys_clock_ns(CLOCK_MONOTONIC);
        struct pt_text text = {name, 0, sizeof name};
        add_stamp(&text, pt_sys_clock_ns(CLOCK_REALTIME) / 1000000000u);
        pt_text_byte(&text, '-');
        pt_text_file_name(&text, command, 40);
        pt_text_byte(&text, '-');
        pt_text_hex(&text, id, 6);
        struct pt_text full = {pt_session_path, 0, sizeof pt_session_path};
        pt_text_add(&full, root);
        pt_text_byte(&full, '/');
        pt_text_add(&full, name);
        const long made = pt_syscall2(SYS_mkdir, pt_session_path, 0700);
        if (made == 0) {
            pt_session_page_make(pt_session_path, budget_bytes());
            move_latest(root, name);
            return 1;
        }
        if (made != -EEXIST)
            return -1;
    }
    return -1;
}

/* The directory of PROFTRACE_SESSION may be gone, a stale export in a shell, or belong to another user, who could
 * truncate what we map and exchange what we open. */
static enum directory join_session(void)
{
    struct pt_text text = {pt_session_path, 0, sizeof pt_session_path};
    pt_text_add(&text, pt_options.session);
    if (pt_session_path[0] != '/' || text.length + 1 >= text.room)
        return NOT_THERE;
    cut_slashes(&text);
    return look_at(pt_session_path);
}

static int is_mapped(const ElfW(Phdr) * headers, pt_u64 n_headers, const ElfW(Phdr) * part)
{
    for (pt_u64 i = 0; i < n_headers; i++)
        if (headers[i].p_type == PT_LOAD && headers[i].p_flags & PF_R && part->p_vaddr >= headers[i].p_vaddr &&
            part->p_vaddr - headers[i].p_vaddr <= headers[i].p_filesz &&
            part->p_filesz <= headers[i].p_filesz - (part->p_vaddr - headers[i].p_vaddr))
            return 1;
    return 0;
}

static int has_command_note(const char *at, pt_u64 n_bytes)
{
    enum { MASK = PT_COMMAND_NOTE_ALIGN_BYTES - 1 };
    while (n_bytes >= sizeof(ElfW(Nhdr)) + sizeof PT_COMMAND_NOTE_OWNER) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(const void *)at;
        const pt_u64 size = sizeof *note + (((pt_u64)note->n_namesz + MASK) & ~(pt_u64)MASK) +
                            (((pt_u64)note->n_descsz + MASK) & ~(pt_u64)MASK);
        if (note->n_type == PT_COMMAND_NOTE_TYPE && note->n_namesz == sizeof PT_COMMAND_NOTE_OWNER &&
            pt_text_equal(at + sizeof *note, PT_COMMAND_NOTE_OWNER))
            return 1;
        if (size >= n_bytes)
            break;
        at += size;
        n_bytes -= size;
    }
    return 0;
}

/* This program is `proftrace`. What reads a run is none: where LD_PRELOAD is exported, it would make itself the latest
 * run and then report on that. */
static int is_own_command(void)
{
    const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    const pt_u64 n_headers = headers ? getauxval(AT_PHNUM) : 0;
    pt_u64 base = 0;
    int has_base = 0; /* as ld.so finds it; linkers put this row before the notes */
    for (pt_u64 i = 0; i < n_headers; i++) {
        if (headers[i].p_type == PT_PHDR)
            base = (pt_u64)headers - headers[i].p_vaddr, has_base = 1;
        if (has_base && headers[i].p_type == PT_NOTE && headers[i].p_align == PT_COMMAND_NOTE_ALIGN_BYTES &&
            is_mapped(headers, n_headers, &headers[i]) &&
            has_command_note((const char *)(base + headers[i].p_vaddr), headers[i].p_filesz))
            return 1;
    }
    return 0;
}

int pt_session_open(const char *command)
{
    const enum directory session = *pt_options.session ? join_session() : NOT_THERE;
    /* Started as another user: the run that was asked for lists it, and nobody asked for one in its own folder. */
    if (session == OF_ANOTHER_USER && pt_options.dir[0] != '/')
        return -1;
    const int result = session == OURS ? 0 : is_own_command() ? PT_SESSION_OF_OUR_COMMAND : make_session(command);
    if (result >= 0)
        pt_session_page_open(pt_session_path);
    return result;
}

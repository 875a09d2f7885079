/* SPDX-License-Identifier: MIT
 *
 * folder.c - Owns: the folder until it has its name. One thread. Never: adds to what is there, removes what it has not
 * made. */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/fd.h"
#include "util/mem.h"

enum { BUFFER_BYTES = 64 << 10 };

static bool is_empty(const struct pt_out_place *place)
{
    const int fd = openat(place->folder_fd, place->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    bool empty = true;
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        empty = empty && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."));
    if (entries)
        closedir(entries);
    return empty;
}

static int not_empty(const struct pt_out_place *place, struct pt_error *err)
{
    return pt_fail_code(err, 2,
                        "%s has something in it, which readers of the folder would count, too: remove it, or "
                        "name another folder with -o",
                        place->shown);
}

int pt_folder_begin(struct pt_folder *folder, const struct pt_out_place *place, pt_u64 max_bytes, struct pt_error *err)
{
    const mode_t mode = place->folder_fd == AT_FDCWD ? 0777 : 0700;
    unsigned id = (unsigned)getpid();
    *folder = (struct pt_folder){.fd = -1, .place = *place, .max_bytes = max_bytes};
    if (!is_empty(place))
        return not_empty(place, err);
    if (getrandom(&id, sizeof id, GRND_NONBLOCK) < 0)
        id = (unsigned)getpid();
    const size_t n = strlen(place->name);
    folder->temporary = pt_asprintf("%.*s.%08x.new", (int)(n - (n > 1 && place->name[n - 1] == '/')), place->name, id);
    if (mkdirat(place->folder_fd, folder->temporary, mode) == 0)
        folder->fd = openat(place->folder_fd, folder->temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return folder->fd >= 0 ? 0 : pt_fail(err, "cannot make the folder %s: %s", place->shown, strerror(errno));
}

static void fail(struct pt_folder *folder, const char *path)
{
    if (!folder->has_failed)
        pt_fail(&folder->error, "writing %s/%s: %s", folder->place.shown, path, strerror(errno));
    folder->has_failed = true;
}

struct pt_folder_file *pt_folder_file(struct pt_folder *folder, const char *path)
{
    struct pt_folder_file *file = pt_calloc(1, sizeof *file);
    file->path = pt_strdup(path);
    for (char *slash = strchr(file->path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdirat(folder->fd, file->path, 0777) < 0 && errno != EEXIST)
            fail(folder, file->path);
        *slash = '/';
    }
    pt_vec_push(&folder->files, file);
    return file;
}

static void flush(struct pt_folder *folder, struct pt_folder_file *file)
{
    if (!folder->has_failed) {
        PT_AUTO(pt_closep)
        int fd = openat(folder->fd, file->path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0 || pt_fd_write_all(fd, pt_str_text(&file->buffer), file->buffer.n) < 0)
            fail(folder, file->path);
        folder->bytes += file->buffer.n;
    }
    if (folder->max_bytes && folder->bytes > folder->max_bytes && !folder->has_failed) {
        pt_fail_code(&folder->error, 2, "more than %llu bytes", (unsigned long long)folder->max_bytes);
        folder->has_failed = true;
    }
    pt_str_clear(&file->buffer);
}

void pt_folder_wrote(struct pt_folder *folder, struct pt_folder_file *file)
{
    if (file->buffer.n >= BUFFER_BYTES)
        flush(folder, file);
}

int pt_folder_finish(struct pt_folder *folder, struct pt_error *err)
{
    const struct pt_out_place *place = &folder->place;
    for (size_t i = 0; i < folder->files.n; i++)
        flush(folder, folder->files.items[i]);
    if (folder->has_failed) {
        *err = folder->error;
        return -1;
    }
    if (renameat(place->folder_fd, folder->temporary, place->folder_fd, place->name) == 0) {
        close(folder->fd);
        folder->fd = -1;
        return 0;
    }
    if (errno == ENOTEMPTY || errno == EEXIST)
        return not_empty(place, err);
    return pt_fail(err, "naming %s: %s", place->shown, strerror(errno));
}

/* The file, and the folders above it that are empty then. */
static void remove_file(const struct pt_folder *folder, struct pt_folder_file *file)
{
    unlinkat(folder->fd, file->path, 0);
    for (char *slash = strrchr(file->path, '/'); slash; slash = strrchr(file->path, '/')) {
        *slash = 0;
        unlinkat(folder->fd, file->path, AT_REMOVEDIR);
    }
}

void pt_folder_fini(struct pt_folder *folder)
{
    for (size_t i = 0; i < folder->files.n; i++) {
        struct pt_folder_file *file = folder->files.items[i];
        if (folder->fd >= 0)
            remove_file(folder, file);
        pt_str_fini(&file->buffer);
        free(file->path);
        free(file);
    }
    if (folder->fd >= 0) {
        close(folder->fd);
        unlinkat(folder->place.folder_fd, folder->temporary, AT_REMOVEDIR);
    }
    free(folder->files.items);
    free(folder->temporary);
    *folder = (struct pt_folder){.fd = -1};
}

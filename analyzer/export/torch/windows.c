/* SPDX-License-Identifier: MIT
 *
 * torch/windows.c - Owns: the copies while they are made. One thread. Never: follows a link, changes a byte of a trace.
 */
#include "windows.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "torch_file/window.h"
#include "util/auto.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/new_file.h"
#include "util/text/path.h"

struct copies {
    const struct pt_torch_copies *to;
    struct pt_error *err;
    int n;
};

/* The folder of a model, in ours or at the user's path. */
static int make_model_folder(const struct pt_out_place *folder, const char *model, struct pt_error *err)
{
    PT_AUTO(pt_freep) char *path = pt_asprintf("%s%s%s", folder->name, *folder->name ? "/" : "", model);
    if (folder->folder_fd == AT_FDCWD) {
        if (mkdir(path, 0777) == 0 || errno == EEXIST)
            return 0;
    } else {
        PT_AUTO(pt_closep) int fd = pt_folder_make_in(folder->folder_fd, model);
        if (fd >= 0)
            return 0;
    }
    return pt_fail(err, "cannot make the folder %s/%s: %s", folder->shown, model, strerror(errno));
}

static int copy_bytes(int from, struct pt_sink *sink, struct pt_error *err)
{
    for (;;) {
        char *room = pt_sink_room(sink);
        const ssize_t n = read(from, room, PT_SINK_ROOM);
        if (n < 0 && errno != EINTR)
            return pt_fail(err, "cannot read it: %s", strerror(errno));
        if (n == 0 || pt_sink_failed(sink))
            return 0;
        if (n > 0)
            pt_sink_wrote(sink, room + n);
    }
}

static int copy(void *context, int from_folder, const char *model, const char *name)
{
    struct copies *copies = context;
    const struct pt_out_place *folder = copies->to->folder;
    const bool is_packed = pt_ends_with(name, ".gz");
    const char *end = is_packed ? "" : ".gz";
    struct stat st;
    struct pt_sink_result written;
    PT_AUTO(pt_closep)
    int from = pt_fd_above_standard(openat(from_folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (from < 0 || fstat(from, &st) < 0 || !S_ISREG(st.st_mode))
        return 0; /* no trace: reports say so */
    if (make_model_folder(folder, model, copies->err) < 0)
        return -1;
    PT_AUTO(pt_freep) char *shown = pt_asprintf("%s/%s/%s%s", folder->shown, model, name, end);
    PT_AUTO(pt_freep) char *path = pt_asprintf("%s%s%s/%s%s", folder->name, *folder->name ? "/" : "", model, name, end);
    struct pt_sink *sink = pt_sink_open(&(struct pt_out_place){folder->folder_fd, path, shown},
                                        is_packed ? PT_SINK_PLAIN : PT_SINK_PACKED, copies->to->max_bytes, copies->err);
    if (!sink || copy_bytes(from, sink, copies->err) < 0) {
        if (sink)
            pt_sink_abandon(sink);
        return sink ? pt_error_context(copies->err, "torch/%s/%s", model, name) : -1;
    }
    if (pt_sink_close_unnamed(sink, copies->to->files, &written, copies->err) < 0)
        return -1;
    copies->to->bytes->bytes += written.bytes;
    copies->to->bytes->file_bytes += written.file_bytes;
    copies->n++;
    return 0;
}

int pt_torch_export_windows(const struct pt_session *session, const struct pt_torch_copies *to, struct pt_error *err)
{
    struct copies copies = {.to = to, .err = err};
    return pt_torch_files_each(session->path, copy, &copies) < 0 ? -1 : copies.n;
}

/* SPDX-License-Identifier: MIT
 *
 * spawn_place.c - read the file actions of posix_spawn for the directory in which the child looks for its program.
 *
 * Entered by the spawn hooks on any thread. A hook of addchdir_np would have to remember all objects, and exporting it
 * would tell programs on an older libc that it is there. So the list is read as glibc has laid it out since 2.29
 * (posix/spawn_int.h); `start_faults` sees that the libc that is there does so. Never believes a pointer or a kind that
 * it does not know: then the program is unknown.
 */
#include "spawn_place.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>

#include "core/names/intern.h"
#include "core/names/readable.h"
#include "core/sandbox.h"
#include "core/sys.h"
#include "core/text.h"

enum kind { CLOSES, DUPLICATES, OPENS, CHANGES_DIR, CHANGES_DIR_TO, CLOSES_FROM, SETS_GROUP, KINDS };

struct action {
    enum kind kind;
    union {
        int fd; /* closed, opened, or the directory; the first that is closed */
        struct {
            int from, to;
        } copy;
        const char *path;
        char room[24];
    } of;
};
_Static_assert(sizeof(struct action) == 32, "as libc has it");

enum { PATH_ROOM = 4096, MOST_ACTIONS = 4096 };

/* The directory so far: `dir`, and below it the text with a slash at its end. */
struct place {
    int dir;
    int is_known;
    struct pt_text path;
};

static int changes(const struct action *action, int fd)
{
    if (action->kind == DUPLICATES)
        return action->of.copy.to == fd;
    if (action->kind == CLOSES_FROM)
        return action->of.fd <= fd;
    return (action->kind == CLOSES || action->kind == OPENS) && action->of.fd == fd;
}

/* The descriptor is the child's: what was done to it before, we cannot see. */
static void enter_descriptor(struct place *place, const struct action *actions, int index)
{
    place->dir = actions[index].of.fd;
    place->path.length = 0;
    place->is_known = place->dir >= 0;
    for (int i = 0; i < index; i++)
        if (changes(&actions[i], place->dir))
            place->is_known = 0;
}

static void append(struct place *place, const char *path, const char *end)
{
    struct pt_reader reader = {1};
    const long length = pt_readable_length(&reader, path, PATH_ROOM);
    if (length <= 0 || place->path.length + (pt_u64)length + 2 > place->path.room) {
        place->is_known = 0;
        return;
    }
    if (path[0] == '/') {
        place->path.length = 0;
        place->dir = AT_FDCWD;
        place->is_known = 1;
    }
    pt_text_add(&place->path, path);
    pt_text_add(&place->path, end);
}

static void follow(struct place *place, const struct action *actions, int count)
{
    struct pt_reader reader = {1};
    for (int i = 0; i < count; i++) {
        const struct action *action = &actions[i];
        const char *last = (const char *)(action + 1) - 1;
        if (!pt_is_readable(&reader, action) || !pt_is_readable(&reader, last) || action->kind >= KINDS) {
            place->is_known = 0;
            return;
        }
        if (action->kind == CHANGES_DIR)
            append(place, action->of.path, "/");
        else if (action->kind == CHANGES_DIR_TO)
            enter_descriptor(place, actions, i);
    }
}

static int has_actions(const posix_spawn_file_actions_t *list)
{
    struct pt_reader reader = {1};
    return list && pt_is_readable(&reader, list) && pt_is_readable(&reader, list->__pad) && list->__used > 0 &&
           list->__used <= MOST_ACTIONS;
}

struct pt_target pt_target_of_spawn(const char *path, const void *actions)
{
    const posix_spawn_file_actions_t *list = actions;
    struct pt_reader reader = {1};
    if (!pt_may_call() || !has_actions(list) || pt_readable_length(&reader, path, PATH_ROOM) <= 0 || path[0] == '/')
        return pt_target_at(AT_FDCWD, path, 0);
    char *room = pt_sys_map(PATH_ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct place place = {AT_FDCWD, room != 0, {room, 0, room ? PATH_ROOM : 0}};
    follow(&place, (const struct action *)list->__actions, list->__used);
    append(&place, path, "");
    const struct pt_target target = place.is_known ? pt_target_at(place.dir, room, 0)
                                                   : (struct pt_target){PT_VERDICT_UNKNOWN, pt_intern_string(path)};
    if (room)
        pt_syscall2(SYS_munmap, room, PATH_ROOM);
    return target;
}

struct pt_target pt_target_of_spawn_search(const char *name, const void *actions)
{
    return name && strchr(name, '/') ? pt_target_of_spawn(name, actions) : pt_target_search(name);
}

/* SPDX-License-Identifier: MIT
 *
 * names.c - Owns: the strings, stacks, modules and absolute paths behind ids. Threads: any for strings, channels and
 * absolute paths, one at a time for all else (caches fill as names are asked for). Never: follows parents in a circle:
 * a parent stands before its child in the session.
 */
#include "names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/codec.h"
#include "util/auto.h"
#include "util/mem.h"
#include "util/str.h"
#include "util/text/path.h"
#include "session_data.h"

/* The loader knows a library by the name under which it was found: "./plugin.so" of dlopen, or of a relative
 * LD_LIBRARY_PATH. "linux-vdso.so.1" is no file. */
static const char *path_of_module(struct pt_process_data *data, const void *path, pt_u32 bytes)
{
    const char *text = pt_arena_text(&data->arena, path, bytes), *cwd = data->shown.cwd;
    if (text[0] == '/' || !strchr(text, '/') || cwd[0] != '/')
        return text;
    PT_AUTO(pt_str_fini) struct pt_str joined = {0};
    pt_path_join(&joined, cwd, text);
    return pt_arena_text(&data->arena, joined.text, (pt_u32)joined.n);
}

static void add_module(struct pt_process_data *data, const struct pt_definition *def)
{
    struct pt_process *p = &data->shown;
    struct pt_def_module head;
    if (def->bytes < sizeof head)
        return;
    memcpy(&head, def->payload, sizeof head);
    if (head.build_id_bytes > def->bytes - sizeof head ||
        head.path_bytes > def->bytes - sizeof head - head.build_id_bytes)
        return;
    struct pt_module *module = &p->modules[p->n_modules++];
    const pt_u8 *rest = def->payload + sizeof head;
    *module = (struct pt_module){.start = head.start, .end = head.end, .load_bias = head.load_bias};
    module->since_ns = pt_scale_time(&data->scale, def->ticks);
    module->build_id_bytes =
        head.build_id_bytes < sizeof module->build_id ? head.build_id_bytes : sizeof module->build_id;
    memcpy(module->build_id, rest, module->build_id_bytes);
    module->path = path_of_module(data, rest + head.build_id_bytes, head.path_bytes);
}

void pt_process_fill_names(struct pt_process_data *data)
{
    struct pt_process *p = &data->shown;
    const struct pt_trace_file *file = p->file;
    size_t modules = 0, untraced = 0;
    for (size_t i = 0; i < file->definitions.n; i++) {
        modules += file->definitions.items[i].type == PT_DEF_MODULE;
        untraced += file->definitions.items[i].type == PT_DEF_UNTRACED;
    }
    p->modules = pt_calloc(modules, sizeof *p->modules);
    p->untraced = pt_calloc(untraced, sizeof *p->untraced);
    for (size_t i = 0; i < file->definitions.n; i++) {
        const struct pt_definition *def = &file->definitions.items[i];
        struct pt_map *map = def->type == PT_DEF_STRING  ? &data->strings
                             : def->type == PT_DEF_STACK ? &data->stacks
                                                         : NULL;
        if (map) {
            uint64_t *place = pt_map_at(map, def->id);
            *place = *place ? *place : (uintptr_t)def; /* of an id that is defined twice, the first definition counts */
            if (map == &data->strings && def->id > data->last_string)
                data->last_string = def->id;
        } else if (def->type == PT_DEF_MODULE) {
            add_module(data, def);
        }
    }
}

/* A definition by id, here or where the id was inherited; a definition that the parent made after the fork does not
 * count for the child. */
static const struct pt_definition *find(const struct pt_process *process, pt_u32 id, bool is_stack,
                                        const struct pt_process **ret_owner)
{
    pt_i64 until_ns = INT64_MAX;
    for (; process; process = process->forked_from) {
        const struct pt_process_data *data = pt_process_data_of(process);
        const struct pt_definition *def = pt_map_pointer(is_stack ? &data->stacks : &data->strings, id);
        if (def && pt_scale_time(&data->scale, def->ticks) <= until_ns) {
            *ret_owner = process;
            return def;
        }
        until_ns = process->start_ns - process->cut_ns + 1000000;
    }
    return NULL;
}

static const char *find_string(const struct pt_process *process, pt_u32 id)
{
    const struct pt_process *owner;
    const struct pt_definition *def = find(process, id, false, &owner);
    return def ? (const char *)def->payload : NULL;
}

const char *pt_process_next_string(const struct pt_process *process, size_t *at, pt_i64 *ret_ns)
{
    const struct pt_trace_file *file = process->file;
    while (*at < file->definitions.n) {
        const struct pt_definition *def = &file->definitions.items[(*at)++];
        if (def->type != PT_DEF_STRING)
            continue;
        *ret_ns = pt_scale_time(&pt_process_data_of(process)->scale, def->ticks);
        return (const char *)def->payload;
    }
    return NULL;
}

static pt_u64 n_events(const struct pt_trace_file *file)
{
    pt_u64 n = 0;
    for (size_t i = 0; i < file->slots.n; i++)
        for (int which = 0; which < PT_BUFFER__COUNT; which++)
            n = pt_sum(n, file->slots.items[i].blocks[which].events);
    return n;
}

static struct pt_texts *new_texts(const struct pt_process_data *data)
{
    pt_u32 last = 0;
    for (const struct pt_process *p = &data->shown; p; p = p->forked_from)
        last = pt_process_data_of(p)->last_string > last ? pt_process_data_of(p)->last_string : last;
    const pt_u32 wanted = last < PT_MOST_TEXTS ? last + 1 : PT_MOST_TEXTS;
    const pt_u32 n = wanted <= n_events(data->shown.file) ? wanted : 0;
    struct pt_texts *texts = pt_calloc(1, sizeof *texts + n * (2 * sizeof texts->text[0] + sizeof texts->channel[0]));
    texts->n = n;
    texts->absolute = texts->text + n;
    texts->channel = (pt_u8 *)(texts->absolute + n);
    return texts;
}

/* Several threads may make the table at once: the first one is kept. */
static struct pt_texts *texts_of(struct pt_process_data *data)
{
    struct pt_texts *texts = __atomic_load_n(&data->texts, __ATOMIC_ACQUIRE), *none = NULL;
    if (texts)
        return texts;
    texts = new_texts(data);
    if (__atomic_compare_exchange_n(&data->texts, &none, texts, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return texts;
    free(texts);
    return none;
}

const char *pt_process_string(const struct pt_process *process, pt_u32 id)
{
    if (!id)
        return "";
    struct pt_texts *texts = texts_of(pt_process_data_of(process));
    if (id >= texts->n)
        return find_string(process, id);
    const char *known = __atomic_load_n(&texts->text[id], __ATOMIC_RELAXED);
    if (known)
        return known;
    known = find_string(process, id);
    __atomic_store_n(&texts->text[id], known, __ATOMIC_RELAXED);
    return known;
}

enum pt_channel pt_channel_of_path(const char *path)
{
    switch (path ? *path : '/') {
    case 't':
        return !strncmp(path, "tcp ", 4) || !strncmp(path, "tcp6 ", 5) ? PT_CHANNEL_NETWORK : PT_CHANNEL_FILE;
    case 'u':
        if (!strncmp(path, "udp ", 4) || !strncmp(path, "udp6 ", 5))
            return PT_CHANNEL_NETWORK;
        return !strncmp(path, "unix", 4) ? PT_CHANNEL_LOCAL : PT_CHANNEL_FILE;
    case 'p':
        return !strncmp(path, "pipe:", 5) ? PT_CHANNEL_LOCAL : PT_CHANNEL_FILE;
    case 's':
        return !strncmp(path, "socket:", 7) ? PT_CHANNEL_LOCAL : PT_CHANNEL_FILE;
    case 'a':
        return !strncmp(path, "anon_inode:", 11) ? PT_CHANNEL_LOCAL : PT_CHANNEL_FILE;
    default:
        return PT_CHANNEL_FILE;
    }
}

/* "tcp bound 127.0.0.1:80": it has no other side. */
bool pt_is_listening(const char *path)
{
    const char *space = strchr(path, ' ');
    return space && !strncmp(space, " bound ", 7) && strncmp(path, "udp", 3) != 0;
}

enum pt_channel pt_process_channel(const struct pt_process *process, pt_u32 id)
{
    if (!id)
        return PT_CHANNEL_FILE;
    struct pt_texts *texts = texts_of(pt_process_data_of(process));
    if (id >= texts->n)
        return pt_channel_of_path(find_string(process, id));
    pt_u8 known = __atomic_load_n(&texts->channel[id], __ATOMIC_RELAXED);
    if (!known) {
        known = (pt_u8)(pt_channel_of_path(pt_process_string(process, id)) + 1);
        __atomic_store_n(&texts->channel[id], known, __ATOMIC_RELAXED);
    }
    return (enum pt_channel)(known - 1);
}

static struct pt_frames *read_frames(struct pt_arena *arena, const struct pt_definition *def)
{
    struct pt_frames *stack = pt_arena_alloc(arena, sizeof *stack + def->bytes * sizeof stack->frames[0]);
    stack->n = 0;
    pt_u64 last = 0, value = 0;
    pt_u32 shift = 0;
    for (pt_u32 i = 0; i < def->bytes; i++) {
        value |= shift < 64 ? (pt_u64)(def->payload[i] & 0x7f) << shift : 0;
        shift += 7;
        if (def->payload[i] & 0x80)
            continue;
        last += (pt_u64)pt_unzigzag(value);
        stack->frames[stack->n++] = last;
        value = shift = 0;
    }
    return stack;
}

pt_u32 pt_process_stack(const struct pt_process *process, pt_u32 id, const pt_u64 **ret_frames)
{
    const struct pt_process *owner;
    const struct pt_definition *def = id ? find(process, id, true, &owner) : NULL;
    if (!def)
        return 0;
    struct pt_process_data *data = pt_process_data_of(owner);
    uint64_t *cached = pt_map_at(&data->frames, id);
    if (!*cached)
        *cached = (uintptr_t)read_frames(&data->arena, def);
    const struct pt_frames *stack = (const struct pt_frames *)(uintptr_t)*cached;
    *ret_frames = stack->frames;
    return stack->n;
}

const char *pt_process_allocator(const struct pt_process *process)
{
    static const char *const names[] = {
#define ALLOCATOR_FILE(beginning) beginning,
#include "proftrace/allocators.def"
#undef ALLOCATOR_FILE
    };
    for (pt_u32 i = 0; i < process->n_modules; i++) {
        const char *name = pt_base_name(process->modules[i].path);
        for (size_t j = 0; j < sizeof names / sizeof *names; j++)
            if (!strncmp(name, names[j], strlen(names[j])))
                return name;
    }
    return NULL;
}

const struct pt_module *pt_process_module(const struct pt_process *process, pt_u64 address, pt_i64 at_ns)
{
    for (; process; process = process->forked_from) {
        const struct pt_module *best = NULL, *any = NULL;
        for (pt_u32 i = 0; i < process->n_modules; i++) {
            const struct pt_module *m = &process->modules[i];
            if (address < m->start || address >= m->end)
                continue;
            any = any ? any : m;
            if (m->since_ns <= at_ns && (!best || m->since_ns >= best->since_ns))
                best = m;
        }
        /* A module is recorded some time after it was mapped: an earlier address in its range belongs to it, too. */
        if (best || any)
            return best ? best : any;
    }
    return NULL;
}

/* ---- absolute paths ---- */

/* n directories and n names make n * n paths: beyond this limit, a name is shown as the program gave it. */
enum { MAX_PATHS_BYTES = 128 << 20 };

static bool is_absolute(const char *path)
{
    return path[0] == '/';
}

/* "tcp 127.0.0.1:80", "unix /run/x", "udp bound [::]:53", "tcp socket": the forms of preload/core/names/socket_name.h.
 */
static bool is_socket(const char *path)
{
    static const char *const protocols[] = {"tcp ", "udp ",     "unix ",  "sctp ", "icmp ",
                                            "ip ",  "netlink ", "vsock ", "other "};
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++) {
        const size_t n = strlen(protocols[i]);
        if (!strncmp(path, protocols[i], n))
            return path[n] &&
                   (strchr("0123456789[/@", path[n]) || !strncmp(path + n, "bound ", 6) || !strcmp(path + n, "socket"));
    }
    return false;
}

/* Not a path of the file system: pipe:[1], socket:[2], anon_inode:[eventfd], and sockets, named by their other end. */
static bool is_pseudo(const char *path)
{
    if (is_socket(path))
        return true;
    const char *colon = strchr(path, ':');
    return colon && colon[1] == '[' && !memchr(path, '/', (size_t)(colon - path));
}

static const char *make_path(struct pt_process *process, pt_u32 path_id, pt_u32 dir_id)
{
    struct pt_session_data *session = (struct pt_session_data *)process->session;
    const char *path = pt_process_string(process, path_id), *dir = dir_id ? pt_process_string(process, dir_id) : NULL;
    if (!path || !*path || is_pseudo(path) ||
        (!is_absolute(path) && !(dir && is_absolute(dir)) && !is_absolute(process->cwd)))
        return pt_intern_text(&session->paths, path ? path : "?");
    struct pt_str joined = {0}, normal = {0};
    if (!is_absolute(path)) {
        if (!dir || !is_absolute(dir))
            pt_str_add(&joined, process->cwd);
        if (dir && *dir) {
            pt_str_char(&joined, '/');
            pt_str_add(&joined, dir);
        }
        pt_str_char(&joined, '/');
    }
    pt_str_add(&joined, path);
    pt_path_normalise(&normal, joined.text);
    session->paths_bytes += normal.n;
    const char *interned = pt_intern_bytes(&session->paths, normal.text, normal.n);
    pt_str_fini(&joined);
    pt_str_fini(&normal);
    return interned;
}

/* Below a directory that nobody could name: not the working directory. */
static const char *make_path_below(struct pt_process *process, pt_u32 path_id, pt_u32 dir_id)
{
    struct pt_session_data *session = (struct pt_session_data *)process->session;
    const char *path = pt_process_string(process, path_id), *dir = dir_id ? pt_process_string(process, dir_id) : NULL;
    if (!path || !*path || is_absolute(path) || !dir || strcmp(dir, "?") != 0)
        return make_path(process, path_id, dir_id);
    struct pt_str joined = {0};
    pt_str_add(&joined, "?/");
    pt_str_add(&joined, path);
    session->paths_bytes += joined.n;
    const char *interned = pt_intern_bytes(&session->paths, joined.text, joined.n);
    pt_str_fini(&joined);
    return interned;
}

/* Of all processes: made paths are shared by them. */
static pthread_mutex_t paths_lock = PTHREAD_MUTEX_INITIALIZER;

static const char *find_path(struct pt_process *process, pt_u32 path, pt_u32 dir_path)
{
    struct pt_process_data *data = pt_process_data_of(process);
    const struct pt_session_data *session = (const struct pt_session_data *)process->session;
    if (session->paths_bytes > MAX_PATHS_BYTES) {
        const uint64_t *made = pt_map_find(&data->paths, (uint64_t)dir_path << 32 | path);
        const char *name = pt_process_string(process, path);
        return made ? (const char *)(uintptr_t)*made : name ? name : "?";
    }
    uint64_t *cached = pt_map_at(&data->paths, (uint64_t)dir_path << 32 | path);
    if (!*cached)
        *cached = (uintptr_t)make_path_below(process, path, dir_path);
    return (const char *)(uintptr_t)*cached;
}

/* Analyses of both threads of the pass ask, for each event of a file: a lock that each takes once for a name costs
 * nothing, where one for each event does. */
const char *pt_process_absolute_path(struct pt_process *process, pt_u32 path, pt_u32 dir_path)
{
    const struct pt_texts *texts = texts_of(pt_process_data_of(process));
    const char **place = !dir_path && path < texts->n ? &texts->absolute[path] : NULL;
    const char *found = place ? __atomic_load_n(place, __ATOMIC_ACQUIRE) : NULL;
    if (found)
        return found;
    pthread_mutex_lock(&paths_lock);
    found = find_path(process, path, dir_path);
    pthread_mutex_unlock(&paths_lock);
    if (place)
        __atomic_store_n(place, found, __ATOMIC_RELEASE);
    return found;
}

void pt_process_fill_untraced(struct pt_process_data *data)
{
    struct pt_process *p = &data->shown;
    for (size_t i = 0; i < p->file->definitions.n; i++) {
        const struct pt_definition *def = &p->file->definitions.items[i];
        if (def->type != PT_DEF_UNTRACED)
            continue;
        const char *path = pt_process_string(p, def->id);
        p->untraced[p->n_untraced++] = (struct pt_untraced){path ? path : "?", (const char *)def->payload,
                                                            pt_scale_time(&data->scale, def->ticks)};
    }
}

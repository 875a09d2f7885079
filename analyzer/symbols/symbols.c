/* SPDX-License-Identifier: MIT
 *
 * symbols.c - lookups, each made once.
 *
 * Owns: the files that were opened (also those that could not be) and all frames given out. One thread. Never: gives
 * out a text of the session: they are copied. Modules are known by address: one session for each pt_symbols. */
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

#include "source/trace_file.h"
#include "util/map.h"
#include "util/mem.h"
#include "util/text/path.h"
#include "util/vec.h"
#include "demangle.h"
#include "symbol_cache.h"
#include "symbol_file.h"

struct known_file {
    const char *path; /* interned */
    pt_u8 build_id[64];
    pt_u32 build_id_bytes;
    struct pt_elf_stamp stamp;   /* of when `frames` were found */
    bool is_another;             /* there is a file now, but not that one */
    bool may_be_copy;            /* but as large */
    struct pt_symbol_file *file; /* NULL = cannot be used, or was not needed yet */
    bool was_opened;
    struct pt_map frames; /* address in the file -> struct found * */
};

struct found {
    pt_u32 n;
    struct pt_frame frames[];
};

/* CLOCK_REALTIME at both ends of the run, within what clocks differ; 0 and UINT64_MAX = not known. */
struct span {
    pt_u64 from_ns, until_ns;
};

struct pt_symbols {
    struct pt_intern texts;
    struct {
        PT_VEC(struct known_file *);
    } files;
    struct pt_map by_path;   /* interned path -> the struct known_file * last found by it */
    struct pt_map by_module; /* const struct pt_module * -> struct known_file * */
    struct pt_map unknown;   /* address without a module -> struct found * */
    char *folder;            /* of the cache; NULL = none is used */
    bool has_news;           /* for it */
    enum pt_symbol_cache_there there;
    struct span run;
};

static struct known_file *add_file(struct pt_symbols *symbols, const char *path, const pt_u8 *build_id, pt_u32 bytes)
{
    struct known_file *known = pt_calloc(1, sizeof *known);
    known->path = path;
    known->build_id_bytes = bytes;
    if (bytes)
        memcpy(known->build_id, build_id, bytes);
    known->stamp = symbols->folder ? pt_elf_image_stamp(path, build_id, bytes) : (struct pt_elf_stamp){0};
    pt_vec_push(&symbols->files, known);
    return known;
}

static const char *text_or_null(struct pt_symbols *symbols, const char *text)
{
    return text && *text ? pt_intern_text(&symbols->texts, text) : NULL;
}

/* ---- the cache ---- */

static struct found *found_in_cache(struct pt_symbols *symbols, const char *path, const struct pt_symbol_cache *cache,
                                    const struct pt_cached_address *address)
{
    struct found *found = pt_calloc(1, sizeof *found + address->n * sizeof *found->frames);
    found->n = address->n;
    for (pt_u32 i = 0; i < found->n; i++) {
        const struct pt_cached_frame *frame = &cache->frames.items[address->first + i];
        found->frames[i] = (struct pt_frame){.function = text_or_null(symbols, frame->function),
                                             .file = text_or_null(symbols, frame->file),
                                             .line = frame->line,
                                             .module = path,
                                             .near = text_or_null(symbols, frame->near)};
    }
    return found;
}

/* Of a file without a build-id only its time tells that it is another one: a library that was built anew after the run
 * would give the run the functions and lines of the other build. One that the run itself built is its own. */
static bool may_be_of_run(const struct pt_symbols *symbols, const char *path, pt_u32 build_id_bytes)
{
    return build_id_bytes || pt_elf_image_stamp(path, NULL, 0).numbers[1] <= symbols->run.until_ns;
}

static bool can_be_opened(const struct pt_symbols *symbols, const char *path, const pt_u8 *build_id,
                          pt_u32 build_id_bytes)
{
    struct pt_elf_image image;
    if (!may_be_of_run(symbols, path, build_id_bytes))
        return false;
    const bool is_here = pt_elf_image_open(&image, path, build_id, build_id_bytes);
    pt_elf_image_close(&image);
    return is_here;
}

/* Without a build-id the size and time prove it, also where it is older, as `cp -p` and rsync make it; but what came
 * during the run may be what the run used in the end. */
static bool is_another(const struct pt_symbols *symbols, const struct pt_cached_file *file,
                       const struct pt_elf_stamp *now)
{
    const bool was_made_meanwhile = now->numbers[1] >= symbols->run.from_ns && now->numbers[1] <= symbols->run.until_ns;
    const bool was_of_run = file->stamp.numbers[0] && file->stamp.numbers[1] <= symbols->run.until_ns;
    return !file->build_id_bytes && was_of_run && now->numbers[0] && memcmp(now, &file->stamp, sizeof *now) != 0 &&
           !was_made_meanwhile;
}

/* A run that was copied to where its programs, or their debug files, are not keeps its names, and so does one whose
 * programs were built anew. */
static bool still_holds(const struct pt_symbols *symbols, const char *path, const struct pt_cached_file *file,
                        const struct pt_elf_stamp *now)
{
    if (is_another(symbols, file, now) || (symbols->folder && !memcmp(now, &file->stamp, sizeof *now)))
        return true;
    const bool lost_debug_file = symbols->folder && file->stamp.numbers[2] && !now->numbers[2];
    return lost_debug_file || !can_be_opened(symbols, path, file->build_id, file->build_id_bytes);
}

static void read_cache(struct pt_symbols *symbols, const char *folder)
{
    struct pt_symbol_cache cache;
    symbols->there = pt_symbol_cache_read(folder, &cache);
    if (symbols->there != PT_CACHE_READ)
        return;
    for (size_t at = 0; at < cache.files.n; at++) {
        const struct pt_cached_file *file = &cache.files.items[at];
        const char *path = pt_intern_text(&symbols->texts, file->path);
        const struct pt_elf_stamp now = pt_elf_image_stamp(path, file->build_id, file->build_id_bytes);
        if (!still_holds(symbols, path, file, &now))
            continue;
        struct known_file *known = add_file(symbols, path, file->build_id, file->build_id_bytes);
        known->is_another = is_another(symbols, file, &now);
        known->may_be_copy = now.numbers[0] == file->stamp.numbers[0];
        known->stamp = known->is_another ? file->stamp : known->stamp;
        for (pt_u32 i = file->first; i < file->first + file->n; i++) {
            uint64_t *const slot = pt_map_at(&known->frames, cache.addresses.items[i].address);
            if (!*slot)
                *slot = (uintptr_t)found_in_cache(symbols, path, &cache, &cache.addresses.items[i]);
        }
    }
    pt_symbol_cache_fini(&cache);
}

static void add_to_cache(struct pt_symbol_cache *cache, const struct known_file *known)
{
    struct pt_cached_file file = {.path = known->path,
                                  .build_id_bytes = known->build_id_bytes,
                                  .stamp = known->stamp,
                                  .first = (pt_u32)cache->addresses.n};
    memcpy(file.build_id, known->build_id, known->build_id_bytes);
    for (size_t i = 0; i < known->frames.n; i++) {
        const struct found *found = (const struct found *)(uintptr_t)known->frames.entries[i].value;
        if (known->is_another && !found->frames->function)
            continue; /* it may be known where the file is back */
        file.n++;
        pt_vec_push(&cache->addresses,
                    ((struct pt_cached_address){
                        .address = known->frames.entries[i].key, .n = found->n, .first = (pt_u32)cache->frames.n}));
        for (pt_u32 j = 0; j < found->n; j++)
            pt_vec_push(&cache->frames, ((struct pt_cached_frame){found->frames[j].function, found->frames[j].file,
                                                                  found->frames[j].line, found->frames[j].near}));
    }
    pt_vec_push(&cache->files, file);
}

/* Of memory, such as "/memfd:code (deleted)", and of a deleted file without a build-id nothing is found anywhere. */
static bool may_be_found(const struct known_file *known)
{
    return *known->path == '/' && (known->build_id_bytes || !pt_ends_with(known->path, " (deleted)"));
}

static bool has_all_files(const struct pt_symbols *symbols)
{
    for (size_t i = 0; i < symbols->files.n; i++)
        if (may_be_found(symbols->files.items[i]) && symbols->files.items[i]->frames.n &&
            !symbols->files.items[i]->file)
            return false;
    return true;
}

/* What could not be read may have names that are found no more: only better ones take its place. */
static bool may_write_cache(const struct pt_symbols *symbols)
{
    return symbols->has_news && symbols->folder && symbols->there != PT_CACHE_UNREADABLE &&
           (symbols->there != PT_CACHE_OF_OTHER_VERSION || has_all_files(symbols));
}

static void write_cache(const struct pt_symbols *symbols)
{
    struct pt_symbol_cache cache = {0};
    for (size_t i = 0; i < symbols->files.n; i++)
        if (*symbols->files.items[i]->path && symbols->files.items[i]->frames.n)
            add_to_cache(&cache, symbols->files.items[i]);
    pt_symbol_cache_write(symbols->folder, &cache);
    pt_symbol_cache_fini(&cache);
}

/* What a server of debug files gives may come and go: nothing of it is kept, and of what was kept only that is taken
 * whose file is not here. */
static bool may_keep(const char *folder)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    return folder && (!urls || !*urls);
}

static struct pt_symbols *open_for(const char *folder, struct span run)
{
    struct pt_symbols *symbols = pt_calloc(1, sizeof *symbols);
    symbols->run = run;
    symbols->folder = may_keep(folder) ? pt_strdup(folder) : NULL;
    if (folder)
        read_cache(symbols, folder);
    return symbols;
}

struct pt_symbols *pt_symbols_open(const char *folder)
{
    return open_for(folder, (struct span){0, UINT64_MAX});
}

/* By the clock of each process, too: where it was set forward during the run, what the run built afterwards would be
 * newer than a run whose end is counted from its start. */
static struct span span_of(const struct pt_session *session)
{
    const pt_u64 clocks_differ_ns = 2000000000; /* a file server has its own */
    const pt_u64 start_ns = session->start_realtime_ns;
    struct span run = {start_ns > clocks_differ_ns ? start_ns - clocks_differ_ns : 0, 0};
    pt_u64 until_ns;
    if (!start_ns || __builtin_add_overflow(start_ns, (pt_u64)session->duration_ns + clocks_differ_ns, &run.until_ns))
        return (struct span){run.from_ns, UINT64_MAX};
    /* Also by those that had ended before a window: what they built is theirs. */
    for (pt_u32 i = 0; i < session->n_processes + session->n_before_window; i++) {
        const struct pt_process *process = session->processes[i];
        const pt_i64 began_ns = process->start_ns - process->cut_ns; /* when its clock showed start_realtime_ns */
        const pt_u64 rest_ns = (pt_u64)(session->duration_ns - began_ns) + clocks_differ_ns;
        if (!__builtin_add_overflow(process->start_realtime_ns, rest_ns, &until_ns) && until_ns > run.until_ns)
            run.until_ns = until_ns;
    }
    return run;
}

struct pt_symbols *pt_symbols_of_session(const struct pt_session *session)
{
    return open_for(session->path, span_of(session));
}

static void free_found(struct pt_map *map)
{
    for (size_t i = 0; i < map->n; i++)
        free((void *)(uintptr_t)map->entries[i].value);
    pt_map_fini(map);
}

void pt_symbols_close(struct pt_symbols *symbols)
{
    if (may_write_cache(symbols))
        write_cache(symbols);
    free(symbols->folder);
    for (size_t i = 0; i < symbols->files.n; i++) {
        struct known_file *known = symbols->files.items[i];
        free_found(&known->frames);
        pt_symbol_file_close(known->file);
        free(known);
    }
    free(symbols->files.items);
    free_found(&symbols->unknown);
    pt_map_fini(&symbols->by_path);
    pt_map_fini(&symbols->by_module);
    pt_intern_fini(&symbols->texts);
    free(symbols);
}

static bool is_build(const struct known_file *known, const char *path, const pt_u8 *build_id, pt_u32 bytes)
{
    return known->path == path && known->build_id_bytes == bytes &&
           (!bytes || !memcmp(known->build_id, build_id, bytes));
}

/* Processes share a file when path and build-id are the same. */
static struct known_file *known_of(struct pt_symbols *symbols, const char *path, const pt_u8 *build_id, pt_u32 bytes)
{
    path = pt_intern_text(&symbols->texts, path);
    uint64_t *const last = pt_map_at(&symbols->by_path, (uintptr_t)path);
    struct known_file *known = (struct known_file *)(uintptr_t)*last;
    if (known && is_build(known, path, build_id, bytes))
        return known;
    known = NULL;
    for (size_t i = 0; i < symbols->files.n && !known; i++)
        if (is_build(symbols->files.items[i], path, build_id, bytes))
            known = symbols->files.items[i];
    if (!known)
        known = add_file(symbols, path, build_id, bytes);
    *last = (uintptr_t)known;
    return known;
}

static struct known_file *file_of(struct pt_symbols *symbols, const struct pt_module *module)
{
    uint64_t *const slot = pt_map_at(&symbols->by_module, (uintptr_t)module);
    if (!*slot)
        *slot = (uintptr_t)known_of(symbols, module->path ? module->path : "", module->build_id,
                                    module->build_id_bytes <= 64 ? module->build_id_bytes : 0);
    return (struct known_file *)(uintptr_t)*slot;
}

static const char *readable_name(struct pt_symbols *symbols, const char *name)
{
    char *demangled = name ? pt_demangle(name) : NULL;
    const char *text = text_or_null(symbols, demangled ? demangled : name);
    free(demangled);
    return text;
}

/* `file`: NULL = none can be used. */
static struct found *look_into(struct pt_symbols *symbols, const struct known_file *known, struct pt_symbol_file *file,
                               pt_u64 address)
{
    struct pt_symbol list[PT_MAX_INLINED];
    const pt_u32 n = file ? pt_symbol_file_find(file, address, list) : 0;
    struct found *found = pt_calloc(1, sizeof *found + (n ? n : 1) * sizeof *found->frames);
    found->n = n ? n : 1;
    for (pt_u32 i = 0; i < found->n; i++) {
        found->frames[i].module = known ? known->path : NULL;
        if (!n)
            continue;
        found->frames[i].function = readable_name(symbols, list[i].function);
        found->frames[i].file = text_or_null(symbols, list[i].source);
        found->frames[i].line = list[i].line;
        found->frames[i].near = readable_name(symbols, list[i].near);
    }
    return found;
}

/* All their texts are interned. */
static bool is_same(const struct found *a, const struct found *b)
{
    bool is_same = a->n == b->n;
    for (pt_u32 i = 0; is_same && i < a->n; i++)
        is_same = a->frames[i].function == b->frames[i].function && a->frames[i].file == b->frames[i].file &&
                  a->frames[i].line == b->frames[i].line;
    return is_same;
}

/* A copy of the run's file, as another venv has it, gives what was kept the same names. */
static bool is_copy(struct pt_symbols *symbols, const struct known_file *known, struct pt_symbol_file *file)
{
    enum { ENOUGH = 1000 };
    pt_u32 n = 0;
    for (size_t i = 0; i < known->frames.n && n < ENOUGH; i++) {
        const struct found *kept = (const struct found *)(uintptr_t)known->frames.entries[i].value;
        if (!kept || !kept->frames->function)
            continue;
        struct found *now = look_into(symbols, known, file, known->frames.entries[i].key);
        const bool is_as_kept = is_same(kept, now);
        free(now);
        if (!is_as_kept)
            return false;
        n++;
    }
    return n > 0;
}

static struct pt_symbol_file *opened(struct pt_symbols *symbols, struct known_file *known)
{
    if (!known->was_opened && (!known->is_another || known->may_be_copy) &&
        may_be_of_run(symbols, known->path, known->build_id_bytes))
        known->file = pt_symbol_file_open(known->path, known->build_id, known->build_id_bytes);
    if (!known->was_opened && known->file && known->is_another && !is_copy(symbols, known, known->file)) {
        pt_symbol_file_close(known->file);
        known->file = NULL;
    }
    known->was_opened = true;
    return known->file;
}

static struct found *look_up(struct pt_symbols *symbols, struct known_file *known, pt_u64 address)
{
    symbols->has_news |= known != NULL;
    return look_into(symbols, known, known ? opened(symbols, known) : NULL, address);
}

static const struct pt_frame *frames_at(struct pt_symbols *symbols, struct known_file *known, pt_u64 address,
                                        pt_u32 *ret_n)
{
    uint64_t *const slot = pt_map_at(known ? &known->frames : &symbols->unknown, address);
    if (!*slot)
        *slot = (uintptr_t)look_up(symbols, known, address);
    const struct found *found = (const struct found *)(uintptr_t)*slot;
    *ret_n = found->n;
    return found->frames;
}

const struct pt_frame *pt_symbolize_file(struct pt_symbols *symbols, const char *path, const pt_u8 *build_id,
                                         pt_u32 build_id_bytes, pt_u64 address, pt_u32 *ret_n)
{
    return frames_at(symbols, known_of(symbols, path, build_id, build_id_bytes <= 64 ? build_id_bytes : 0), address,
                     ret_n);
}

const struct pt_frame *pt_symbolize(struct pt_symbols *symbols, const struct pt_process *process, pt_u64 address,
                                    pt_i64 at_ns, pt_u32 *ret_n)
{
    /* The call is before its return address, perhaps in another line or, for a call that never returns, at the very
     * end of its function. */
    const pt_u64 at = address ? address - 1 : 0;
    const struct pt_module *module = pt_process_module(process, at, at_ns);
    struct known_file *known = module ? file_of(symbols, module) : NULL;
    return frames_at(symbols, known, module ? at - module->load_bias : at, ret_n);
}

/* SPDX-License-Identifier: MIT
 *
 * Owns: the names, processes, devices and places of the analysis of GPUs. Threads: one. Never: keeps more than the
 * limits: later ones share one entry.
 */
#include "state.h"

#include <string.h>

#include "torch_file/window.h"
#include "util/auto.h"
#include "util/str.h"

/* ---- names ---- */

const char *pt_gpu_text(struct pt_gpu *gpu, const char *text)
{
    if (!text)
        return NULL;
    return gpu->texts.n < PT_GPU_MOST_TEXTS ? pt_intern_text(&gpu->texts, text) : pt_intern_known(&gpu->texts, text);
}

const char *pt_gpu_own_text(struct pt_gpu *gpu, const char *text)
{
    return pt_intern_text(&gpu->texts, text);
}

pt_u64 pt_gpu_text_hash(const char *text)
{
    pt_u64 hash = 0xcbf29ce484222325ull;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
    return pt_hash_pair(hash, 0) | 1;
}

/* "/data/images-000042.jpg" becomes "/data/images-*.jpg": a thousand files of a data set are one place. */
static const char *folded(struct pt_gpu *gpu, const char *path)
{
    PT_AUTO(pt_str_fini) struct pt_str out = {0};
    for (; *path; path++)
        if (*path < '0' || *path > '9')
            pt_str_char(&out, *path);
        else if (path[1] < '0' || path[1] > '9')
            pt_str_char(&out, '*');
    return pt_gpu_text(gpu, pt_str_text(&out));
}

const char *pt_gpu_string(struct pt_gpu *gpu, const struct pt_process *process, pt_u32 id, bool is_folded)
{
    if (!id)
        return NULL;
    const pt_u64 known = pt_id_map_get(&gpu->texts_of_ids[is_folded], process->index, id);
    if (known)
        return (const char *)(uintptr_t)known;
    const char *text = pt_process_string(process, id);
    const char *kept = !text ? NULL : is_folded ? folded(gpu, text) : pt_gpu_text(gpu, text);
    if (kept && gpu->texts_of_ids[is_folded].others.n < 4 * PT_GPU_MOST_TEXTS)
        *pt_id_map_at(&gpu->texts_of_ids[is_folded], process->index, id) = (uintptr_t)kept;
    return kept;
}

/* ProfilerStep#7 of torch.profiler; "step", "step 7", "step_7" of other programs. */
static bool is_step(const char *name)
{
    return pt_torch_is_step(name) ||
           (!strncmp(name, "step", 4) &&
            (!name[4] || ((name[4] == ' ' || name[4] == '_') && name[5] >= '0' && name[5] <= '9')));
}

const char *pt_gpu_range_name(struct pt_gpu *gpu, const struct pt_process *process, pt_u32 id, bool *ret_is_step)
{
    const char *raw = pt_process_string(process, id);
    *ret_is_step = raw && is_step(raw);
    return *ret_is_step && raw[0] == 'P' ? pt_gpu_own_text(gpu, "ProfilerStep#*")
                                         : pt_gpu_string(gpu, process, id, *ret_is_step);
}

/* ---- processes ---- */

struct pt_gpu_process *pt_gpu_process_of(struct pt_gpu *gpu, const struct pt_process *process)
{
    struct pt_gpu_process **slot = &gpu->processes[process->index];
    if (!*slot) {
        *slot = pt_calloc(1, sizeof **slot);
        (*slot)->yielded_ns = -1;
    }
    return *slot;
}

/* ---- devices ---- */

/* Processes that see one device each call all of them 0. */
static pt_u32 free_number(const struct pt_gpu *gpu, pt_u32 stage, pt_u32 number)
{
    for (size_t i = 0; i < gpu->devices.n; i++)
        if (gpu->devices.items[i]->stage == stage && gpu->devices.items[i]->number == number) {
            number++;
            i = (size_t)-1;
        }
    return number;
}

struct pt_gpu_device *pt_gpu_device_at(struct pt_gpu *gpu, const struct pt_process *process, pt_u32 number,
                                       pt_u32 *ret_index)
{
    const pt_u32 stage = pt_gpu_stage_of(gpu, process);
    const pt_u64 *id = pt_map_find(&gpu->device_ids, (pt_u64)process->index << 32 | number);
    pt_u64 key = pt_hash_pair(stage, id ? *id : number);
    if (gpu->devices.n >= PT_GPU_MOST_DEVICES && !pt_map_find(&gpu->by_device, key))
        key = pt_hash_pair(stage, ~0ull);
    pt_u64 *slot = pt_map_at(&gpu->by_device, key);
    if (!*slot) {
        struct pt_gpu_device *device = pt_calloc(1, sizeof *device);
        device->stage = stage;
        device->number = free_number(gpu, stage, number);
        pt_vec_push(&gpu->devices, device);
        *slot = gpu->devices.n;
    }
    if (ret_index)
        *ret_index = (pt_u32)*slot - 1;
    return gpu->devices.items[*slot - 1];
}

/* Events before its description have made a device without an id: it is the same one, unless it got another id
 * since. */
struct pt_gpu_device *pt_gpu_device_named(struct pt_gpu *gpu, const struct pt_process *process, pt_u32 number,
                                          const char *uuid)
{
    const pt_u32 stage = pt_gpu_stage_of(gpu, process);
    if (uuid && gpu->device_ids.n < PT_GPU_MOST_TEXTS) {
        const pt_u64 *unnamed = pt_map_find(&gpu->by_device, pt_hash_pair(stage, number));
        const pt_u64 id_of_uuid = pt_gpu_text_hash(uuid);
        const pt_u64 slot = unnamed && *unnamed && !gpu->devices.items[*unnamed - 1]->is_named ? *unnamed : 0;
        *pt_map_at(&gpu->device_ids, (pt_u64)process->index << 32 | number) = id_of_uuid;
        if (slot && !pt_map_find(&gpu->by_device, pt_hash_pair(stage, id_of_uuid)))
            *pt_map_at(&gpu->by_device, pt_hash_pair(stage, id_of_uuid)) = slot;
    }
    struct pt_gpu_device *device = pt_gpu_device_at(gpu, process, number, NULL);
    device->is_named = uuid != NULL;
    return device;
}

/* ---- places ---- */

pt_u32 pt_gpu_place_at(struct pt_gpu *gpu, const struct pt_gpu_place *wanted)
{
    struct pt_gpu_place place = *wanted;
    for (;;) {
        const pt_u64 what = (pt_u64)place.device << 16 | (pt_u64)place.cause << 8 | place.inner;
        const pt_u64 who = (pt_u64)place.holder_tid << 32 | place.tid;
        const pt_u64 key =
            pt_hash_pair(pt_hash_pair(what, who), pt_hash_pair((uintptr_t)place.text, (uintptr_t)place.process));
        const pt_u64 *known = pt_map_find(&gpu->by_place, key);
        if (known)
            return (pt_u32)*known - 1;
        if (gpu->places.n < PT_GPU_MOST_PLACES || (!place.text && !place.process && !place.holder_tid)) {
            pt_vec_push(&gpu->places, place);
            *pt_map_at(&gpu->by_place, key) = gpu->places.n;
            return (pt_u32)gpu->places.n - 1;
        }
        /* Too many: the cause stays true, the place is lost. */
        place.text = NULL;
        place.process = NULL;
        place.holder_tid = place.tid = 0;
    }
}

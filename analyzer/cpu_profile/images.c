/* SPDX-License-Identifier: MIT
 *
 * images.c - Owns: the mappings of living processes. Threads: main only. Never: grows for a process that has ended, or
 * without a limit for one that maps and unmaps.
 */
#include "images.h"

#include <stdlib.h>
#include <string.h>

/* The kernel itself allows 65530 mappings; it reports new ones only, so a just-in-time compiler would fill the
 * table. */
#define MAPPINGS_MAX 8192u

struct pt_image *pt_images_of(struct pt_images *images, pt_u32 pid)
{
    pt_u64 *slot = pt_map_at(&images->by_pid, pid);
    if (!*slot)
        *slot = (uintptr_t)pt_calloc(1, sizeof(struct pt_image));
    return (struct pt_image *)(uintptr_t)*slot;
}

void pt_images_fork(struct pt_images *images, pt_u32 parent, pt_u32 child)
{
    pt_images_end(images, child);
    struct pt_image *copy = pt_images_of(images, child);
    const struct pt_image *from = pt_map_pointer(&images->by_pid, parent);
    if (!from || !from->n)
        return;
    copy->items = pt_malloc(from->n * sizeof *from->items);
    memcpy(copy->items, from->items, from->n * sizeof *from->items);
    copy->n = copy->capacity = from->n;
}

void pt_images_exec(struct pt_images *images, pt_u32 pid)
{
    pt_images_of(images, pid)->n = 0;
}

static void free_image(struct pt_image *image)
{
    if (image)
        free(image->items);
    free(image);
}

void pt_images_end(struct pt_images *images, pt_u32 pid)
{
    pt_u64 *slot = pt_map_find(&images->by_pid, pid);
    if (!slot)
        return;
    free_image((struct pt_image *)(uintptr_t)*slot);
    *slot = 0;
}

void pt_images_fini(struct pt_images *images)
{
    for (size_t i = 0; i < images->by_pid.n; i++)
        free_image((struct pt_image *)(uintptr_t)images->by_pid.entries[i].value);
    pt_map_fini(&images->by_pid);
}

/* ---- one image ---- */

/* The first mapping that ends after the address. */
static size_t first_after(const struct pt_image *image, pt_u64 address)
{
    size_t low = 0, high = image->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (image->items[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

const struct pt_mapping *pt_image_find(const struct pt_image *image, pt_u64 address)
{
    const size_t at = first_after(image, address);
    return at < image->n && image->items[at].start <= address ? &image->items[at] : NULL;
}

static void insert(struct pt_image *image, size_t at, struct pt_mapping mapping)
{
    pt_vec_push(image, mapping); /* for the room */
    memmove(image->items + at + 1, image->items + at, (image->n - 1 - at) * sizeof *image->items);
    image->items[at] = mapping;
}

/* Remove older mappings there: the whole of one, its head, its tail or its middle. */
static void cut_out(struct pt_image *image, pt_u64 start, pt_u64 end)
{
    size_t at = first_after(image, start);
    if (at < image->n && image->items[at].start < start) {
        struct pt_mapping rest = image->items[at];
        image->items[at++].end = start;
        if (rest.end > end) {
            rest.file_offset += end - rest.start;
            rest.start = end;
            insert(image, at, rest);
            return;
        }
    }
    size_t last = at;
    while (last < image->n && image->items[last].end <= end)
        last++;
    if (last > at)
        memmove(image->items + at, image->items + last, (image->n - last) * sizeof *image->items);
    image->n -= last - at;
    if (at < image->n && image->items[at].start < end) {
        image->items[at].file_offset += end - image->items[at].start;
        image->items[at].start = end;
    }
}

void pt_image_map(struct pt_image *image, const struct pt_mapping *mapping)
{
    if (mapping->end <= mapping->start)
        return;
    cut_out(image, mapping->start, mapping->end);
    if (image->n < MAPPINGS_MAX)
        insert(image, first_after(image, mapping->start), *mapping);
}

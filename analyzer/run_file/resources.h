/* SPDX-License-Identifier: MIT
 *
 * resources.h - the resources of resources.def as an enum and a table. The launcher writes samples of them into
 * run.json, the reader takes them from there; both know a resource by its name only.
 */
#ifndef PT_RUN_FILE_RESOURCES_H
#define PT_RUN_FILE_RESOURCES_H

enum pt_resource {
#define RESOURCE(id, merge, label, summary) PT_RESOURCE_##id,
#include "resources.def"
#undef RESOURCE
    PT_RESOURCE__COUNT
};

enum pt_merge { PT_MERGE_MEAN, PT_MERGE_MAX, PT_MERGE_TOTAL };

struct pt_resource_row {
    const char *id;
    enum pt_merge merge;
    const char *label, *summary;
};

/* By enum pt_resource. */
extern const struct pt_resource_row pt_resources[PT_RESOURCE__COUNT];

#endif

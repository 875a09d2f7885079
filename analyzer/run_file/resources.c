/* SPDX-License-Identifier: MIT
 *
 * resources.c - Owns: the table of resources, made from resources.def. Threads: any, it is constant.
 */
#include "resources.h"

const struct pt_resource_row pt_resources[PT_RESOURCE__COUNT] = {
#define RESOURCE(id, merge, label, summary) {#id, PT_MERGE_##merge, label, summary},
#include "resources.def"
#undef RESOURCE
};

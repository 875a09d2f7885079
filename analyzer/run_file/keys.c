/* SPDX-License-Identifier: MIT
 *
 * run_file/keys.c - Owns: the table of keys. Threads: any. Never: knows a key that is not in run_file.def.
 */
#include "keys.h"

#define IN_RUN(member) offsetof(struct pt_run_info, member)
#define IN_LAUNCHER(member) offsetof(struct pt_run_info, launcher.member)
#define IN_MACHINE(member) offsetof(struct pt_run_info, member)
#define IN_PIPELINE(member) offsetof(struct pt_run_info, pipeline.member)
#define IN_THRESHOLDS(member) offsetof(struct pt_run_info, pipeline.thresholds.member)
#define IN_QUALITY(member) offsetof(struct pt_run_quality, member)
#define IN_STAGE(member) offsetof(struct pt_run_stage, member)
#define IN_RESOURCE(member) offsetof(struct pt_run_resource, member)
#define IN_LEFT(member) offsetof(struct pt_run_left, member)
#define IN_UNTRACED(member) offsetof(struct pt_run_untraced, member)

const struct pt_run_key pt_run_keys[] = {
#define KEY(section, key, member, type) {PT_RUN_##section, #key, PT_RUN_##type, IN_##section(member), 0, 0},
#define OBJECT(section, key, inside, type) {PT_RUN_##section, #key, PT_RUN_##type, 0, PT_RUN_##inside, 0},
#define MAYBE(section, key, member, inside)                                                                            \
    {PT_RUN_##section, #key, PT_RUN_OBJECT_OR_NULL, IN_##section(member), PT_RUN_##inside, 0},
#define LIST(section, key, member, inside, type)                                                                       \
    {PT_RUN_##section, #key, PT_RUN_##type, IN_##section(member), PT_RUN_##inside, IN_##section(n_##member)},
#include "run_file.def"
#undef KEY
#undef OBJECT
#undef MAYBE
#undef LIST
    {0, NULL, 0, 0, 0, 0},
};

static const struct pt_run_key *next_of(const struct pt_run_key *from, enum pt_run_section section)
{
    for (; from->key; from++)
        if (from->section == section)
            return from;
    return NULL;
}

const struct pt_run_key *pt_run_first_key(enum pt_run_section section)
{
    return next_of(pt_run_keys, section);
}

const struct pt_run_key *pt_run_next_key(const struct pt_run_key *key)
{
    return next_of(key + 1, key->section);
}

size_t pt_run_item_bytes(enum pt_run_section section)
{
    static const size_t bytes[] = {
        [PT_RUN_QUALITY] = sizeof(struct pt_run_quality),
        [PT_RUN_STAGE] = sizeof(struct pt_run_stage),
        [PT_RUN_LEFT] = sizeof(struct pt_run_left),
        [PT_RUN_UNTRACED] = sizeof(struct pt_run_untraced),
    };
    return bytes[section];
}

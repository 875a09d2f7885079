/* SPDX-License-Identifier: MIT
 *
 * layers_missing.h - which families of calls a stage did not record, so that their numbers are unknown and not 0.
 */
#ifndef PT_PROFILE_LAYERS_MISSING_H
#define PT_PROFILE_LAYERS_MISSING_H

#include "model/layers.h"
#include "profile.h"

/* Why calls of these layers (1 << enum pt_layer) are not all known of a stage: one of its processes did not record
 * them. NULL = they are. */
const char *pt_profile_why_not_recorded(const struct pt_profile *profile, pt_u32 stage, pt_u32 layers);

#endif

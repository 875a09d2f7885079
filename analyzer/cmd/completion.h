/* SPDX-License-Identifier: MIT
 *
 * completion.h - the scripts of completion/, made to texts by scripts/cmake/embed.cmake.
 */
#ifndef PT_CMD_COMPLETION_H
#define PT_CMD_COMPLETION_H

extern const char pt_completion_bash[], pt_completion_zsh[], pt_completion_fish[];

#endif

/* SPDX-License-Identifier: MIT
 *
 * Owns: finding a caller without tables. Threads: main only. State: none. Never: takes a word for a return address
 * because it looks like one: a call stands before it, and from there the walk goes on.
 */
#include "caller_search.h"

#include "code_bytes.h"

enum { TABLES_LEAD_ON = 3, TRIAL_MAX = 64, TRIES_MAX = 32 };

enum pt_frame_step pt_caller_by_frame_pointer(const struct pt_caller_search *search, struct pt_frame_regs *regs)
{
    const pt_u64 rbp = regs->value[PT_CFI_RBP];
    pt_u64 words[2];
    if (!(regs->known >> PT_CFI_RBP & 1) || rbp < regs->value[PT_CFI_RSP] || rbp & 7 ||
        !pt_stack_read(search->stack, rbp, &words[0]) || !pt_stack_read(search->stack, rbp + 8, &words[1]))
        return PT_FRAME_CUT;
    /* A caller that uses rbp for something else has anything in it. */
    if (words[0] <= rbp &&
        (!words[1] || pt_call_before(search->modules, search->image, search->pid, words[1]) == PT_NO_CALL))
        return PT_FRAME_CUT;
    regs->value[PT_CFI_RBP] = words[0];
    regs->value[PT_CFI_RIP] = words[1];
    regs->value[PT_CFI_RSP] = rbp + 16;
    return words[1] ? PT_FRAME_CALLER : PT_FRAME_END;
}

static enum pt_frame_step step_by_tables(const struct pt_caller_search *search, struct pt_frame_regs *regs)
{
    const pt_u64 at = regs->value[PT_CFI_RIP] - 1;
    const struct pt_mapping *mapping = pt_image_find(search->image, at);
    struct pt_cfi *cfi = mapping ? pt_code_module_use(search->modules, mapping->module, (pid_t)search->pid) : NULL;
    const enum pt_frame_step result =
        cfi ? pt_cfi_step(cfi, pt_cfi_address(cfi, at - mapping->start + mapping->file_offset), search->stack, regs)
            : PT_FRAME_NO_INFO;
    return result == PT_FRAME_CALLER &&
                   pt_call_before(search->modules, search->image, search->pid, regs->value[PT_CFI_RIP]) == PT_NO_CALL
               ? PT_FRAME_NO_INFO
               : result;
}

static bool leads_on(const struct pt_caller_search *search, struct pt_frame_regs regs)
{
    enum pt_frame_step result = PT_FRAME_CALLER;
    int n = 0;
    for (; n < TRIAL_MAX && result == PT_FRAME_CALLER; n++)
        result = step_by_tables(search, &regs);
    return result == PT_FRAME_END || (n > TABLES_LEAD_ON && result != PT_FRAME_NO_INFO);
}

enum { PUSHED = 6, ATTEMPTS = PUSHED + 2 };

/* What the caller had in rbp: among the registers that were pushed right behind the return address, or there still. It
 * counts where it points to the caller's part of the stack. The last attempt does without. */
static bool take_rbp(const struct pt_caller_search *search, const struct pt_frame_regs *regs, pt_u64 at, pt_u64 attempt,
                     struct pt_frame_regs *caller)
{
    const pt_u64 pushed_at = at - 8 * (attempt + 1);
    pt_u64 rbp = regs->value[PT_CFI_RBP], word;
    caller->known = 1u << PT_CFI_RIP | 1u << PT_CFI_RSP;
    if (attempt > PUSHED)
        return true;
    if (attempt < PUSHED && (pushed_at < regs->value[PT_CFI_RSP] || !pt_stack_read(search->stack, pushed_at, &rbp)))
        return false;
    caller->known |= 1u << PT_CFI_RBP;
    caller->value[PT_CFI_RBP] = rbp;
    return rbp > at && !(rbp & 7) && pt_stack_read(search->stack, rbp, &word);
}

/* `at`: where the return address may lie. A search that finds nothing must end before the next sample comes:
 * `tries_left` counts the words from which it was tried to go on. */
static bool is_caller(const struct pt_caller_search *search, const struct pt_frame_regs *regs, pt_u64 at,
                      int *tries_left, struct pt_frame_regs *ret_caller)
{
    pt_u64 word;
    struct pt_frame_regs caller = *regs;
    if (!pt_stack_read(search->stack, at, &word))
        return false;
    const struct pt_mapping *mapping = pt_image_find(search->image, word - 1);
    if (!mapping || mapping->module->path[0] != '/' ||
        pt_call_before(search->modules, search->image, search->pid, word) != PT_CALL_BY_POINTER)
        return false;
    --*tries_left;
    caller.value[PT_CFI_RIP] = word;
    caller.value[PT_CFI_RSP] = at + 8;
    for (pt_u64 attempt = 0; attempt < ATTEMPTS; attempt++)
        if (take_rbp(search, regs, at, attempt, &caller) && leads_on(search, caller)) {
            *ret_caller = caller;
            return true;
        }
    return false;
}

bool pt_caller_on_top(const struct pt_caller_search *search, struct pt_frame_regs *regs)
{
    int tries_left = 1;
    return is_caller(search, regs, regs->value[PT_CFI_RSP], &tries_left, regs);
}

enum pt_frame_step pt_caller_by_search(const struct pt_caller_search *search, struct pt_frame_regs *regs)
{
    pt_u64 at = (regs->value[PT_CFI_RSP] + 7) & ~7ull, word;
    int tries_left = TRIES_MAX;
    for (; tries_left && pt_stack_read(search->stack, at, &word); at += 8)
        if (is_caller(search, regs, at, &tries_left, regs))
            return PT_FRAME_CALLER;
    return PT_FRAME_CUT;
}

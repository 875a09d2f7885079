/* SPDX-License-Identifier: MIT
 *
 * unwind.c - Owns: the walk from frame to frame. Threads: main only. State: none. Never: walks for ever.
 */
#include "unwind.h"

#include "caller_search.h"

static void load_registers(struct pt_frame_regs *regs, const pt_u64 *kernel)
{
    /* By DWARF's numbers; rip comes last. */
    static const pt_u8 order[16] = {PT_REG_RAX,    PT_REG_RDX,    PT_REG_RCX,    PT_REG_RBX,
                                    PT_REG_RSI,    PT_REG_RDI,    PT_REG_RBP,    PT_REG_RSP,
                                    PT_REG_R8,     PT_REG_R8 + 1, PT_REG_R8 + 2, PT_REG_R8 + 3,
                                    PT_REG_R8 + 4, PT_REG_R8 + 5, PT_REG_R8 + 6, PT_REG_R15};
    for (int i = 0; i < 16; i++)
        regs->value[i] = kernel[order[i]];
    regs->value[PT_CFI_RIP] = kernel[PT_REG_RIP];
    regs->known = (1u << PT_CFI_REGS) - 1;
}

static enum pt_frame_step step(const struct pt_caller_search *from, pt_u64 at, struct pt_frame_regs *regs,
                               struct pt_code_place *ret_place)
{
    const struct pt_mapping *mapping = pt_image_find(from->image, at);
    *ret_place = (struct pt_code_place){PT_CPU_MODULE_UNKNOWN, at};
    if (!mapping)
        return pt_caller_by_frame_pointer(from, regs);
    struct pt_cfi *cfi = pt_code_module_use(from->modules, mapping->module, (pid_t)from->pid);
    const pt_u64 offset = at - mapping->start + mapping->file_offset;
    const pt_u64 address = cfi ? pt_cfi_address(cfi, offset) : offset;
    *ret_place = (struct pt_code_place){mapping->module->number, address};
    enum pt_frame_step result = cfi ? pt_cfi_step(cfi, address, from->stack, regs) : PT_FRAME_NO_INFO;
    const bool is_innermost = at == regs->value[PT_CFI_RIP];
    if (!cfi && is_innermost && pt_caller_on_top(from, regs))
        return PT_FRAME_CALLER;
    if (result == PT_FRAME_NO_INFO)
        result = pt_caller_by_frame_pointer(from, regs);
    return result == PT_FRAME_CUT && !cfi ? pt_caller_by_search(from, regs) : result;
}

void pt_unwind(struct pt_code_modules *modules, const struct pt_image *image, pt_u32 pid,
               const struct pt_perf_sample *sample, struct pt_unwound *ret_stack)
{
    struct pt_frame_regs regs;
    ret_stack->n = 0;
    ret_stack->is_cut = true;
    if (!sample->regs)
        return;
    load_registers(&regs, sample->regs);
    const struct pt_stack_copy stack = {sample->stack, regs.value[PT_CFI_RSP], sample->stack_bytes};
    const struct pt_caller_search from = {modules, image, pid, &stack};
    enum pt_frame_step result = PT_FRAME_SIGNAL; /* the first address is that of the instruction itself */
    while (ret_stack->n < PT_CPU_DEPTH_MAX) {
        const pt_u64 at = regs.value[PT_CFI_RIP] - (result == PT_FRAME_CALLER);
        result = step(&from, at, &regs, &ret_stack->frames[ret_stack->n]);
        const bool is_nowhere =
            ret_stack->frames[ret_stack->n].module == PT_CPU_MODULE_UNKNOWN && result == PT_FRAME_CUT;
        /* An address in no mapping that leads nowhere was never code, unless it is where the thread really is. */
        ret_stack->n += !(is_nowhere && ret_stack->n);
        if (result == PT_FRAME_END || result == PT_FRAME_CUT)
            break;
    }
    ret_stack->is_cut = result != PT_FRAME_END;
}

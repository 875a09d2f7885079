/* SPDX-License-Identifier: MIT
 *
 * private.c - makes a thread's working memory and switches to its stack.
 *
 * Entered with all signals blocked. Never uses the host's heap.
 */
#include "private.h"

#include "start_memory.h"
#include "sys.h"
#include "valgrind.h"

/* CFI through rbp, so that the unwinder finds the host's frames behind a foreign stack pointer. A signal frame, because
 * only behind one of those gdb believes that the stack goes on at a lower address: a thread that it stops in here would
 * have a backtrace without the program in it. */
__asm__(".pushsection .text.pt_call_on_stack,\"ax\",@progbits\n"
        ".globl pt_call_on_stack\n"
        ".hidden pt_call_on_stack\n"
        ".type pt_call_on_stack, @function\n"
        "pt_call_on_stack:\n"
        "    .cfi_startproc\n"
        "    .cfi_signal_frame\n"
        "    endbr64\n"
        "    pushq %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbp, -16\n"
        "    movq %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    movq %rdx, %rsp\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    call *%rax\n"
        "    movq %rbp, %rsp\n"
        "    popq %rbp\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size pt_call_on_stack, .-pt_call_on_stack\n"
        ".popsection\n");

/* Else valgrind takes a switch to it for one frame of up to 2 MB, and all that lies between for undefined. */
static void announce_stack(const char *stack, pt_u64 bytes)
{
    if (pt_is_below_valgrind) /* the request itself needs an aligned stack, which a host's is not always */
        pt_valgrind(PT_VALGRIND_STACK_REGISTER, (pt_u64)stack, (pt_u64)stack + bytes - 1);
}

struct pt_private *pt_private_new(void)
{
    return pt_privates_new(1);
}

struct pt_private *pt_privates_new(pt_u32 count)
{
    struct pt_private *privates = pt_start_memory(count * sizeof(struct pt_private));
    for (pt_u32 i = 0; privates && i < count; i++) {
        announce_stack(privates[i].stack, sizeof privates[i].stack);
        announce_stack(privates[i].inner_stack, sizeof privates[i].inner_stack);
    }
    return privates;
}

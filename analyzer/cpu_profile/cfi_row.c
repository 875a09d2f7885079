/* SPDX-License-Identifier: MIT
 *
 * cfi_row.c - Owns: the meaning of unwind tables: rows, and DWARF expressions where a row is not enough. Threads: main
 * only. State: none. Never: reads memory beyond the copied stack, believes that a stack grows towards its callers
 * downwards.
 */
#include "cfi_row.h"

#include <dwarf.h>

/* kind:3, where rbp was saved:2, offset of the CFA:24, offset of rbp:24 */
enum saved { SAVED_NOT, SAVED_AT_CFA, SAVED_AT_RBP };
enum { OFFSET_BITS = 24, SAVED_SHIFT = 3, CFA_SHIFT = 5, RBP_SHIFT = CFA_SHIFT + OFFSET_BITS };

static bool fits(pt_i64 offset)
{
    return offset >= -(1 << (OFFSET_BITS - 1)) && offset < 1 << (OFFSET_BITS - 1);
}

static pt_u64 packed(pt_i64 offset, int shift)
{
    return ((pt_u64)offset & ((1u << OFFSET_BITS) - 1)) << shift;
}

static pt_i64 unpacked(pt_u64 row, int shift)
{
    return (pt_i64)(row >> shift << (64 - OFFSET_BITS)) >> (64 - OFFSET_BITS);
}

/* ---- packing ---- */

/* One term "register + offset", in either of its forms. */
static bool is_register(const Dwarf_Op *op, int *ret_register, pt_i64 *ret_offset)
{
    if (op->atom == DW_OP_bregx) {
        *ret_register = (int)op->number;
        *ret_offset = (pt_i64)op->number2;
        return true;
    }
    *ret_register = op->atom - DW_OP_breg0;
    *ret_offset = (pt_i64)op->number;
    return op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31;
}

static bool is_at_cfa(const Dwarf_Op *ops, size_t n, pt_i64 *ret_offset)
{
    *ret_offset = n > 1 ? (pt_i64)ops[1].number : 0;
    return n && ops[0].atom == DW_OP_call_frame_cfa && (n == 1 || (n == 2 && ops[1].atom == DW_OP_plus_uconst));
}

static enum pt_row_kind cfa_kind(Dwarf_Frame *frame, pt_i64 *ret_offset)
{
    Dwarf_Op *ops;
    size_t n;
    int reg;
    if (dwarf_frame_cfa(frame, &ops, &n) != 0 || !n || !is_register(&ops[0], &reg, ret_offset) || !fits(*ret_offset))
        return PT_CFI_ROW_SLOW;
    if (n == 1 && reg == PT_CFI_RSP)
        return PT_CFI_ROW_RSP;
    if (n == 1 && reg == PT_CFI_RBP)
        return PT_CFI_ROW_RBP;
    return n == 2 && reg == PT_CFI_RBP && ops[1].atom == DW_OP_deref ? PT_CFI_ROW_RBP_MEMORY : PT_CFI_ROW_SLOW;
}

static bool is_undefined(const Dwarf_Op *ops, size_t n, const Dwarf_Op *memory)
{
    return !n && ops == memory;
}

/* How the caller's rbp is found; false where two words do not say it. */
static bool saved_rbp(Dwarf_Frame *frame, enum saved *ret_saved, pt_i64 *ret_offset)
{
    Dwarf_Op memory[3], *ops;
    size_t n;
    int reg = PT_CFI_RBP;
    if (dwarf_frame_register(frame, PT_CFI_RBP, memory, &ops, &n) != 0)
        return false;
    *ret_saved = SAVED_NOT;
    *ret_offset = 0;
    if (!n)
        return true;
    if (is_at_cfa(ops, n, ret_offset))
        *ret_saved = SAVED_AT_CFA;
    else if (n == 1 && is_register(ops, &reg, ret_offset) && reg == PT_CFI_RBP)
        *ret_saved = SAVED_AT_RBP;
    return *ret_saved != SAVED_NOT && fits(*ret_offset);
}

pt_u64 pt_cfi_row_pack(Dwarf_Frame *frame)
{
    Dwarf_Op memory[3], *ops;
    size_t n;
    pt_i64 cfa_offset, ra_offset, rbp_offset;
    enum saved saved;
    bool is_signal = false;
    dwarf_frame_info(frame, NULL, NULL, &is_signal);
    if (is_signal)
        return PT_CFI_ROW_SLOW;
    if (dwarf_frame_register(frame, PT_CFI_RIP, memory, &ops, &n) != 0)
        return PT_CFI_ROW_NONE;
    if (is_undefined(ops, n, memory))
        return PT_CFI_ROW_END;
    const enum pt_row_kind kind = cfa_kind(frame, &cfa_offset);
    if (kind == PT_CFI_ROW_SLOW || !is_at_cfa(ops, n, &ra_offset) || ra_offset != -8 ||
        !saved_rbp(frame, &saved, &rbp_offset))
        return PT_CFI_ROW_SLOW;
    return (pt_u64)kind | (pt_u64)saved << SAVED_SHIFT | packed(cfa_offset, CFA_SHIFT) | packed(rbp_offset, RBP_SHIFT);
}

/* ---- a row ---- */

static bool knows(const struct pt_frame_regs *regs, int reg)
{
    return regs->known >> reg & 1;
}

/* Only rsp, rbp and rip are followed: what else a caller had is not known any more. */
static enum pt_frame_step go(struct pt_frame_regs *regs, pt_u64 cfa, pt_u64 rip, pt_u64 rbp, bool rbp_known)
{
    if (cfa <= regs->value[PT_CFI_RSP]) /* a stack that goes nowhere would be followed for ever */
        return PT_FRAME_CUT;
    regs->value[PT_CFI_RIP] = rip;
    regs->value[PT_CFI_RSP] = cfa;
    regs->value[PT_CFI_RBP] = rbp;
    regs->known = 1u << PT_CFI_RIP | 1u << PT_CFI_RSP | (pt_u32)rbp_known << PT_CFI_RBP;
    return rip ? PT_FRAME_CALLER : PT_FRAME_END;
}

enum pt_frame_step pt_cfi_row_step(pt_u64 row, const struct pt_stack_copy *stack, struct pt_frame_regs *regs)
{
    const enum pt_row_kind kind = pt_cfi_row_kind(row);
    if (kind == PT_CFI_ROW_NONE || kind == PT_CFI_ROW_END)
        return kind == PT_CFI_ROW_END ? PT_FRAME_END : PT_FRAME_NO_INFO;
    const pt_u64 rbp_before = regs->value[PT_CFI_RBP];
    if (kind != PT_CFI_ROW_RSP && !knows(regs, PT_CFI_RBP))
        return PT_FRAME_CUT;
    pt_u64 cfa = (kind == PT_CFI_ROW_RSP ? regs->value[PT_CFI_RSP] : rbp_before) + (pt_u64)unpacked(row, CFA_SHIFT);
    if (kind == PT_CFI_ROW_RBP_MEMORY && !pt_stack_read(stack, cfa, &cfa))
        return PT_FRAME_CUT;
    pt_u64 rip, rbp = rbp_before;
    bool rbp_known = knows(regs, PT_CFI_RBP);
    const enum saved saved = (enum saved)(row >> SAVED_SHIFT & 3);
    if (saved != SAVED_NOT)
        rbp_known =
            pt_stack_read(stack, (saved == SAVED_AT_CFA ? cfa : rbp_before) + (pt_u64)unpacked(row, RBP_SHIFT), &rbp);
    if (!pt_stack_read(stack, cfa - 8, &rip))
        return PT_FRAME_CUT;
    return go(regs, cfa, rip, rbp, rbp_known);
}

/* ---- DWARF expressions, as far as unwind tables use them ---- */

enum { DEPTH = 16 };

struct machine {
    pt_u64 items[DEPTH];
    int n;
    const struct pt_stack_copy *stack;
    const struct pt_frame_regs *regs;
    pt_u64 cfa;
};

static bool binary(struct machine *m, pt_u8 atom)
{
    if (m->n < 2)
        return false;
    const pt_u64 b = m->items[--m->n], a = m->items[m->n - 1];
    switch (atom) {
    case DW_OP_plus:
        m->items[m->n - 1] = a + b;
        return true;
    case DW_OP_minus:
        m->items[m->n - 1] = a - b;
        return true;
    case DW_OP_and:
        m->items[m->n - 1] = a & b;
        return true;
    case DW_OP_ge:
        m->items[m->n - 1] = (pt_i64)a >= (pt_i64)b;
        return true;
    case DW_OP_shl:
        m->items[m->n - 1] = b < 64 ? a << b : 0;
        return true;
    default:
        return false;
    }
}

static bool push(struct machine *m, pt_u64 value)
{
    if (m->n == DEPTH)
        return false;
    m->items[m->n++] = value;
    return true;
}

static bool change_top(struct machine *m, const Dwarf_Op *op)
{
    pt_u64 *top = &m->items[m->n - 1];
    if (op->atom == DW_OP_deref)
        return pt_stack_read(m->stack, *top, top);
    *top += op->number;
    return true;
}

/* The atoms from const1u to consts are the constants of all sizes, and no other. */
static bool is_constant(pt_u8 atom)
{
    return atom >= DW_OP_const1u && atom <= DW_OP_consts;
}

static bool execute(struct machine *m, const Dwarf_Op *op)
{
    int reg;
    pt_i64 offset;
    if (is_register(op, &reg, &offset))
        return reg >= 0 && reg < PT_CFI_REGS && knows(m->regs, reg) && push(m, m->regs->value[reg] + (pt_u64)offset);
    if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
        return push(m, op->atom - DW_OP_lit0);
    if (is_constant(op->atom))
        return push(m, op->number);
    if (op->atom == DW_OP_call_frame_cfa)
        return push(m, m->cfa);
    if (op->atom == DW_OP_plus_uconst || op->atom == DW_OP_deref)
        return m->n && change_top(m, op);
    return binary(m, op->atom);
}

/* What an expression gives; `is_value` = not the place of it, but the thing itself. */
static bool evaluate(struct machine *m, const Dwarf_Op *ops, size_t n, bool is_value, pt_u64 *ret_value)
{
    m->n = 0;
    if (n && ops[n - 1].atom == DW_OP_stack_value) {
        is_value = true;
        n--;
    }
    for (size_t i = 0; i < n; i++)
        if (!execute(m, &ops[i]))
            return false;
    if (!m->n)
        return false;
    *ret_value = m->items[m->n - 1];
    return is_value || pt_stack_read(m->stack, *ret_value, ret_value);
}

/* The caller's value of a register; false = not known. */
static bool caller_value(struct machine *m, Dwarf_Frame *frame, int reg, pt_u64 *ret_value)
{
    Dwarf_Op memory[3], *ops;
    size_t n;
    if (dwarf_frame_register(frame, reg, memory, &ops, &n) != 0 || is_undefined(ops, n, memory))
        return false;
    if (n == 1 && ops[0].atom == DW_OP_regx) {
        if (ops[0].number >= PT_CFI_REGS || !knows(m->regs, (int)ops[0].number))
            return false;
        *ret_value = m->regs->value[ops[0].number];
        return true;
    }
    if (n)
        return evaluate(m, ops, n, false, ret_value);
    *ret_value = m->regs->value[reg];
    return knows(m->regs, reg);
}

enum pt_frame_step pt_cfi_frame_step(Dwarf_Frame *frame, const struct pt_stack_copy *stack, struct pt_frame_regs *regs)
{
    struct machine m = {.stack = stack, .regs = regs};
    struct pt_frame_regs caller = {0};
    Dwarf_Op *ops;
    size_t n;
    bool is_signal = false;
    dwarf_frame_info(frame, NULL, NULL, &is_signal);
    if (dwarf_frame_cfa(frame, &ops, &n) != 0 || !evaluate(&m, ops, n, true, &m.cfa))
        return PT_FRAME_CUT;
    for (int reg = 0; reg < PT_CFI_REGS; reg++)
        if (caller_value(&m, frame, reg, &caller.value[reg]))
            caller.known |= 1u << reg;
    if (!knows(&caller, PT_CFI_RIP))
        return PT_FRAME_CUT;
    if (!is_signal)
        return go(regs, m.cfa, caller.value[PT_CFI_RIP], caller.value[PT_CFI_RBP], knows(&caller, PT_CFI_RBP));
    /* A handler may run on a stack of its own: this is the one step that may go down. */
    caller.value[PT_CFI_RSP] = m.cfa;
    caller.known |= 1u << PT_CFI_RSP;
    *regs = caller;
    return PT_FRAME_SIGNAL;
}

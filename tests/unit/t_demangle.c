/* SPDX-License-Identifier: MIT
 *
 * t_demangle.c - names of C++ and of both of Rust's manglings as people write them; and names that were made to do
 * harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbols/demangle.h"
#include "util/auto.h"
#include "util/str.h"

static const struct {
    const char *mangled, *wanted; /* NULL = stays as it is */
} names[] = {
    /* C++ */
    {"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)"},
    {"_ZN1a18h0123456789abcdef0E", "a::h0123456789abcdef0"},
    {"main", NULL},
    {"_Zwrong", NULL},
    /* Rust, as if it were C++ */
    {"_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE", "core::fmt::Formatter::write_str"},
    {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
     "<Test + 'static as foo::Bar<Test>>::bar"},
    {"_ZN1s13gr$uf6$$udf$e28_$u7b$$u7b$closure$u7d$$u7d$17h8a2531587730b517E", "s::gr\xc3\xb6\xc3\x9f"
                                                                               "e::{{closure}}"},
    {"_ZN3foo17h05af221e174051e9E.llvm.A5310EB9", "foo"},
    {"_ZN3a$x17h05af221e174051e9E", "a$x"},
    /* Rust v0, as of RFC 2603 and rustc 1.95 */
    {"_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function"},
    {"_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate", "<std::path::PathBuf>::new"},
    {"_RNvXCs15kBYyAo9fc_7mycrateNtB2_7ExampleNtB2_5Trait3foo", "<mycrate::Example as mycrate::Trait>::foo"},
    {"_RINvCskwGfYPst2Cb_3foo3barlhE", "foo::bar::<i32, u8>"},
    {"_RNCNvCsgStHSCytQ6I_7mycrate4main0", "mycrate::main::{closure#0}"},
    {"_RNvC6_123foo3bar", "123foo::bar"},
    {"_RNvC1a9u3gre_6ka1g", NULL},
    {"_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_ECs1iopQbuBiw2_3std",
     "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>"},
    {"_RNvMCs0_3fooRDG_INtC1t2FnTRL0_hEEp6OutputQL0_hEL_3bar",
     "<&dyn for<'a> t::Fn<(&'a u8,), Output = &'a mut u8>>::bar"},
    {"_RMC0INtC8arrayvec8ArrayVechKj7b_E", "<arrayvec::ArrayVec<u8, 123>>"},
    {"_RMCs4fqI2P2rA04_13const_genericINtB0_6SignedKanf4_E", "<const_generic::Signed<-244>>"},
    {"_RNvMs_Csd2pkCS1BQMS_1sINtB4_1CKc27_Kb1_Kxn5_E1kB4_", "<s::C<'\\'', true, -5>>::k"},
    {"_RNvMC1aINtC1a1XKo11111111111111111_E1k", "<a::X<0x11111111111111111>>::k"},
    {"_RNvC1au7bcher_k", "a::punycode{bcher_k}"},
    {"_RNvC1au9bcher_kva", "a::b\xc3\xbc"
                           "cher"},
    {"_RC3foo.llvm.9D1C9369", "foo"},
    {"_R1C3foo", NULL}, /* a later version */
    {"_RC3fooX", NULL},
    {"_RC4foo", NULL},
    {"_R", NULL},
};

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PT_AUTO(pt_freep) char *found = pt_demangle(names[i].mangled);
        if (!found != !names[i].wanted || (found && strcmp(found, names[i].wanted) != 0))
            fail_msg("%s: %s, wanted %s", names[i].mangled, found ? found : "(nothing)",
                     names[i].wanted ? names[i].wanted : "(nothing)");
    }
}

static void repeated(struct pt_str *name, const char *before, const char *what, int n, const char *after)
{
    pt_str_clear(name);
    pt_str_add(name, before);
    for (int i = 0; i < n; i++)
        pt_str_add(name, what);
    pt_str_add(name, after);
}

/* Neither time, nor stack, nor memory grow with what a name says. */
static void test_hostile_names(void **state)
{
    (void)state;
    PT_AUTO(pt_str_fini) struct pt_str name = {0};
    static const struct {
        const char *before, *what, *after;
        int n;
    } cases[] = {
        {"_RINvC1a1b", "R", "uE", 4000},
        {"_RNv", "Nv", "C1a", 1900},
        {"_RINvC1a1bTuuE", "TB7_B7_E", "E", 400},
        {"_RINvC1a1b", "TB_B_E", "E", 600},
        {"_RINvC1a1bFGzzzzzzzzz", "z", "_EuE", 1},
        {"_RC", "9", "a", 300},
        {"_RB", "_", "", 1},
        {"_RM", "B_", "", 100},
        {"_RCu4000_", "a", "", 4000},
        {"_RCu4000_z_", "9", "", 3990},
        {"_ZN", "9", "a", 400},
        {"_RC1a", "x", "", 1 << 20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        repeated(&name, cases[i].before, cases[i].what, cases[i].n, cases[i].after);
        PT_AUTO(pt_freep) char *found = pt_demangle(name.text);
        if (found && strlen(found) > 8192 + 4096)
            fail_msg("case %zu made %zu bytes", i, strlen(found));
    }
    /* Each tuple holds the one before it twice. */
    repeated(&name, "_RINvC1a1b", "", 0, "TuuE");
    char before[8] = "7_";
    for (int i = 0; i < 40; i++) {
        const size_t at = name.n - 2;
        pt_str_printf(&name, "TB%sB%sE", before, before);
        const char *digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        snprintf(before, sizeof before, at - 1 < 62 ? "%c_" : "%c%c_", digits[at - 1 < 62 ? at - 1 : (at - 1) / 62],
                 digits[(at - 1) % 62]);
    }
    pt_str_add(&name, "E");
    assert_null(pt_demangle(name.text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_hostile_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

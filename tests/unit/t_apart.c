/* SPDX-License-Identifier: MIT
 *
 * Names that are too long: what is left out of one, and how those that begin alike stay apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "util/auto.h"
#include "util/text/apart.h"
#include "util/text/width.h"

#define NATIVE "at::native::(anonymous namespace)::"
#define KERNEL(list, op)                                                                                               \
    "void " NATIVE "multi_tensor_apply_kernel<" NATIVE list ", " NATIVE op ">(" NATIVE list ", " NATIVE op ")"

static void check_name(const char *name, const char *wanted)
{
    PT_AUTO(pt_freep) char *found = pt_text_short_name(name);
    assert_string_equal(found, wanted);
}

static void namespaces_of_templates_are_left_out(void **state)
{
    (void)state;
    check_name(KERNEL("TensorListMetadata<1>", "UnaryOpFunctor<float>"),
               "multi_tensor_apply_kernel<TensorListMetadata<1>, UnaryOpFunctor<float>>");
    check_name(
        "void at::f<at::impl(at::B&, float)::{lambda(float)#1}, std::array<char*, 3ul> >(int, std::array<char*, 3ul>)",
        "f<impl(B&, float)::{lambda(float)#1}, array<char*, 3ul> >");
    check_name("at::f<(cudnn::Type)0>(int)", "f<(Type)0>");
    check_name("torch::autograd::Engine::execute(int)", "torch::autograd::Engine::execute(int)"); /* a class's */
    check_name("std::sort<int*> (/usr/include/sort.h:7)", "std::sort<int*> (/usr/include/sort.h:7)");
    check_name("a::b<", "b<");
    check_name("::<)", "::<)");
    check_name("", "");
}

struct pt_texts {
    struct pt_str cells[8];
    struct pt_str *of[8];
    size_t n;
};

static void shorten(struct pt_texts *texts, const char *const *names, unsigned width)
{
    for (texts->n = 0; names[texts->n]; texts->n++) {
        texts->of[texts->n] = &texts->cells[texts->n];
        pt_str_add(&texts->cells[texts->n], names[texts->n]);
    }
    pt_text_shorten_apart(texts->of, texts->n, width, "...");
}

static void check(const char *const *names, unsigned width, const char *const *wanted)
{
    struct pt_texts texts = {0};
    shorten(&texts, names, width);
    for (size_t i = 0; i < texts.n; i++) {
        assert_string_equal(pt_str_text(texts.of[i]), wanted[i]);
        assert_true(pt_text_width(pt_str_text(texts.of[i])) <= width);
        pt_str_fini(texts.of[i]);
    }
}

static void names_that_begin_alike_stay_apart(void **state)
{
    (void)state;
    check((const char *const[]){KERNEL("Metadata<1>", "Multiplies<float>"), KERNEL("Metadata<1>", "Plus<float>"),
                                "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n", NULL},
          32,
          (const char *const[]){"multi_t...1>, Multiplies<float>>", "multi_t...adata<1>, Plus<float>>",
                                "sm80_xmma_gemm_f32f32_f32f32_..."});
    /* Of three the last is like the first in another word than like the second. */
    check((const char *const[]){"kernel_of_all_tensors<List<3>, Scalar<float>, A>",
                                "kernel_of_all_tensors<Dict<3>, Scalar<float>, A>",
                                "kernel_of_all_tensors<List<3>, Vector<float>, A>", NULL},
          24,
          (const char *const[]){"kerne...Scalar<float>...", "kerne...Dict<3>, Scal...", "kerne...Vector<float>..."});
    /* The same text twice is the same row, and what fits stays. */
    check((const char *const[]){"the same long text twice", "the same long text twice", "short", NULL}, 20,
          (const char *const[]){"the same long tex...", "the same long tex...", "short"});
    check((const char *const[]){"äöüäöüäöüäöüäöüäöüäöü-1", "äöüäöüäöüäöüäöüäöüäöü-2", NULL}, 20,
          (const char *const[]){"äöüä...öüäöüäöüäöü-1", "äöüä...öüäöüäöüäöü-2"});
}

static void nothing_to_do(void **state)
{
    (void)state;
    check((const char *const[]){NULL}, 20, (const char *const[]){NULL});
    check((const char *const[]){"abcdefghij", "abcdefghik", NULL}, 5, (const char *const[]){"ab...", "ab..."});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(namespaces_of_templates_are_left_out),
                                       cmocka_unit_test(names_that_begin_alike_stay_apart),
                                       cmocka_unit_test(nothing_to_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

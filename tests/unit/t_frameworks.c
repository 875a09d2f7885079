/* SPDX-License-Identifier: MIT
 *
 * Of the frameworks of machine learning that a program has loaded, remedies are in the words of the one that it uses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "helper_judged.h"

static const char *float32_remedy(double by_torch_percent, const char *loaded)
{
    static struct pt_module module;
    struct judged_stage *w = judged_new(10);
    module.path = loaded;
    w->process.modules = &module;
    w->process.n_modules = loaded != NULL;
    judged_set(w, "steps.count", 100);
    judged_set(w, "gpu.float32.total_s", 4);
    judged_set(w, "gpu.float32.percent", 60);
    judged_set(w, "training.by_torch_percent", by_torch_percent);
    pt_judge(&w->profile, &w->findings);
    const struct pt_finding *finding = judged_find(w, "gpu_float32");
    assert_non_null(finding);
    static char remedy[200];
    strncpy(remedy, finding->remedy, sizeof remedy - 1);
    w->process.n_modules = 0;
    judged_free(w);
    return remedy;
}

/* TensorBoard loads TensorFlow. */
static void the_framework_is_the_one_that_was_called(void **state)
{
    (void)state;
    assert_non_null(strstr(float32_remedy(100, "/tf/_pywrap_tensorflow_internal.so"), "torch.autocast"));
    assert_non_null(strstr(float32_remedy(0, "/tf/_pywrap_tensorflow_internal.so"), "tf.keras"));
    assert_non_null(strstr(float32_remedy(0, "/torch/lib/libtorch_cuda.so"), "torch.autocast"));
    assert_null(strstr(float32_remedy(0, NULL), "torch"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_framework_is_the_one_that_was_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * cupti.h - our declarations for the double of libcupti: result codes and the version that this build plays.
 */
#ifndef FAKECUPTI_H
#define FAKECUPTI_H

#include "activity.h"

/* FAKECUPTI_MAJOR is the CUDA major, FAKECUPTI_VERSION what cuptiGetVersion says without `cupti_version`. */
enum cupti_result {
    CUPTI_SUCCESS = 0,
    CUPTI_ERROR_INVALID_PARAMETER = 1,
    CUPTI_ERROR_OUT_OF_MEMORY = 8,
    CUPTI_ERROR_MAX_LIMIT_REACHED = 12,
    CUPTI_ERROR_NOT_INITIALIZED = 15,
    CUPTI_ERROR_NOT_SUPPORTED = 27,
    CUPTI_ERROR_UNKNOWN = 999,
};

/* What a call gives before it does anything: a planned error, or 999 without a driver. Ends a deadlocked process. */
int fakecupti_enter(const char *function, bool needs_driver);
extern const char fakecupti_library;

#endif

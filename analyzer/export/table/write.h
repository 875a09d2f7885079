/* SPDX-License-Identifier: MIT
 *
 * table/write.h - all rows of a run to a writer, events first.
 */
#ifndef PT_EXPORT_TABLE_WRITE_H
#define PT_EXPORT_TABLE_WRITE_H

#include "tables.h"

int pt_tabular_write(const struct pt_tabular_writer *writer, struct pt_export_summary *ret_summary,
                     struct pt_error *err);

#endif

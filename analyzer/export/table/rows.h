/* SPDX-License-Identifier: MIT
 *
 * rows.h - the rows of all tables but that of events.
 */
#ifndef PT_EXPORT_TABLE_ROWS_H
#define PT_EXPORT_TABLE_ROWS_H

#include "tables.h"

/* Reads all events for what only analyses know. */
int pt_tabular_rows(const struct pt_tabular_writer *writer, struct pt_error *err);

#define pt_tabular_put(writer, table, ...)                                                                             \
    (writer)->row(writer, &pt_tabulars[PT_TABULAR_##table],                                                            \
                  (const struct pt_value *)(const void *)&(struct pt_row_##table){__VA_ARGS__}, NULL)

#endif

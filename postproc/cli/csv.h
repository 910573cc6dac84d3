/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/csv.h
 *
 * Comma-separated values on standard output (RFC 4180).
 */
#ifndef NFSDIGEST_CLI_CSV_H
#define NFSDIGEST_CLI_CSV_H

#define CSV_END "\r\n"

/* Prints a value, in quotes if it has to be. */
void csv_value(const char *text);

#endif

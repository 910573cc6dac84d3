/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/concurrency_print.h
 *
 * Prints the results of simulated replays, as text or JSON, on standard output.
 */
#ifndef NFSDIGEST_CLI_CONCURRENCY_PRINT_H
#define NFSDIGEST_CLI_CONCURRENCY_PRINT_H

#include "plan/concurrency_report.h"

void concurrency_text(const struct concurrency_report *report);
void concurrency_json(const struct concurrency_report *report);

#endif

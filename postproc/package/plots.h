/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/plots.h
 *
 * The plots of a package, plots/NAME.svg.
 */
#ifndef NFSDIGEST_PACKAGE_PLOTS_H
#define NFSDIGEST_PACKAGE_PLOTS_H

#include "package/facts.h"
#include "package/stage.h"

int plots_make(struct stage *stage, sqlite3 *db, const struct facts *facts, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/html.h
 *
 * Shows the result of a comparison (schemas/compare.sql) as one HTML page, from that database
 * alone.
 *
 * The page is complete in one file, and works without a script.  With scripts, its groups can be
 * filtered and sorted, also by the text after the # of its address ("#filter?class=time&q=ctime").
 * It shows the first HTML_GROUPS_MAX groups of discrepancies, each with the examples of the result.
 * The list of all discrepancies is only in the database.
 */
#ifndef NFSDIGEST_REPORT_HTML_H
#define NFSDIGEST_REPORT_HTML_H

#include "base/err.h"

#include <sqlite3.h>

enum {
    HTML_GROUPS_MAX = 500,
    HTML_UNCERTAIN_MAX = 200,   /* uncertain differences */
    HTML_ROWS_MAX = 200,        /* fields of two replies side by side */
    HTML_TEXT_MAX = 200,        /* bytes of a text; longer ones are cut */
    HTML_REPLIES_MAX = 5 << 20, /* bytes of the page; after these it shows no more replies */
};

/* Writes the page to |path| ("-": standard output).  The file appears when it is complete.  The
 * text does not depend on when or where it is made. */
int report_html(sqlite3 *result, const char *path, struct err *err);

#endif

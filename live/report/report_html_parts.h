/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/report/report_html_parts.h
 *
 * Shared by the files of the page: report_html.c has the page, report_html_run.c one run,
 * report_html_plot.c its load over time.
 *
 * Errors stay in the page (show/page.h).
 */
#ifndef NFSDIGEST_REPORT_REPORT_HTML_PARTS_H
#define NFSDIGEST_REPORT_REPORT_HTML_PARTS_H

#include "report/report_parts.h"
#include "show/page_cells.h"

/* --- report_html_run.c */

/* One run, from its verdict to the player.  |level|: of its headings (2: h2). */
void html_run(struct page *page, const struct report *report, int level);
/* "DUMP played on TARGET, PACE" */
void html_title(struct page *page, const struct report *report);
/* "All 5 operations are as recorded", and whether that is so. */
bool html_verdict(const struct report *report, char text[128]);

/* --- report_html_plot.c: rates and concurrency over time, those of the trace beside them */

void html_plot(struct page *page, const struct report *report);

#endif

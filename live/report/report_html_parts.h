/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/report/report_html_parts.h
 *
 * Shared by the files of the page: report_html.c has the page, report_html_run.c one run,
 * report_html_plot.c its load over time, report_html_cells.c how tables are written.
 *
 * Errors stay in the page (show/page.h).
 */
#ifndef NFSDIGEST_REPORT_REPORT_HTML_PARTS_H
#define NFSDIGEST_REPORT_REPORT_HTML_PARTS_H

#include "report/report_parts.h"
#include "show/page.h"

/* --- report_html_run.c */

/* One run, from its verdict to the player.  |level|: of its headings (2: h2). */
void html_run(struct page *page, const struct report *report, int level);
/* "DUMP played on TARGET, PACE" */
void html_title(struct page *page, const struct report *report);
/* "All 5 operations are as recorded", and whether that is so. */
bool html_verdict(const struct report *report, char text[128]);

/* --- report_html_plot.c: rates and concurrency over time, those of the trace beside them */

void html_plot(struct page *page, const struct report *report);

/* --- report_html_cells.c */

/* The first head is that of the rows' names.  |heads| ends with NULL; a head that begins with "<"
 * stands above text.  All of them are plain words. */
void cells_begin(struct page *page, const char *caption, const char *const *heads);
/* The same with groups of columns above the heads, which cells_heads writes next.  An empty group
 * is one column. */
void cells_begin_groups(struct page *page, const char *caption, const char *const *groups,
                        const uint8_t *widths);
void cells_heads(struct page *page, const char *const *heads);
void cells_row(struct page *page, const char *name);
void cells_text(struct page *page, const char *text);
void cells_count(struct page *page, uint64_t n);
void cells_share(struct page *page, uint64_t part, uint64_t all);
void cells_size(struct page *page, uint64_t bytes); /* 0: "-" */
void cells_time(struct page *page, bool known, int64_t ns);
void cells_row_end(struct page *page);
void cells_end(struct page *page);

#endif

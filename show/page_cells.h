/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show/page_cells.h
 *
 * Tables of a page (page.h), cell by cell:
 *
 *     cells_begin; for each row cells_row, cells_..., cells_row_end; cells_end
 */
#ifndef NFSDIGEST_SHOW_PAGE_CELLS_H
#define NFSDIGEST_SHOW_PAGE_CELLS_H

#include "show/page.h"

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

/* Figures side by side: cells_tiles, for each one cells_tile, cells_tiles_end.  Both texts of a
 * tile are markup. */
void cells_tiles(struct page *page);
void cells_tile(struct page *page, const char *name, const char *value);
void cells_tiles_end(struct page *page);

#endif

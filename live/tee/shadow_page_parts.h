/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/shadow_page_parts.h
 *
 * Shared by the files of the page: shadow_page.c has the files, shadow_page_draw.c the contents.
 */
#ifndef NFSDIGEST_TEE_SHADOW_PAGE_PARTS_H
#define NFSDIGEST_TEE_SHADOW_PAGE_PARTS_H

#include "show/page_cells.h"
#include "tee/shadow_history.h"
#include "tee/shadow_page.h"

struct page_view {
    const struct shadow_page_setup *setup;
    const struct shadow_history *history;
    int64_t began, now; /* ns since 1970 */
    bool ended;
};

/* Writes what changes: all below the title. */
void shadow_page_draw(struct page *page, const struct page_view *view);

#endif

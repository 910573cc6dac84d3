/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/page_cells.h"
#include "base/values.h"

static void begin(struct page *page, const char *caption)
{
    page_put(page, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"");
    page_text(page, caption);
    page_put(page, "\"><table><caption>");
    page_text(page, caption);
    page_put(page, "</caption><thead>");
}

void cells_begin(struct page *page, const char *caption, const char *const *heads)
{
    begin(page, caption);
    cells_heads(page, heads);
}

void cells_begin_groups(struct page *page, const char *caption, const char *const *groups,
                        const uint8_t *widths)
{
    begin(page, caption);
    page_put(page, "<tr>");
    for (; *groups; groups++, widths++) {
        if (!**groups)
            page_put(page, "<td></td>");
        else
            page_put(page, "<th scope=\"colgroup\" colspan=\"%u\">%s</th>", *widths, *groups);
    }
    page_put(page, "</tr>");
}

void cells_heads(struct page *page, const char *const *heads)
{
    page_put(page, "<tr>");
    for (; *heads; heads++) {
        bool is_text = **heads == '<';

        page_put(page, "<th scope=\"col\"%s>%s</th>", is_text ? " class=\"t\"" : "",
                 *heads + is_text);
    }
    page_put(page, "</tr></thead><tbody>\n");
}

void cells_row(struct page *page, const char *name)
{
    page_put(page, "<tr><th scope=\"row\">");
    page_text(page, name);
    page_put(page, "</th>");
}

void cells_text(struct page *page, const char *text)
{
    page_put(page, "<td class=\"t\">");
    page_text(page, text);
    page_put(page, "</td>");
}

void cells_count(struct page *page, uint64_t n)
{
    char room[VALUE_TEXT_MAX];

    page_put(page, "<td>%s</td>", count_text(n, room));
}

void cells_share(struct page *page, uint64_t part, uint64_t all)
{
    page_put(page, "<td>%.2f %%</td>", all ? 100.0 * (double)part / (double)all : 0);
}

void cells_size(struct page *page, uint64_t bytes)
{
    char room[VALUE_TEXT_MAX];

    page_put(page, "<td>%s</td>", bytes ? size_text(bytes, room) : "-");
}

void cells_time(struct page *page, bool known, int64_t ns)
{
    char room[VALUE_TEXT_MAX];

    page_put(page, "<td>%s</td>", known ? duration_text(ns, room) : "-");
}

void cells_row_end(struct page *page)
{
    page_put(page, "</tr>\n");
}

void cells_end(struct page *page)
{
    page_put(page, "</tbody></table></div>\n");
}

void cells_tiles(struct page *page)
{
    page_put(page, "<dl class=\"tiles\">\n");
}

void cells_tile(struct page *page, const char *name, const char *value)
{
    page_put(page, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, value);
}

void cells_tiles_end(struct page *page)
{
    page_put(page, "</dl>\n");
}

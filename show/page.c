/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/page.h"
#include "base/embed.h"
#include "show/markup.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

EMBED(style, EMBED_ROOT "/show/page.css");

void page_raw(struct page *page, const void *data, size_t len)
{
    if (page->failed)
        return;
    page->size += len;
    if (buf_append(&page->text, data, len) < 0) {
        err_memory(page->err, "a page");
        page->failed = true;
    } else if (page->text.len >= PAGE_BUFFER) {
        page->failed = page->write(page->ctx, page->text.data, page->text.len, page->err) < 0;
        page->text.len = 0;
    }
}

void page_put(struct page *page, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    int len;

    va_start(args, format);
    len = vasprintf(&text, format, args);
    va_end(args);
    if (len >= 0) {
        page_raw(page, text, (size_t)len);
        free(text);
    } else if (!page->failed) {
        err_memory(page->err, "a page");
        page->failed = true;
    }
}

void page_text(struct page *page, const char *text)
{
    struct buf markup = { 0 };

    if (markup_text(&markup, text) == 0) {
        page_raw(page, markup.data, markup.len);
    } else if (!page->failed) {
        err_memory(page->err, "a page");
        page->failed = true;
    }
    buf_free(&markup);
}

void page_text_cut(struct page *page, const char *text, size_t most)
{
    size_t len = strlen(text), kept = most;
    char *head;

    if (len <= most) {
        page_text(page, text);
        return;
    }
    while (kept && ((unsigned char)text[kept] & 0xc0) == 0x80)
        kept--; /* not within a character */
    head = strndup(text, kept);
    page_text(page, head ? head : "");
    free(head);
    page_put(page, "<span class=\"cut\" title=\"cut: it has %zu bytes\">…</span>", len);
}

void page_begin(struct page *page, const struct page_head *head, output_writer *write, void *ctx,
                struct err *err)
{
    page->write = write;
    page->ctx = ctx;
    page->err = err;
    page_put(page,
             "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "style-src 'unsafe-inline'; script-src %s\">\n<title>",
             head->policy ? head->policy : "'none'");
    page_text(page, head->title);
    page_put(page, "</title>\n<style>\n%s%s</style></head><body>\n", style,
             head->style ? head->style : "");
}

int page_flush(struct page *page)
{
    if (!page->failed && page->text.len)
        page->failed = page->write(page->ctx, page->text.data, page->text.len, page->err) < 0;
    buf_free(&page->text);
    return page->failed ? -page->err->code : 0;
}

int page_end(struct page *page)
{
    page_put(page, "</body></html>\n");
    return page_flush(page);
}

int page_to_file(void *ctx, const void *data, size_t len, struct err *err)
{
    return fwrite(data, 1, len, ctx) == len ? 0 : err_set(err, ERR_SYSTEM, "a page: not written");
}

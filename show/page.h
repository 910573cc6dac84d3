/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show/page.h
 *
 * One complete HTML page: its frame and style, and text that is always escaped.  It follows the
 * reader's choice of light or dark, and can be printed.
 *
 *     page_begin, then page_put, page_text, page_words ..., page_end
 *
 * Errors stay: after the first one nothing more is written, and page_end returns it.
 * Memory: PAGE_BUFFER bytes, and what one call writes.
 */
#ifndef NFSDIGEST_SHOW_PAGE_H
#define NFSDIGEST_SHOW_PAGE_H

#include "base/bytes.h"
#include "base/output.h"

#include <stdbool.h>

enum { PAGE_BUFFER = 64 << 10 };

struct page {
    struct buf text;
    output_writer *write;
    void *ctx;
    uint64_t size; /* bytes so far */
    struct err *err;
    bool failed;
};

struct page_head {
    const char *title;
    const char *style;  /* further rules, or NULL */
    const char *policy; /* Content-Security-Policy's script-src; NULL: no script may run */
};

/* Begins a page.  |page| must be all zeros; |err| must live until page_end. */
void page_begin(struct page *page, const struct page_head *head, output_writer *write, void *ctx,
                struct err *err);

/* Writes printf's output, which must be markup. */
void page_put(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes markup without changes. */
void page_raw(struct page *page, const void *data, size_t len);
/* Write escaped text (markup.h).  page_text_cut cuts text that is longer than |most| bytes, and
 * marks the cut. */
void page_text(struct page *page, const char *text);
void page_text_cut(struct page *page, const char *text, size_t most);

/* For a part of a page alone: |page| has |write|, |ctx| and |err|, and else zeros; no page_begin,
 * and page_flush in the place of page_end. */
int page_flush(struct page *page);

/* Ends the page, writes the rest and frees the memory.  Returns 0 or the first error's code. */
int page_end(struct page *page);

/* An output_writer to a FILE, which is |ctx|. */
output_writer page_to_file;

#endif

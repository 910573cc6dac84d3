/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/annotate.c
 *
 * For each capture one query gives its discrepancies in the order of frames, and each becomes a
 * comment; annotate_copy.c copies.  A capture whose contents are not those that were compared is
 * refused.  annotate_targets.c finds the captures.  For cmd_report.c and cmd_compare.c.  The
 * contract is in annotate.h, what the parts share in annotate_parts.h.
 */
#include "report/annotate.h"
#include "report/annotate_copy.h"
#include "report/annotate_parts.h"
#include "show/markup.h"
#include "store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 200 };

/* --- comments */

/* ?1, ?2: the source of ref, of sut; NULL: none */
static const char select_comments[] = /* frame: of a log, that of annotate_log.c */
    "SELECT f.frame, f.side, c.id, c.operation, c.field, c.difference, d.element, d.ref_text,"
    " d.sut_text, f.other_frame, (SELECT name FROM source q WHERE q.side = 3 - f.side AND"
    " q.id = f.other_source), c.reason, c.is_noise,"
    " ifnull((SELECT path FROM object o WHERE o.id = d.object),"
    "  (SELECT p.path FROM operation p WHERE p.side = f.side AND p.id ="
    "   CASE f.side WHEN 1 THEN d.ref ELSE d.sut END))"
    " FROM frame f JOIN discrepancy d ON d.id = f.discrepancy JOIN discrepancy_group c ON c.id = "
    "d.discrepancy_group"
    " WHERE (f.side = 1 AND f.source = ?1) OR (f.side = 2 AND f.source = ?2)"
    " ORDER BY f.frame, f.side, f.discrepancy";

enum {
    C_FRAME,
    C_SIDE,
    C_GROUP,
    C_OPERATION,
    C_FIELD,
    C_DIFFERENCE,
    C_ELEMENT,
    C_REF,
    C_SUT,
    C_OTHER,
    C_OTHER_NAME,
    C_REASON,
    C_NOISE,
    C_PATH,
};

static int add_words(struct buf *to, const char *words)
{
    return buf_append(to, words, strlen(words));
}

/* A column between |before| and |after|, cut where it is long; nothing for NULL. */
static int add_column(struct annotate *a, struct buf *to, const char *before, int at,
                      const char *after)
{
    const char *text = (const char *)sqlite3_column_text(a->row, at);
    size_t len = text ? strlen(text) : 0, kept = len < TEXT_MAX ? len : TEXT_MAX;
    char piece[TEXT_MAX + 1];

    if (!text)
        return 0;
    while (kept < len && kept && ((unsigned char)text[kept] & 0xc0) == 0x80)
        kept--; /* not within a character */
    memcpy(piece, text, kept);
    piece[kept] = '\0';
    return add_words(to, before) | markup_plain(to, piece) | add_words(to, kept < len ? "…" : "") |
           add_words(to, after);
}

/* One line: which group, what, both values, the counterpart, why. */
static int add_comment(struct annotate *a, struct buf *to)
{
    bool ref = sqlite3_column_int(a->row, C_SIDE) == SIDE_REF;
    const char *base = (const char *)sqlite3_column_text(a->row, C_OTHER_NAME);
    int bad = markup_format(to, "nfsdigest: group %lld%s, this is %s: ",
                            (long long)sqlite3_column_int64(a->row, C_GROUP),
                            sqlite3_column_int(a->row, C_NOISE) ? " (noise)" : "",
                            ref ? "the reference" : "the system under test");

    bad |= add_column(a, to, "", C_OPERATION, " ") | add_column(a, to, "", C_FIELD, ": ") |
           add_column(a, to, "", C_DIFFERENCE, "") | add_column(a, to, "; ", C_PATH, "") |
           add_column(a, to, ", element ", C_ELEMENT, "") | add_column(a, to, "; ref ", C_REF, "") |
           add_column(a, to, "; sut ", C_SUT, "") |
           add_column(a, to, "; counterpart in frame ", C_OTHER, "");
    if (base && sqlite3_column_type(a->row, C_OTHER) != SQLITE_NULL) {
        base = strrchr(base, '/') ? strrchr(base, '/') + 1 : base;
        bad |= add_words(to, " of ") | markup_plain(to, base);
    }
    bad |= add_column(a, to, "; ", C_REASON, "") | buf_append(to, "", 1);
    return bad ? annotate_no_memory(a) : 0;
}

static int next_row(struct annotate *a)
{
    int result = sql_row(a->row, a->err);

    a->has_row = result > 0;
    return result < 0 ? result : 0;
}

static int comments_of(void *ctx, uint64_t frame, struct buf *texts, struct err *err)
{
    struct annotate *a = ctx;
    uint64_t count = 0;
    int result = 0;

    (void)err; /* is a->err */
    while (result == 0 && a->has_row && (uint64_t)sqlite3_column_int64(a->row, C_FRAME) == frame) {
        if (count++ < ANNOTATE_COMMENTS_MAX)
            result = add_comment(a, texts);
        if (result == 0)
            result = next_row(a);
    }
    if (result == 0 && count > ANNOTATE_COMMENTS_MAX &&
        markup_format(texts, "nfsdigest: %llu more discrepancies of this frame",
                      (unsigned long long)count - ANNOTATE_COMMENTS_MAX) |
            buf_append(texts, "", 1))
        result = annotate_no_memory(a);
    return result;
}

/* --- */

/* All was read, and it is what was compared. */
static int check_copy(struct annotate *a, const struct target *t, struct input *input)
{
    uint8_t digest[INPUT_DIGEST_LEN];
    struct err ignored;

    input_drain(input, &ignored); /* also of one that is cut */
    input_digest(input, digest);
    if (memcmp(digest, t->digest, INPUT_DIGEST_LEN) != 0)
        return err_set(a->err, ERR_INPUT,
                       "%s: not the capture that was compared: its contents are others", t->found);
    if (a->has_row)
        return err_set(a->err, ERR_INPUT,
                       "the result is damaged: frame %lld of %s, which has %llu frames",
                       (long long)sqlite3_column_int64(a->row, C_FRAME), t->found,
                       (unsigned long long)t->copied);
    return 0;
}

static int copy_target(struct annotate *a, struct target *t, struct input *input)
{
    struct annotate_copy copy = { .comment = "Comments by nfsdigest",
                                  .comments = comments_of,
                                  .ctx = a };
    struct capture *capture = capture_open(input, a->err);
    int result;

    if (!capture)
        return -a->err->code;
    result = annotate_copy(&copy, capture, output_write, t->output, a->err);
    capture_close(capture);
    t->copied = copy.frames;
    t->commented = copy.commented;
    if (result == -ERR_INPUT && t->copied == t->frames)
        result = 0; /* cut, as it was when it was ingested */
    return result < 0 ? result : check_copy(a, t, input);
}

static int annotate_one(struct annotate *a, struct target *t)
{
    struct input *input = input_open(t->found, true, a->err);
    int result;

    if (!input) {
        if (a->err->code == ERR_INPUT)
            err_set(a->err, ERR_INPUT,
                    "%s: no such file any more; name the captures behind the result", t->found);
        return -a->err->code;
    }
    result = sql_prepare(a->db, select_comments, &a->row, a->err);
    if (result == 0) {
        sql_bind_unless(a->row, 1, t->source[SIDE_REF], 0);
        sql_bind_unless(a->row, 2, t->source[SIDE_SUT], 0);
        result = next_row(a);
    }
    if (result == 0 && !(t->output = output_open(t->path, a->err)))
        result = -a->err->code;
    if (result == 0)
        result = copy_target(a, t, input);
    sqlite3_finalize(a->row);
    a->row = NULL;
    input_close(input);
    return result;
}

static int run(struct annotate *a, const struct annotate_request *r)
{
    int result = annotate_targets(a, r);

    for (uint32_t i = 0; result == 0 && i < a->count; i++)
        result = annotate_one(a, &a->targets[i]);
    for (uint32_t i = 0; result == 0 && i < a->count; i++)
        result = output_commit(a->targets[i].output, a->err);
    return result;
}

int report_annotate(sqlite3 *db, const struct annotate_request *r, struct err *err)
{
    struct annotate a = { .db = db, .err = err };
    uint64_t lost = 0, all = 0;
    int result = annotate_start(&a, r->path);

    if (result == 0)
        result = run(&a, r);
    if (result == 0 && r->lost && (result = annotate_log_lost(&a, &lost, &all)) == 0 && lost)
        r->lost(r->ctx, lost, all);
    for (uint32_t i = 0; result == 0 && r->made && i < a.count; i++) {
        const struct target *t = &a.targets[i];
        const struct annotated file = { t->path, t->found, t->copied, t->commented };

        r->made(r->ctx, &file);
    }
    annotate_finish(&a);
    return result;
}

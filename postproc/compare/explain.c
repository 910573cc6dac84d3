/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/explain.c
 *
 * Explanations in words, with what they are about: which side, called by whom, with what.
 */
#include "compare/found.h"

#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 320, PATH_SHOWN = 80 };

/* "sut (mem.db)": the file of the database, or the server if only one of its servers is meant. */
static int side_words(struct pairs *p, int side, char text[WORDS_MAX], struct err *err)
{
    const char *name, *slash;
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(p->c->db, "SELECT ifnull(server, database) FROM main.side WHERE id = ?1", &stmt,
                    err) < 0)
        return -err->code;
    sqlite3_bind_int(stmt, 1, db_side(side));
    result = sql_row(stmt, err);
    name = result > 0 ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    slash = name ? strrchr(name, '/') : NULL;
    snprintf(text, WORDS_MAX, "%s (%.60s)", side == REF ? "ref" : "sut",
             slash ? slash + 1 : (name ? name : "?"));
    sqlite3_finalize(stmt);
    return result < 0 ? result : 0;
}

static void add(char text[WORDS_MAX], const char *format, unsigned long long value)
{
    size_t len = strlen(text);

    snprintf(text + len, WORDS_MAX - len, format, value);
}

/* Its end is what tells it apart. */
static size_t add_path(char *text, const char *before, const char *path)
{
    size_t len = path ? strlen(path) : 0, at = len > PATH_SHOWN ? len - PATH_SHOWN : 0;

    if (!path)
        return 0;
    while (at && ((uint8_t)path[at] & 0xc0) == 0x80)
        at++; /* not within a character */
    return (size_t)snprintf(text, PATH_SHOWN + 16, "%s%s%s", before, at ? "..." : "", path + at);
}

/* "REMOVE /x/f", "SETATTR /x/f, mode 0600" */
static void request_words(const struct effect *e, const char *path, const char *path2,
                          char text[WORDS_MAX])
{
    static const char *const ways[] = { "UNCHECKED", "GUARDED", "EXCLUSIVE" };
    size_t len =
        (size_t)snprintf(text, WORDS_MAX, "%.24s", e->procedure ? e->procedure->name : "a request");

    len += add_path(text + len, " ", path);
    len += add_path(text + len, " to ", path2);
    if (e->asked.bits & ASKED_HOW && e->asked.how < 3)
        snprintf(text + len, WORDS_MAX - len, ", %s", ways[e->asked.how]);
    if (e->asked.bits & ASKED_MODE)
        add(text, ", mode 0%llo", e->asked.mode);
    if (e->asked.bits & ASKED_UID)
        add(text, ", uid %llu", e->asked.uid);
    if (e->asked.bits & ASKED_GID)
        add(text, ", gid %llu", e->asked.gid);
    if (e->asked.bits & ASKED_SIZE)
        add(text, ", size %llu", e->asked.size);
    if (e->roles & ROLE_RANGE_START) {
        add(text, ", offset %llu", e->offset);
        add(text, ", count %llu", e->count);
    }
}

/* Of the first example; what is not known stays as it is. */
static int find_request(struct pairs *p, const struct group *c, char caller[WORDS_MAX],
                        char request[WORDS_MAX], struct err *err)
{
    static const char *const sql[SIDES] = {
        "SELECT k.flavor, k.uid, (SELECT text FROM ref.path WHERE id = o.path), (SELECT text FROM"
        " ref.path WHERE id = o.path2) FROM ref.operation o LEFT JOIN ref.credential k ON"
        " k.id = o.credential WHERE o.id = ?1",
        "SELECT k.flavor, k.uid, (SELECT text FROM sut.path WHERE id = o.path), (SELECT text FROM"
        " sut.path WHERE id = o.path2) FROM sut.operation o LEFT JOIN sut.credential k ON"
        " k.id = o.credential WHERE o.id = ?1",
    };
    int side = c->example_count && c->examples[0].operation[REF] ? REF : SUT;
    int64_t id = c->example_count ? c->examples[0].operation[side] : 0;
    sqlite3_stmt *stmt;
    int result;

    if (!id)
        return 0;
    if (pairs_load(p, side, id, &p->pair.half[side], err) < 0 ||
        sql_prepare(p->c->db, sql[side], &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_int64(stmt, 1, id);
    result = sql_row(stmt, err);
    if (result > 0) {
        if (sqlite3_column_type(stmt, 1) != SQLITE_NULL)
            snprintf(caller, WORDS_MAX, "uid %lld", (long long)sqlite3_column_int64(stmt, 1));
        request_words(&p->pair.half[side].effect, (const char *)sqlite3_column_text(stmt, 2),
                      (const char *)sqlite3_column_text(stmt, 3), request);
    }
    sqlite3_finalize(stmt);
    sqlite3_reset(p->row[side]);
    return result < 0 ? result : 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), n = strlen(end);

    return len >= n && strcmp(text + len - n, end) == 0;
}

int explain_subject(const char *what)
{
    static const char *const of_ref[] = { "only ref",    "ref of",      "ref changed", "ref from",
                                          "sut smaller", "sut earlier", "sut fewer" };
    const char *comma = strstr(what, ", ");

    for (size_t i = 0; i < sizeof(of_ref) / sizeof(of_ref[0]); i++)
        if (strncmp(what, of_ref[i], strlen(of_ref[i])) == 0)
            return REF;
    if (strncmp(what, "only sut", 8) == 0 || strncmp(what, "sut ", 4) == 0)
        return SUT;
    if (!comma)
        return ends_with(what, " only sut") ? SUT : REF;
    return ends_with(comma, "_OK") || ends_with(comma, ", SUCCESS") ||
                   strncmp(what, "UNSTABLE, ", 10) == 0
               ? SUT
               : REF;
}

/* The status of the side that did not succeed: of "NFS3_OK, NFS3ERR_ACCES". */
static void error_words(const char *what, int one, char text[WORDS_MAX])
{
    const char *comma = strstr(what, ", ");

    if (comma)
        snprintf(text, WORDS_MAX, "%.*s", one == REF ? 64 : (int)(comma - what),
                 one == REF ? comma + 2 : what);
}

const char *explain_group(struct pairs *p, const struct group *c, const char *template,
                          char text[EXPLANATION_MAX], struct err *err)
{
    enum { ONE, OTHER, CALLER, REQUEST, FAILURE, WORDS };
    static const char *const names[WORDS] = { "{one}", "{other}", "{caller}", "{request}",
                                              "{error}" };
    char words[WORDS][WORDS_MAX] = { "", "", "a caller", "the request", "an error" };
    int one = explain_subject(c->what);
    size_t len = 0;

    if (side_words(p, one, words[ONE], err) < 0 || side_words(p, !one, words[OTHER], err) < 0 ||
        ((strstr(template, names[CALLER]) || strstr(template, names[REQUEST])) &&
         find_request(p, c, words[CALLER], words[REQUEST], err) < 0))
        return NULL;
    error_words(c->what, one, words[FAILURE]);
    while (*template && len + 1 < EXPLANATION_MAX) {
        int word = 0;

        while (word < WORDS && strncmp(template, names[word], strlen(names[word])) != 0)
            word++;
        if (word == WORDS) {
            text[len++] = *template ++;
            continue;
        }
        len += (size_t)snprintf(text + len, EXPLANATION_MAX - len, "%s", words[word]);
        template += strlen(names[word]);
    }
    text[len < EXPLANATION_MAX ? len : EXPLANATION_MAX - 1] = '\0';
    return text;
}

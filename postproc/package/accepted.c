/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/accepted.c
 *
 * Reads the maker's file and matches it with the audit: each finding needs a line, and each line a
 * finding.  accepted_agree compares what a package says with an audit, kind by kind and class by
 * class.  make.c reads the file; verify_lists.c and verify_again.c use rows that a package states.
 * The contract is in accepted.h.
 */
#include "package/accepted.h"
#include "base/grow.h"
#include "package/package_text.h"

#include <errno.h>
#include <stdlib.h>

enum { ID = 16, LINES_MAX = 4096 };

int accepted_add(struct accepted *a, const struct accepted_row *row, struct err *err)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (strcmp(a->rows[i].kind, row->kind) == 0 && strcmp(a->rows[i].what, row->what) == 0 &&
            strcmp(a->rows[i].reason, row->reason) == 0) {
            a->rows[i].count += row->count;
            return 0;
        }
    if (GROW(a->rows, a->count, a->cap) < 0)
        return err_memory(err, "accepted findings");
    a->rows[a->count++] = *row;
    return 0;
}

void accepted_free(struct accepted *a)
{
    free(a->rows);
    memset(a, 0, sizeof(*a));
}

/* --- the file --- */

struct line {
    const char *id, *reason; /* ended by zeros */
    unsigned number;
    bool used;
};

struct reading {
    const char *path;
    struct accepted *accepted;
    struct line lines[LINES_MAX];
    unsigned count;
    uint64_t missing;
    char first[ID + 1]; /* that is missing */
};

static int read_line(struct reading *r, char *text, unsigned number, struct err *err)
{
    size_t len = strlen(text);
    struct line *line = &r->lines[r->count];

    while (len && (text[len - 1] == ' ' || text[len - 1] == '\t' || text[len - 1] == '\r'))
        text[--len] = '\0';
    if (!len || text[0] == '#')
        return 0;
    if (strspn(text, "0123456789abcdef") != ID || (len > ID && text[ID] != ' ' && text[ID] != '\t'))
        return err_set(err, ERR_INPUT, "%s:%u: expected a finding's identity and a reason", r->path,
                       number);
    if (r->count == LINES_MAX)
        return err_set(err, ERR_INPUT, "%s: more than %d findings", r->path, LINES_MAX);
    line->id = text;
    line->number = number;
    line->reason = text + len;
    if (len > ID) {
        text[ID] = '\0';
        line->reason = text + ID + 1 + strspn(text + ID + 1, " \t");
    }
    len = strlen(line->reason);
    if (!len)
        return err_set(err, ERR_INPUT, "%s:%u: a finding without a reason", r->path, number);
    if (len > ACCEPTED_REASON_MAX || !text_is_plain(line->reason, len, false) ||
        strchr(line->reason, '|'))
        return err_set(err, ERR_INPUT,
                       "%s:%u: a reason is UTF-8 text of %d bytes at most, without \"|\"", r->path,
                       number, ACCEPTED_REASON_MAX);
    for (unsigned i = 0; i < r->count; i++)
        if (strcmp(r->lines[i].id, line->id) == 0)
            return err_set(err, ERR_INPUT, "%s:%u: the same as in line %u", r->path, number,
                           r->lines[i].number);
    r->count++;
    return 0;
}

static int take_item(void *ctx, const struct audit_item *item, struct err *err)
{
    struct reading *r = ctx;
    struct accepted_row row = { .count = item->count };

    for (unsigned i = 0; i < r->count; i++) {
        if (strcmp(r->lines[i].id, item->id) != 0)
            continue;
        r->lines[i].used = true;
        snprintf(row.kind, sizeof(row.kind), "%s", item->kind);
        snprintf(row.what, sizeof(row.what), "%s", item->what);
        snprintf(row.reason, sizeof(row.reason), "%s", r->lines[i].reason);
        return accepted_add(r->accepted, &row, err);
    }
    if (!r->missing++)
        snprintf(r->first, sizeof(r->first), "%s", item->id);
    return 0;
}

static int match(struct reading *r, const struct audit *audit, struct err *err)
{
    if (audit_each(audit, take_item, r, err) < 0)
        return -err->code;
    if (r->missing) {
        err_set(err, ERR_INPUT, "%s: does not accept %llu of the findings, among them %s", r->path,
                (unsigned long long)r->missing, r->first);
        return 1;
    }
    for (unsigned i = 0; i < r->count; i++)
        if (!r->lines[i].used) {
            err_set(err, ERR_INPUT, "%s:%u: not a finding of this audit: %s", r->path,
                    r->lines[i].number, r->lines[i].id);
            return 1;
        }
    return 0;
}

static char *read_file(const char *path, struct err *err)
{
    FILE *file = fopen(path, "re");
    char *text = calloc(1, ACCEPTED_FILE_MAX + 1);
    size_t len = file && text ? fread(text, 1, ACCEPTED_FILE_MAX + 1, file) : 0;

    if (!file || !text || ferror(file))
        err_set(err, ERR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    else if (len > ACCEPTED_FILE_MAX || strlen(text) != len)
        err_set(err, ERR_INPUT, "%s: not a text of up to %d bytes", path, ACCEPTED_FILE_MAX);
    else
        len = SIZE_MAX;
    if (file)
        fclose(file);
    if (len == SIZE_MAX)
        return text;
    free(text);
    return NULL;
}

int accepted_read(struct accepted *accepted, const char *path, const struct audit *audit,
                  struct err *err)
{
    struct reading *r = calloc(1, sizeof(*r));
    char *text = read_file(path, err), *next = text;
    int result = text ? 0 : -err->code;

    if (text && !r)
        result = err_memory(err, "accepted findings");
    for (unsigned number = 1; result == 0 && next; number++) {
        char *line = strsep(&next, "\n");

        r->path = path;
        r->accepted = accepted;
        result = read_line(r, line, number, err);
    }
    if (result == 0)
        result = match(r, audit, err);
    free(r);
    free(text);
    return result;
}

/* --- comparing --- */

struct agreeing {
    const struct accepted *accepted;
    uint64_t total;
    bool same;
};

static int compare_class(void *ctx, const struct audit_item *item, struct err *err)
{
    struct agreeing *a = ctx;
    uint64_t count = 0;

    (void)err;
    for (uint32_t i = 0; i < a->accepted->count; i++)
        if (strcmp(a->accepted->rows[i].kind, item->kind) == 0 &&
            strcmp(a->accepted->rows[i].what, item->what) == 0)
            count += a->accepted->rows[i].count;
    a->same = a->same && count == item->count;
    a->total += count;
    return 0;
}

bool accepted_agree(const struct accepted *accepted, const struct audit *audit)
{
    struct agreeing a = { accepted, 0, true };
    uint64_t total = 0;
    struct err err;

    audit_each_class(audit, compare_class, &a, &err);
    for (uint32_t i = 0; i < accepted->count; i++)
        total += accepted->rows[i].count;
    return a.same && a.total == total && total == audit_findings(audit);
}

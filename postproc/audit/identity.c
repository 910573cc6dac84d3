/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/identity.c
 *
 * Findings by identity, so that they can be accepted one by one.
 */
#include "audit/report.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

static uint64_t mix(uint64_t digest, const void *data, size_t len)
{
    return XXH3_64bits_withSeed(data, len, digest);
}

static uint64_t mix_quote(uint64_t digest, const struct quote *q)
{
    uint32_t shown = q->len < FINDING_BYTES ? q->len : FINDING_BYTES;

    digest = mix(digest, &q->len, sizeof(q->len));
    digest = mix(digest, &q->number, sizeof(q->number));
    return mix(digest, q->data, shown);
}

/* Not of frames of the original, whose files may be joined otherwise. */
uint64_t finding_identity(const struct finding *f)
{
    const char *kind = finding_kind_name(f->kind);
    uint64_t digest = mix(0, kind, strlen(kind));

    digest = mix(digest, f->what, strlen(f->what));
    digest = mix(digest, &f->offset, sizeof(f->offset));
    digest = mix(digest, &f->frame, sizeof(f->frame));
    digest = mix(digest, f->place, strlen(f->place));
    digest = mix_quote(mix_quote(digest, &f->original), &f->anonymized);
    if (f->kind == FOUND_RECOMPUTED)
        digest = mix_quote(digest, &f->expected);
    return mix(digest, f->text, strlen(f->text));
}

static struct audit_item item_of(const struct finding_count *c, uint64_t digest, uint64_t count)
{
    struct audit_item item = { "", finding_kind_name(c->kind), c->what, count };

    snprintf(item.id, sizeof(item.id), "%016llx", (unsigned long long)digest);
    return item;
}

static bool is_of(const struct finding *f, const struct finding_count *c)
{
    return f->kind == c->kind && f->what == c->what;
}

static int each(const struct audit *a,
                int (*visit)(void *ctx, const struct audit_item *, const struct finding *,
                             struct err *),
                void *ctx, struct err *err)
{
    int result = 0;

    for (uint32_t i = 0; i < a->count_rows; i++) {
        const struct finding_count *c = &a->counts[i];
        struct audit_item item;

        for (uint32_t j = 0; result == 0 && j < a->finding_count; j++) {
            if (!is_of(&a->findings[j], c))
                continue;
            item = item_of(c, finding_identity(&a->findings[j]), 1);
            result = visit(ctx, &item, &a->findings[j], err);
        }
        if (result == 0 && c->rest) {
            item = item_of(c, c->rest_digest, c->rest);
            result = visit(ctx, &item, NULL, err);
        }
    }
    return result;
}

struct visiting {
    audit_visit *visit;
    void *ctx;
};

static int visit_item(void *ctx, const struct audit_item *item, const struct finding *f,
                      struct err *err)
{
    const struct visiting *v = ctx;

    (void)f;
    return v->visit(v->ctx, item, err);
}

int audit_each(const struct audit *a, audit_visit *visit, void *ctx, struct err *err)
{
    struct visiting v = { visit, ctx };

    return each(a, visit_item, &v, err);
}

int audit_each_class(const struct audit *a, audit_visit *visit, void *ctx, struct err *err)
{
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < a->count_rows; i++) {
        struct audit_item item = item_of(&a->counts[i], 0, a->counts[i].count);

        item.id[0] = '\0';
        result = visit(ctx, &item, err);
    }
    return result;
}

static int put_item(void *ctx, const struct audit_item *item, const struct finding *f,
                    struct err *err)
{
    char place[LINE_TEXT_MAX], one[QUOTE_TEXT_MAX], two[QUOTE_TEXT_MAX];
    FILE *out = ctx;

    (void)err;
    if (f)
        fprintf(out, "\n# %s: %s: %s: %s -> %s; %s\n%s \n", item->kind, item->what,
                finding_place(f, false, place),
                quote_text(f->kind == FOUND_RECOMPUTED ? &f->expected : &f->original, false, one),
                quote_text(&f->anonymized, false, two), f->text, item->id);
    else
        fprintf(out, "\n# %s: %s: %llu more, which are accepted together\n%s \n", item->kind,
                item->what, (unsigned long long)item->count, item->id);
    return 0;
}

int audit_template(const struct audit *a, const char *path, struct err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    bool bad;

    if (!out) {
        int reason = errno;

        if (fd >= 0)
            close(fd);
        return err_set(err, reason == EEXIST ? ERR_USAGE : ERR_SYSTEM, "%s: %s", path,
                       strerror(reason));
    }
    fputs("# Findings of an audit, for \"nfsdigest package --accept\": put behind each the reason "
          "why "
          "it may\n# be released all the same.  Reasons are released; the rest of this file quotes "
          "the original.\n",
          out);
    each(a, put_item, out, err);
    bad = ferror(out) != 0;
    if (fclose(out) != 0 || bad)
        return err_set(err, ERR_SYSTEM, "%s: cannot be written", path);
    return 0;
}

void audit_withhold(struct audit *a)
{
    a->finding_count = 0;
}

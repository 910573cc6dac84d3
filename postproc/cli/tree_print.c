/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/tree_print.c
 *
 * Entries of a tree (as ls -l shows them, or as JSON), its summary, its growth, and inferred
 * operations.  For cmd_tree.c.  The contract is in tree_print.h.
 */
#include "cli/tree_print.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/values.h"
#include "cli/plan_print.h"

static const char *const type_names[] = { "unknown", "file",    "directory", "block",
                                          "char",    "symlink", "socket",    "fifo" };

static int text_of(struct bytes bytes, bool is_path, struct buf *out, struct err *err)
{
    out->len = 0;
    if (escape_name(bytes, is_path, out) < 0 || buf_append(out, "", 1) < 0)
        return err_memory(err, "names");
    return 0;
}

/* As ls shows it: ?rwxr-xr-x */
static void print_mode(const struct node *n)
{
    static const char letters[] = "?-dbclsp";
    char text[] = "??????????";

    text[0] = letters[n->type];
    if (n->knows & KNOWS_MODE) {
        for (int i = 0; i < 9; i++)
            text[1 + i] = n->mode & 0400u >> i ? "rwxrwxrwx"[i] : '-';
        if (n->mode & 04000)
            text[3] = text[3] == 'x' ? 's' : 'S';
        if (n->mode & 02000)
            text[6] = text[6] == 'x' ? 's' : 'S';
        if (n->mode & 01000)
            text[9] = text[9] == 'x' ? 't' : 'T';
    }
    fputs(text, stdout);
}

static void print_columns(const struct node *n)
{
    char owner[32] = "?", size[40] = "?";

    print_mode(n);
    if (n->knows & KNOWS_UID)
        snprintf(owner, sizeof(owner), "%u:%u", n->uid, n->gid);
    if (n->type == OBJECT_BLK || n->type == OBJECT_CHR)
        snprintf(size, sizeof(size), "%u,%u", n->rdev[0], n->rdev[1]);
    else if (node_is_directory(n))
        snprintf(size, sizeof(size), "-");
    else if (n->knows & KNOWS_SIZE)
        snprintf(size, sizeof(size), "%llu%s", (unsigned long long)n->size,
                 n->flags & NODE_AT_LEAST ? "+" : "");
    printf(" %-11s %12s ", owner, size);
}

struct text {
    struct tree *tree;
    struct buf name;
};

static int print_item(void *ctx, const struct tree_item *item, struct err *err)
{
    struct text *t = ctx;

    if (item->leaves)
        return 0;
    print_columns(item->node);
    if (item->depth) {
        if (text_of(item->name, false, &t->name, err) < 0)
            return -err->code;
        printf("%*s%s", (int)(item->depth < 200 ? item->depth : 200) * 2, "",
               (const char *)t->name.data);
    } else {
        fputs(item->path, stdout);
    }
    if (item->node->knows & KNOWS_LINK) {
        if (text_of(text_bytes(item->node->link), true, &t->name, err) < 0)
            return -err->code;
        printf(" -> %s", (const char *)t->name.data);
    }
    if (item->first.data) {
        if (text_of(item->first, true, &t->name, err) < 0)
            return -err->code;
        printf(" = %s", (const char *)t->name.data);
    }
    putchar('\n');
    return ferror(stdout) ? err_set(err, ERR_SYSTEM, "standard output cannot be written") : 0;
}

int tree_text(struct tree *tree, const char *under, struct err *err)
{
    struct text t = { .tree = tree };
    int result = tree_walk(tree, under, print_item, &t, err);

    buf_free(&t.name);
    return result;
}

static void json_if_known(struct json *j, const char *key, bool known, uint64_t value)
{
    if (known)
        json_u64(j, key, value);
    else
        json_null(j, key);
}

static void json_time(struct json *j, const char *key, bool known, int64_t value)
{
    if (known)
        json_i64(j, key, value);
    else
        json_null(j, key);
}

static int print_json(void *ctx, const struct tree_item *item, struct err *err)
{
    const struct node *n = item->node;
    bool device = n->type == OBJECT_BLK || n->type == OBJECT_CHR;
    struct json j = { .out = stdout };
    struct tree *tree = ctx;

    if (item->leaves)
        return 0;
    json_object(&j, NULL);
    json_text(&j, "kind", "entry");
    json_i64(&j, "object", node_number(&tree->learn.hierarchy, item->id));
    json_text(&j, "path", item->path);
    json_bool(&j, "root", !item->depth && !item->entry);
    json_text(&j, "type", type_names[n->type]);
    json_if_known(&j, "size", n->knows & KNOWS_SIZE, n->size);
    json_bool(&j, "at_least", n->flags & NODE_AT_LEAST);
    json_bool(&j, "guessed", n->flags & NODE_GUESSED);
    json_if_known(&j, "mode", n->knows & KNOWS_MODE, n->mode);
    json_if_known(&j, "uid", n->knows & KNOWS_UID, n->uid);
    json_if_known(&j, "gid", n->knows & KNOWS_GID, n->gid);
    json_if_known(&j, "nlink", n->knows & KNOWS_NLINK, n->nlink);
    json_time(&j, "atime", n->knows & KNOWS_ATIME, n->atime);
    json_time(&j, "mtime", n->knows & KNOWS_MTIME, n->mtime);
    json_time(&j, "ctime", n->knows & KNOWS_CTIME, n->ctime);
    json_if_known(&j, "device_major", device && n->knows & KNOWS_RDEV, n->rdev[0]);
    json_if_known(&j, "device_minor", device && n->knows & KNOWS_RDEV, n->rdev[1]);
    if (n->knows & KNOWS_LINK)
        json_name(&j, "link", text_bytes(n->link));
    else
        json_null(&j, "link");
    json_object_end(&j);
    json_end(&j);
    if (j.failed)
        return err_memory(err, "names");
    return ferror(stdout) ? err_set(err, ERR_SYSTEM, "standard output cannot be written") : 0;
}

int tree_json(struct tree *tree, const char *under, struct err *err)
{
    return tree_walk(tree, under, print_json, tree, err);
}

void tree_summary_text(const struct plan_counts *c)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], d[VALUE_TEXT_MAX];

    plan_print_before(c);
    printf("                %s directories; %s files and others, %s\n",
           count_text(c->directories, a), count_text(c->objects - c->directories, b),
           size_text(c->bytes, d));
    plan_print_operations(c);
}

void tree_summary_json(const struct plan_counts *c)
{
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    json_text(&j, "kind", "summary");
    json_u64(&j, "objects", c->objects);
    json_u64(&j, "entries", c->entries);
    json_u64(&j, "subtrees", c->subtrees);
    json_u64(&j, "directories", c->directories);
    json_u64(&j, "files", c->objects - c->directories);
    json_u64(&j, "bytes", c->bytes);
    json_u64(&j, "operations", c->operations);
    json_u64(&j, "others", c->others);
    json_object(&j, "inferred");
    for (int i = 1; i < REPAIR_REASON_MAX; i++)
        json_u64(&j, repair_reason_name((enum repair_reason)i), c->by_reason[i]);
    json_object_end(&j);
    json_u64(&j, "superfluous", c->superfluous);
    json_object(&j, "unplayable");
    for (int i = 1; i < UNPLAYABLE_MAX; i++)
        json_u64(&j, unplayable_name((enum unplayable)i), c->by_unplayable[i]);
    json_object_end(&j);
    json_object_end(&j);
    json_end(&j);
}

void tree_growth_text(const struct tree *t)
{
    char a[VALUE_TEXT_MAX];

    printf("%14s %14s %10s %10s %12s %14s\n", "trace length", "operations", "subtrees", "files",
           "directories", "bytes");
    for (uint32_t i = 0; i < t->growth_count; i++) {
        const struct tree_growth *g = &t->growth[i];

        printf("%14s %14llu %10llu %10llu %12llu %14llu\n",
               duration_text(g->time - t->first_time, a), (unsigned long long)g->operations,
               (unsigned long long)g->counts.subtrees, (unsigned long long)g->counts.files,
               (unsigned long long)g->counts.directories, (unsigned long long)g->counts.bytes);
    }
}

void tree_growth_json(const struct tree *t)
{
    struct json j = { .out = stdout };

    for (uint32_t i = 0; i < t->growth_count; i++) {
        const struct tree_growth *g = &t->growth[i];

        json_object(&j, NULL);
        json_text(&j, "kind", "growth");
        json_i64(&j, "length", g->time - t->first_time);
        json_u64(&j, "operations", g->operations);
        json_u64(&j, "subtrees", g->counts.subtrees);
        json_u64(&j, "files", g->counts.files);
        json_u64(&j, "directories", g->counts.directories);
        json_u64(&j, "bytes", g->counts.bytes);
        json_object_end(&j);
        json_end(&j);
    }
}

static const char *procedure_name(const struct inference *i)
{
    const struct procedure *p = procedure_find(100003, 3, i->procedure);

    return p ? p->name : "?";
}

static int print_place(int64_t parent, const char *name, struct buf *text, struct err *err)
{
    if (!name) {
        fputs(" ?", stdout);
        return 0;
    }
    if (text_of(text_bytes(name), false, text, err) < 0)
        return -err->code;
    printf(" [#%lld]/%s", (long long)parent, (const char *)text->data);
    return 0;
}

int tree_inferred_text(const struct inference *i, struct buf *text, struct err *err)
{
    int result = 0;

    printf("before operation %lld: %s", (long long)i->precedes, procedure_name(i));
    if (i->name || i->name2)
        result = print_place(i->parent, i->name, text, err);
    if (result == 0 && i->name2)
        result = print_place(i->parent2, i->name2, text, err);
    if (i->object > 0)
        printf(" of object %lld", (long long)i->object);
    printf(": %s", repair_reason_name((enum repair_reason)i->reason));
    if (i->witness)
        printf(", operation %lld showed the opposite", (long long)i->witness);
    if (i->explained)
        printf(", perhaps operation %lld without a reply", (long long)i->explained);
    putchar('\n');
    return result;
}

static int json_pool_name(struct json *j, const char *key, const char *name, struct buf *text,
                          struct err *err)
{
    if (name && text_of(text_bytes(name), false, text, err) < 0)
        return -err->code;
    json_text(j, key, name ? (const char *)text->data : NULL);
    return 0;
}

int tree_inferred_json(const struct inference *i, struct buf *text, struct err *err)
{
    struct json j = { .out = stdout };
    int result;

    json_object(&j, NULL);
    json_text(&j, "kind", "inferred");
    json_i64(&j, "precedes", i->precedes);
    json_text(&j, "procedure", procedure_name(i));
    json_text(&j, "reason", repair_reason_name((enum repair_reason)i->reason));
    json_i64(&j, "witness", i->witness);
    json_i64(&j, "explained", i->explained);
    json_i64(&j, "object", i->object);
    json_i64(&j, "parent", i->parent);
    json_i64(&j, "parent2", i->parent2);
    result = json_pool_name(&j, "name", i->name, text, err);
    if (result == 0)
        result = json_pool_name(&j, "name2", i->name2, text, err);
    json_object_end(&j);
    json_end(&j);
    return result;
}

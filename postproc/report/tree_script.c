/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/tree_script.c
 *
 * The tree as a POSIX shell script, and as an mtree specification.  Names come from the network:
 * one that is no name of a file (with a slash or a null byte in it, ".", "..") is left out with all
 * that is below it, so that nothing can be made outside of the folder.
 */
#include "report/tree_script.h"
#include "base/escape.h"

#include <stdio.h>
#include <time.h>

struct script {
    FILE *out;
    struct tree *tree;
    bool under;    /* the folder itself is the tree's top */
    uint32_t skip; /* depth below which nothing can be made, or UINT32_MAX */
    uint64_t unmade;
    struct buf text;
};

static bool is_makeable(struct bytes name)
{
    return bytes_are_name(name) && !bytes_are_dots(name);
}

/* Bytes that are printed as they are, in single quotes. */
static void print_quoted(FILE *out, struct bytes b)
{
    putc('\'', out);
    for (uint32_t i = 0; i < b.len; i++)
        if (b.data[i] == '\'')
            fputs("'\\''", out);
        else
            putc(b.data[i], out);
    putc('\'', out);
}

static void print_iso(FILE *out, int64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm tm;
    char text[32];

    gmtime_r(&seconds, &tm);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    fprintf(out, " %s.%09dZ", text, (int)(ns % 1000000000));
}

/* MODE UID GID ATIME MTIME, "-" for what is not known. */
static void print_attributes(FILE *out, const struct node *n)
{
    if (n->knows & KNOWS_MODE)
        fprintf(out, " %04o", n->mode & 07777);
    else
        fputs(" -", out);
    if (n->knows & KNOWS_UID)
        fprintf(out, " %u", n->uid);
    else
        fputs(" -", out);
    if (n->knows & KNOWS_GID)
        fprintf(out, " %u", n->gid);
    else
        fputs(" -", out);
    if (n->knows & KNOWS_ATIME)
        print_iso(out, n->atime);
    else
        fputs(" -", out);
    if (n->knows & KNOWS_MTIME)
        print_iso(out, n->mtime);
    else
        fputs(" -", out);
    putc('\n', out);
}

/* What the script is called by, quoted: of roots "root-N". */
static void print_name(const struct script *s, const struct tree_item *item)
{
    if (item->depth)
        print_quoted(s->out, item->name);
    else if (s->under)
        putc('.', s->out);
    else
        fprintf(s->out, "root-%lld", (long long)node_number(&s->tree->learn.hierarchy, item->id));
}

static void print_first(const struct script *s, const struct tree_item *item)
{
    if (!s->under)
        fprintf(s->out, "root-%lld/",
                (long long)node_number(&s->tree->learn.hierarchy, item->first_root));
    print_quoted(s->out, item->first);
}

/* Whether the item is left out: it cannot be made, or is below something that cannot. */
static int left_out(struct script *s, const struct tree_item *item, struct err *err)
{
    if (item->depth <= s->skip)
        s->skip = UINT32_MAX;
    if (s->skip != UINT32_MAX) {
        s->unmade += !item->leaves;
        return 1;
    }
    if (!item->depth || (is_makeable(item->name) &&
                         (!item->node->link || !memchr(text_bytes(item->node->link).data, 0,
                                                       text_bytes(item->node->link).len))))
        return 0;
    s->skip = item->depth;
    if (item->leaves)
        return 1;
    s->unmade++;
    s->text.len = 0;
    if (escape_name(item->name, false, &s->text) < 0 || buf_append(&s->text, "", 1) < 0)
        return err_memory(err, "names");
    fprintf(s->out, "# no file can have this name: %s\n", (const char *)s->text.data);
    return 1;
}

static void shell_special(const struct script *s, const struct tree_item *item)
{
    const struct node *n = item->node;

    fprintf(s->out, "s ");
    print_name(s, item);
    fprintf(s->out, " %c %u %u", "?-dbclsp"[n->type], n -> rdev[0], n -> rdev[1]);
    print_attributes(s->out, n);
}

static int shell_item(void *ctx, const struct tree_item *item, struct err *err)
{
    struct script *s = ctx;
    const struct node *n = item->node;
    int out = left_out(s, item, err);

    if (out)
        return out < 0 ? out : 0;
    if (item->leaves) {
        fputs("u ", s->out);
        print_name(s, item);
        print_attributes(s->out, n);
        return 0;
    }
    if (item->first.data) {
        fputs("h ", s->out);
        print_name(s, item);
        putc(' ', s->out);
        print_first(s, item);
        putc('\n', s->out);
        return 0;
    }
    switch (n->type) {
    case OBJECT_DIR:
        if (n->flags & NODE_VISITED && item->depth) {
            fputs("# a second name of a directory is left out\n", s->out);
            return 0;
        }
        if (!item->depth && !s->under)
            fprintf(s->out, "# %s: %s\n", "what follows is", item->path);
        fputs("d ", s->out);
        print_name(s, item);
        putc('\n', s->out);
        return 0;
    case OBJECT_LNK:
        fputs("l ", s->out);
        print_name(s, item);
        putc(' ', s->out);
        print_quoted(s->out, n->knows & KNOWS_LINK
                                 ? text_bytes(n->link)
                                 : (struct bytes){ (const uint8_t *)"unknown", 7 });
        print_attributes(s->out, n);
        return 0;
    case OBJECT_UNKNOWN:
    case OBJECT_REG:
        fputs("f ", s->out);
        print_name(s, item);
        fprintf(s->out, " %llu", (unsigned long long)(n->knows & KNOWS_SIZE ? n->size : 0));
        print_attributes(s->out, n);
        return 0;
    default:
        shell_special(s, item);
        return ferror(s->out) ? err_set(err, ERR_SYSTEM, "standard output cannot be written") : 0;
    }
}

static const char shell_head[] =
    "#!/bin/sh\n"
    "# Makes the tree of a trace, by \"nfsdigest tree --script sh\".  Usage: sh FILE DIRECTORY\n"
    "# DIRECTORY must be new or empty.  Files are sparse; owners are set, and devices made, by "
    "root\n"
    "# only.\n"
    "set -eu\n"
    "LC_ALL=C\n"
    "export LC_ALL\n"
    "unset CDPATH\n"
    "[ $# = 1 ] || { echo \"usage: sh $0 DIRECTORY\" >&2; exit 2; }\n"
    "case $1 in /*) top=$1 ;; *) top=$PWD/$1 ;; esac\n"
    "mkdir -p \"$top\"\n"
    "cd -P \"$top\"\n"
    "[ -z \"$(ls -A .)\" ] || { echo \"$0: $1 is not empty\" >&2; exit 2; }\n"
    "if [ \"$(id -u)\" = 0 ]; then root=yes; else root=; fi\n"
    "# NAME MODE UID GID ATIME MTIME, - for what is not known\n"
    "attributes() {\n"
    "    if [ -n \"$root\" ] && [ \"$3\" != - ]; then chown -h \"$3:$4\" \"./$1\"; fi\n"
    "    if [ ! -h \"./$1\" ] && [ \"$2\" != - ]; then chmod \"$2\" \"./$1\"; fi\n"
    "    if [ \"$5\" != - ]; then touch -h -a -d \"$5\" \"./$1\"; fi\n"
    "    if [ \"$6\" != - ]; then touch -h -m -d \"$6\" \"./$1\"; fi\n"
    "}\n"
    "# a directory: goes into it (d), and leaves it (u)\n"
    "d() {\n"
    "    [ \"$1\" = . ] || { mkdir \"./$1\" && cd -P \"./$1\"; }\n"
    "}\n"
    "u() {\n"
    "    [ \"$1\" = . ] || cd -P ..\n"
    "    attributes \"$@\"\n"
    "}\n"
    "# a file: NAME SIZE ...\n"
    "f() {\n"
    "    truncate -s \"$2\" \"./$1\"\n"
    "    attributes \"$1\" \"$3\" \"$4\" \"$5\" \"$6\" \"$7\"\n"
    "}\n"
    "# a symbolic link: NAME TEXT ...\n"
    "l() {\n"
    "    ln -s -- \"$2\" \"./$1\"\n"
    "    attributes \"$1\" \"$3\" \"$4\" \"$5\" \"$6\" \"$7\"\n"
    "}\n"
    "# another name: NAME FIRST\n"
    "h() {\n"
    "    ln -P \"$top/$2\" \"./$1\"\n"
    "}\n"
    "# a device, socket or pipe: NAME KIND MAJOR MINOR ...\n"
    "s() {\n"
    "    case $2$root in\n"
    "        p*) mkfifo \"./$1\" ;;\n"
    "        [bc]yes) mknod \"./$1\" \"$2\" \"$3\" \"$4\" ;;\n"
    "        *)\n"
    "            printf 'not made, kind %s: %s\\n' \"$2\" \"$1\" >&2\n"
    "            return 0\n"
    "            ;;\n"
    "    esac\n"
    "    attributes \"$1\" \"$5\" \"$6\" \"$7\" \"$8\" \"$9\"\n"
    "}\n";

int tree_shell(struct tree *tree, const char *under, FILE *out, uint64_t *unmade, struct err *err)
{
    struct script s = { .out = out, .tree = tree, .under = under != NULL, .skip = UINT32_MAX };
    int result;

    fputs(shell_head, s.out);
    result = tree_walk(tree, under, shell_item, &s, err);
    *unmade = s.unmade;
    buf_free(&s.text);
    return result;
}

/* As vis(3) with VIS_OCTAL writes names that are no plain graphic characters. */
static void print_vis(FILE *out, struct bytes b)
{
    for (uint32_t i = 0; i < b.len; i++) {
        uint8_t c = b.data[i];

        if (c > 0x20 && c < 0x7f && !strchr("\\#*?[=", c))
            putc(c, out);
        else
            fprintf(out, "\\%03o", c);
    }
}

static void print_mtree_time(FILE *out, const char *key, bool known, int64_t ns)
{
    if (known)
        fprintf(out, " %s=%lld.%09lld", key, (long long)(ns / 1000000000),
                (long long)(ns % 1000000000));
}

static int mtree_item(void *ctx, const struct tree_item *item, struct err *err)
{
    static const char *const types[] = { "file", "file", "dir",    "block",
                                         "char", "link", "socket", "fifo" };
    struct script *s = ctx;
    const struct node *n = item->node;
    int out = left_out(s, item, err);

    if (out || item->leaves)
        return out < 0 ? out : 0;
    putc('.', s->out);
    if (!s->under)
        fprintf(s->out, "/root-%lld",
                (long long)node_number(&s->tree->learn.hierarchy, item->root));
    if (item->depth) {
        putc('/', s->out);
        print_vis(s->out, item->way);
    }
    fprintf(s->out, " type=%s", types[n->type]);
    if (n->knows & KNOWS_MODE)
        fprintf(s->out, " mode=%04o", n->mode & 07777);
    if (n->knows & KNOWS_UID)
        fprintf(s->out, " uid=%u", n->uid);
    if (n->knows & KNOWS_GID)
        fprintf(s->out, " gid=%u", n->gid);
    if (n->type <= OBJECT_REG)
        fprintf(s->out, " size=%llu", (unsigned long long)(n->knows & KNOWS_SIZE ? n->size : 0));
    if (n->knows & KNOWS_NLINK)
        fprintf(s->out, " nlink=%u", n->nlink);
    if (n->type == OBJECT_BLK || n->type == OBJECT_CHR)
        fprintf(s->out, " device=native,%u,%u", n->rdev[0], n->rdev[1]);
    if (n->knows & KNOWS_LINK) {
        fputs(" link=", s->out);
        print_vis(s->out, text_bytes(n->link));
    }
    print_mtree_time(s->out, "time", n->knows & KNOWS_MTIME, n->mtime);
    putc('\n', s->out);
    return ferror(s->out) ? err_set(err, ERR_SYSTEM, "standard output cannot be written") : 0;
}

int tree_mtree(struct tree *tree, const char *under, FILE *out, uint64_t *unmade, struct err *err)
{
    struct script s = { .out = out, .tree = tree, .under = under != NULL, .skip = UINT32_MAX };
    int result;

    fputs("#mtree v2.0\n", s.out);
    if (!under)
        fputs(". type=dir\n", s.out);
    result = tree_walk(tree, under, mtree_item, &s, err);
    *unmade = s.unmade;
    buf_free(&s.text);
    return result;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/escape.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/outputs.h"
#include "cli/piece_list.h"
#include "pieces/join.h"
#include "pieces/state.h"
#include "show/args.h"

#include <inttypes.h>

static const char about[] =
    "Tells of pieces (nfsdigest piece) whether their records, one after the other, are\n"
    "those of one run over the whole capture.  Reads NAME.border of each NAME, in the\n"
    "order of the capture.  A NAME can also be a range of pieces, which -o made: so\n"
    "joins can share the work, as a tree.\n"
    "\n"
    "\"exact\": the records are right.  \"again\": make the piece again with --continue\n"
    "and the NAME before it, then join again.  The exit code is 1 if there is one.\n";

struct totals {
    uint64_t pieces, again, carried, adopted, frames, operations;
};

static void add(struct totals *t, const struct join_result *r)
{
    t->pieces++;
    t->again += r->verdict == JOIN_AGAIN;
    t->carried += r->carried;
    t->adopted += r->adopted;
    t->frames += r->frames;
    t->operations += r->operations;
}

static void print_row(struct json *j, const struct join_result *r)
{
    static const char *const verdicts[] = { "exact", "again", "open" };
    const char *verdict = verdicts[r->verdict];

    if (!j) {
        printf("%-5s  ", verdict);
        escape_print(stdout, r->name);
        fputs(r->why[0] ? ": " : "", stdout);
        escape_print(stdout, r->why);
        putchar('\n');
        return;
    }
    json_object(j, NULL);
    json_file(j, "piece", r->name);
    json_text(j, "verdict", verdict);
    if (r->why[0])
        json_text(j, "why", r->why);
    json_u64(j, "carried", r->carried);
    json_u64(j, "adopted", r->adopted);
    json_u64(j, "frames", r->frames);
    json_u64(j, "operations", r->operations);
    json_u64(j, "lead_in_frames", r->lead);
    json_u64(j, "frames_before", r->before);
    json_i64(j, "frame_shift", (int64_t)(r->before - r->lead));
    json_array(j, "unfinished");
    for (uint32_t i = 0; i < r->unfinished_count; i++)
        json_u64(j, NULL, r->unfinished[i]);
    json_array_end(j);
    json_object_end(j);
    json_break(j);
}

static void print_totals(struct json *j, const struct totals *t, bool complete)
{
    if (!j) {
        printf("%" PRIu64 " pieces, %" PRIu64 " to be made again; %" PRIu64 " frames, %" PRIu64
               " operations\n",
               t->pieces, t->again, t->frames, t->operations);
        if (!complete)
            printf("The last piece was not made with --last: more may follow.\n");
        return;
    }
    json_bool(j, "complete", complete);
    json_u64(j, "again", t->again);
    json_u64(j, "carried", t->carried);
    json_u64(j, "adopted", t->adopted);
    json_u64(j, "frames", t->frames);
    json_u64(j, "operations", t->operations);
    json_object_end(j);
    json_end(j);
}

/* What one run reports at its end of connections that no piece there knows. */
static void print_stopped(struct json *j, const struct join *join)
{
    const struct outline_key *key;
    char text[OUTLINE_FLOW_TEXT];
    uint32_t at = 0;

    if (j)
        json_array(j, "stopped");
    while ((key = join_stopped(join, &at))) {
        outline_flow_text(key, text);
        if (j)
            json_text(j, NULL, text);
        else
            printf("The connection between %s stopped inside a message or at a hole: what one run "
                   "finds in it later may be missing.\n",
                   text);
    }
    if (j)
        json_array_end(j);
}

static int print(bool json, const struct join *join)
{
    struct json out = { .out = stdout }, *j = json ? &out : NULL;
    struct totals totals = { 0 };
    const uint32_t count = join_count(join);

    if (j) {
        json_object(j, NULL);
        json_array(j, "pieces");
    }
    for (uint32_t i = 0; i < count; i++) {
        print_row(j, join_piece(join, i));
        add(&totals, join_piece(join, i));
    }
    if (j)
        json_array_end(j);
    print_stopped(j, join);
    print_totals(j, &totals, join_piece(join, count - 1)->last);
    return totals.again ? EXIT_FINDINGS : 0;
}

static int run(const struct piece_list *list, const char *output, bool json, struct err *err)
{
    char border[STATE_PATH_MAX];
    struct join *join;
    int rc = 0;

    if (!list->count)
        return err_set(err, ERR_USAGE, "nothing to join: name pieces, without .border");
    if (output && outputs_spare_each(list->names, list->count, ".border", "--output",
                                     state_path(border, output, ".border"), err) < 0)
        return -err->code;
    join = join_new(err);
    if (!join)
        return -err->code;
    for (uint32_t i = 0; rc == 0 && i < list->count; i++)
        rc = join_add_range(join, list->names[i], output != NULL, err);
    if (rc == 0)
        rc = join_end(join, err);
    if (rc == 0 && output)
        rc = join_write(join, output, err);
    if (rc == 0)
        rc = print(json, join);
    join_free(join);
    return rc;
}

int cmd_join(int argc, char **argv, struct err *err)
{
    struct piece_list list = { 0 };
    const char *output = NULL, *path = NULL;
    bool json = false;
    const struct arg own[] = {
        { 'o', "output", "RANGE",
          "also write RANGE.border, with which a later join\ntakes all these pieces as one; they "
          "may begin\nanywhere in the capture",
          set_text, &output },
        { 0, "list", "FILE", "read further NAMEs from this file, one a line", set_text, &path },
        { 'j', "json", NULL, "print JSON", set_flag, &json },
        { 0 },
    };
    const struct args args = { .usage = "nfsdigest join [OPTION...] NAME...",
                               .about = about,
                               .own = own };
    int first, rc = args_parse(&args, argc, argv, &first, err);

    if (rc != 1)
        return rc;
    rc = piece_list_read(&list, argv + first, argc - first, path, err);
    if (rc == 0)
        rc = run(&list, output, json, err);
    piece_list_free(&list);
    return rc;
}

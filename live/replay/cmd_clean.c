/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/escape.h"
#include "base/json.h"
#include "base/values.h"
#include "replay/clean.h"
#include "replay/commands.h"

#include <stdio.h>
#include <stdlib.h>

static int on_progress(void *ctx, const struct clean_counts *c, struct err *err)
{
    char files[VALUE_TEXT_MAX], directories[VALUE_TEXT_MAX], text[128];

    (void)err;
    snprintf(text, sizeof(text), "removed %s directories, %s other objects",
             count_text(c->directories, directories), count_text(c->files, files));
    session_progress(ctx, text);
    return 0;
}

/* The names of the roots that the dump has, for |names|; they point into |texts|. */
static uint32_t root_names(const struct session_target *t, struct bytes *names,
                           char (*texts)[RDUMP_NAME_ROOM])
{
    uint32_t count = 0;

    for (uint32_t n = 1; n <= t->plan.script->object_count; n++) {
        if (t->plan.entry_of[n] != PLAN_ROOT)
            continue;
        if (names) {
            rdump_root_name(n, texts[count]);
            names[count] =
                (struct bytes){ (uint8_t *)texts[count], (uint32_t)strlen(texts[count]) };
        }
        count++;
    }
    return count;
}

/* Everything but the marker's directory, then that. */
static int remove_tree(struct session *s, struct session_target *t, struct clean_counts *counts,
                       struct err *err)
{
    const struct clean_setup setup = { .loop = s->loop,
                                       .target = &t->target,
                                       .connections = (uint32_t)s->options->connections,
                                       .progress = on_progress,
                                       .ctx = s };
    const struct bytes scratch = { (const uint8_t *)RDUMP_SCRATCH, sizeof(RDUMP_SCRATCH) - 1 };
    struct clean_names names = { .parent = { t->target.root, t->target.root_len },
                                 .count = root_names(t, NULL, NULL) };
    char(*texts)[RDUMP_NAME_ROOM] = calloc((size_t)names.count + 1, sizeof(*texts));
    struct bytes *list = calloc((size_t)names.count + 1, sizeof(*list));
    int result = texts && list ? 0 : err_memory(err, "names");

    if (result == 0) {
        root_names(t, list, texts);
        names.names = list;
        result = clean(&setup, &names, counts, err);
    }
    if (result == 0 && !counts->interrupted) {
        names.names = &scratch;
        names.count = 1;
        names.last = marker_file; /* as long as it stands there, an interrupted clean goes on */
        result = clean(&setup, &names, counts, err);
        if (result == 0 && !counts->interrupted)
            result = session_remove_directory(t, err);
    }
    free(texts);
    free(list);
    return result;
}

static int clean_target(struct session *s, struct session_target *t, struct clean_counts *counts,
                        struct err *err)
{
    int result;

    /* if this is interrupted, neither play nor populate takes what is left for a whole tree; they
     * look at it themselves if a full server has no room for the marker */
    t->place.marker.state = MARKER_PLAYED;
    t->place.marker.identity = t->identity;
    if (!t->place.marker.contents[0])
        memcpy(t->place.marker.contents, s->options->contents.text,
               sizeof(t->place.marker.contents));
    result = marker_write_if_room(t->pipeline, &t->place, err);
    if (result == 0)
        result = remove_tree(s, t, counts, err);
    return result < 0 ? err_prefix(err, "%s", t->text) : 0;
}

static void tell(const struct session *s, const struct session_target *t,
                 const struct clean_counts *counts, int64_t took)
{
    char files[VALUE_TEXT_MAX], directories[VALUE_TEXT_MAX];
    struct json j = { .out = stdout };

    if (s->options->trees_json) {
        json_object(&j, NULL);
        json_text(&j, "target", t->text);
        json_u64(&j, "directories", counts->directories);
        json_u64(&j, "others", counts->files);
        json_bool(&j, "interrupted", counts->interrupted);
        json_i64(&j, "took", took);
        json_object_end(&j);
        json_end(&j);
    } else if (!s->options->quiet) {
        escape_print(stdout, t->where);
        printf(": %s directories and %s other objects removed%s\n",
               count_text(counts->directories, directories), count_text(counts->files, files),
               counts->interrupted ? "; interrupted" : "");
    }
}

int check_removable(const struct session *s, struct err *err)
{
    for (uint32_t i = 0; i < s->target_count; i++) {
        const struct session_target *t = &s->targets[i];

        if (marker_is_foreign(&t->place))
            return err_set(err, ERR_INPUT,
                           "%s: nfsreplay did not make what is there (\"%s\"), and does not remove "
                           "it",
                           t->text, t->place.other[0] ? t->place.other : RDUMP_SCRATCH);
        if (t->place.marker.state != MARKER_NONE && !session_is_ours(t))
            return err_set(err, ERR_INPUT,
                           "%s has the tree of another dump, or of another server of this one; a "
                           "dump of the same trace that was made with other options is another "
                           "one, too",
                           t->text);
    }
    return 0;
}

int remove_trees(struct session *s, struct err *err)
{
    int result = check_removable(s, err);

    for (uint32_t i = 0; i < s->target_count && result == 0; i++) {
        struct clean_counts counts = { 0 };
        int64_t begun = loop_clock();

        /* an empty directory without a marker may be somebody else's */
        if (s->targets[i].place.marker.state != MARKER_NONE)
            result = clean_target(s, &s->targets[i], &counts, err);
        session_progress(s, NULL);
        if (result == 0)
            tell(s, &s->targets[i], &counts, loop_clock() - begun);
        if (counts.interrupted)
            return 1;
    }
    return result;
}

int command_result(const struct session *s, int result)
{
    if (!session_cut_off(s, result))
        return result;
    session_progress(s, NULL);
    fputs("nfsreplay: interrupted\n", stderr);
    return 1;
}

int cmd_clean(int argc, char **argv, struct err *err)
{
    static struct replay_options options;
    static struct session session;
    int result = replay_options(&options, REPLAY_CLEAN, argc, argv, err);

    if (result != 1)
        return result;
    result = session_open(&session, &options, err);
    if (result == 0)
        result = remove_trees(&session, err);
    result = command_result(&session, result);
    session_progress(&session, NULL);
    session_close(&session);
    return result;
}

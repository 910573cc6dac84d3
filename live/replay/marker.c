/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/marker.c
 *
 * The marker has a fixed length, so an old one is written over by one WRITE.
 */
#include "replay/marker.h"
#include "base/escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char title[] = "nfsreplay 1";
const char marker_file[] = "marker";
static const char *const states[] = {
    [MARKER_MAKING] = "making", [MARKER_MADE] = "made", [MARKER_PLAYED] = "played"
};

static struct bytes name_of(const char *text)
{
    return (struct bytes){ (const uint8_t *)text, (uint32_t)strlen(text) };
}

/* --- the text */

void marker_text(const struct marker *m, char text[MARKER_TEXT])
{
    int len = snprintf(text, MARKER_TEXT,
                       "%s\nidentity %016" PRIx64 "\ncontents %s\nstate %s\n"
                       "tool nfsreplay " NFSDIGEST_VERSION "\n"
                       "This directory belongs to nfsreplay; \"nfsreplay clean\" removes it.\n",
                       title, m->identity, m->contents, states[m->state]);

    memset(text + len, ' ', (size_t)(MARKER_TEXT - len));
    text[MARKER_TEXT - 1] = '\n';
}

bool marker_parse(const char *data, size_t len, struct marker *to)
{
    char text[MARKER_TEXT + 1], state[16], version[32];
    int end = -1;

    memset(to, 0, sizeof(*to));
    if (len != MARKER_TEXT || memchr(data, 0, len))
        return false;
    memcpy(text, data, len);
    text[len] = 0;
    if (sscanf(text,
               "nfsreplay %31[^\n]\nidentity %16" SCNx64 "\ncontents %31[^\n]\nstate %15[a-z]%n",
               version, &to->identity, to->contents, state, &end) != 4 ||
        end < 0 || text[end] != '\n' || strcmp(version, "1") != 0)
        return false;
    for (uint32_t i = MARKER_MAKING; i <= MARKER_PLAYED; i++)
        if (strcmp(state, states[i]) == 0)
            to->state = (enum marker_state)i;
    return to->state != MARKER_NONE;
}

/* --- finding it */

/* LOOKUP; returns the status, with the handle in |handle|. */
static int look_up(struct pipeline *p, struct bytes directory, const char *name, uint8_t handle[64],
                   uint32_t *len, struct err *err)
{
    struct LOOKUP3args args = { { directory, name_of(name) } };
    struct LOOKUP3res res;
    int result = pipeline_ask(p, NFS3_LOOKUP, &args, &res, err);

    if (result == 0) {
        memcpy(handle, res.object.data, res.object.len);
        *len = res.object.len;
    }
    return result;
}

/* Something in the directory that is not called |ours|.  Directories of the file system itself do
 * not count. */
static int find_other(struct pipeline *p, struct bytes directory, const char *ours,
                      char other[MARKER_OTHER], struct err *err)
{
    enum { ENTRIES = 512 };
    const char *const own[] = { ".", "..", ours, "lost+found", ".snapshot" };
    struct READDIR3args args = { .dir = directory, .count = 8192 };
    struct entry3 *entries = calloc(ENTRIES, sizeof(*entries));
    struct READDIR3res res = { .entries = { entries, 0, ENTRIES } };
    int result = entries ? 0 : err_memory(err, "a listing");

    other[0] = 0;
    while (result == 0 && !other[0] && !res.eof) {
        result = pipeline_ask(p, NFS3_READDIR, &args, &res, err);
        for (uint32_t i = 0; result == 0 && i < res.entries.count && !other[0]; i++) {
            const struct bytes *name = &entries[i].name;
            bool is_own = false;

            for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
                is_own |= name->len == strlen(own[k]) && !memcmp(name->data, own[k], name->len);
            if (!is_own)
                escape_to(other, MARKER_OTHER, *name, false);
            args.cookie = entries[i].cookie;
        }
        memcpy(args.cookieverf, res.cookieverf, sizeof(args.cookieverf));
        if (result == 0 && !res.entries.count && !res.eof)
            result = err_set(err, ERR_INPUT, "READDIR gives neither entries nor the end");
    }
    free(entries);
    return result;
}

/* The first bytes of a file, by several READs if the server returns less.  Returns the status. */
static int read_text(struct pipeline *p, struct bytes file, char text[MARKER_TEXT], uint32_t *len,
                     struct err *err)
{
    struct READ3res res = { 0 };
    int result = 0;

    for (*len = 0; result == 0 && *len < MARKER_TEXT && !res.eof; *len += res.data.len) {
        struct READ3args args = { file, *len, MARKER_TEXT - *len };

        result = pipeline_ask(p, NFS3_READ, &args, &res, err);
        if (result)
            return result;
        if (res.data.len > args.count)
            return err_set(err, ERR_INPUT, "READ returns %u bytes, not %u", res.data.len,
                           args.count);
        if (!res.data.len)
            break;
        memcpy(text + *len, res.data.data, res.data.len);
    }
    return result;
}

static int read_marker(struct pipeline *p, struct marker_place *to, struct err *err)
{
    uint8_t handle[64];
    uint32_t len = 0;
    char text[MARKER_TEXT];
    int result =
        look_up(p, (struct bytes){ to->scratch, to->scratch_len }, marker_file, handle, &len, err);

    if (result == NFS3ERR_NOENT)
        return 0;
    if (result == 0)
        result = read_text(p, (struct bytes){ handle, len }, text, &len, err);
    if (result)
        return result;
    if (!len) { /* made, and not written: the program ended in between */
        to->marker = (struct marker){ .state = MARKER_MAKING };
        return 0;
    }
    if (!marker_parse(text, len, &to->marker))
        return err_set(err, ERR_INPUT,
                       "%s/%s is damaged, or of a later version: remove what is there by hand",
                       RDUMP_SCRATCH, marker_file);
    return 0;
}

/* Makes of a status a message. */
static int refused(int result, const char *what, struct err *err)
{
    char text[32];

    if (result <= 0)
        return result;
    return err_set(err, ERR_INPUT, "%s: %s", what, pipeline_status((uint32_t)result, text));
}

/* Looks for what is not ours, in the scratch directory and beside it.  A marker that was made, and
 * not written, is ours only if nothing else is there yet. */
static int find_others(struct pipeline *p, struct bytes root, bool in_scratch,
                       struct marker_place *to, struct err *err)
{
    const struct bytes scratch = { to->scratch, to->scratch_len };
    bool unwritten = to->marker.state == MARKER_MAKING && !to->marker.contents[0], others = false;
    int result = 0;

    if (in_scratch && (to->marker.state == MARKER_NONE || unwritten)) {
        result = find_other(p, scratch, marker_file, to->other, err);
        others = to->other[0];
        to->scratch_empty = !others && !unwritten;
    }
    if (result == 0)
        result = find_other(p, root, RDUMP_SCRATCH, to->other, err);
    if (unwritten && (others || to->other[0]))
        to->marker.state = MARKER_NONE;
    return result;
}

int marker_find(struct pipeline *p, const struct target *t, struct marker_place *to,
                struct err *err)
{
    const struct bytes root = { t->root, t->root_len };
    bool in_scratch = false;
    int result;

    memset(to, 0, sizeof(*to));
    result = look_up(p, root, RDUMP_SCRATCH, to->scratch, &to->scratch_len, err);
    if (result == NFS3ERR_NOTDIR)
        return err_set(err, ERR_INPUT, "it is not a directory");
    if (result == 0) {
        result = read_marker(p, to, err);
        in_scratch = result == 0;
        if (result == NFS3ERR_NOTDIR) /* something else of this name: it is foreign */
            result = 0;
    } else if (result == NFS3ERR_NOENT) {
        result = 0;
    }
    if (result == 0)
        result = find_others(p, root, in_scratch, to, err);
    return refused(result, "looking into the export", err);
}

int marker_look_up(struct pipeline *p, struct marker_directory *d, struct err *err)
{
    return look_up(p, d->parent, d->name, d->handle, &d->len, err);
}

/* --- making it */

static int made_by_other(struct pipeline *p, const struct marker_directory *d, uint32_t uid,
                         struct err *err)
{
    struct REMOVE3args args = { { d->parent, name_of(d->name) } };
    struct REMOVE3res res;
    int result = pipeline_ask(p, NFS3_RMDIR, &args, &res, err);

    if (result < 0)
        return result;
    return err_set(err, ERR_INPUT,
                   "the server maps uid 0 to uid %u, and owners could not be set: export it with "
                   "no_root_squash",
                   uid);
}

int marker_make_directory(struct pipeline *p, struct marker_directory *d, struct err *err)
{
    struct MKDIR3args args = { { d->parent, name_of(d->name) },
                               { .set_mode = true, .mode = d->mode } };
    struct GETATTR3args of;
    struct GETATTR3res got;
    struct CREATE3res res;
    char what[MARKER_OTHER + 8];
    int result = pipeline_ask(p, NFS3_MKDIR, &args, &res, err);

    snprintf(what, sizeof(what), "making %.250s", d->name);
    if (result == NFS3ERR_ROFS)
        return err_set(err, ERR_INPUT, "the export is read-only");
    if (result == NFS3ERR_ACCES || result == NFS3ERR_PERM)
        return err_set(err, ERR_INPUT,
                       "uid 0 may not write there: the export is read-only, or maps uid 0 to "
                       "another user (it needs no_root_squash)");
    if (result == 0)
        result = marker_look_up(p, d, err);
    of.object = (struct bytes){ d->handle, d->len };
    if (result == 0)
        result = pipeline_ask(p, NFS3_GETATTR, &of, &got, err);
    if (result == 0 && got.obj_attributes.uid != 0)
        return made_by_other(p, d, got.obj_attributes.uid, err);
    return refused(result, what, err);
}

int marker_scratch(struct pipeline *p, const struct target *t, struct marker_place *place,
                   struct err *err)
{
    struct marker_directory d = { { t->root, t->root_len }, RDUMP_SCRATCH, 0700, { 0 }, 0 };
    int result;

    if (place->scratch_len)
        return 0;
    result = marker_make_directory(p, &d, err);
    if (result == 0) {
        memcpy(place->scratch, d.handle, d.len);
        place->scratch_len = d.len;
    }
    return result;
}

/* Returns the status, or a negative code. */
static int write_marker(struct pipeline *p, const struct marker_place *place, struct err *err)
{
    struct CREATE3args create = { { { place->scratch, place->scratch_len }, name_of(marker_file) },
                                  { .mode = UNCHECKED,
                                    .obj_attributes = { .set_mode = true, .mode = 0600 } } };
    struct CREATE3res made;
    struct WRITE3args args;
    struct WRITE3res res = { 0 };
    uint8_t handle[64];
    uint32_t len = 0;
    char text[MARKER_TEXT];
    int result = pipeline_ask(p, NFS3_CREATE, &create, &made, err);

    if (result == 0)
        result = look_up(p, create.where.dir, marker_file, handle, &len, err);
    if (result == 0) {
        marker_text(&place->marker, text);
        args = (struct WRITE3args){ .file = { handle, len }, .stable = FILE_SYNC };
    }
    for (uint32_t done = 0; result == 0 && done < MARKER_TEXT; done += res.count) {
        args.offset = done;
        args.count = MARKER_TEXT - done;
        args.data = (struct bytes){ (const uint8_t *)text + done, args.count };
        result = pipeline_ask(p, NFS3_WRITE, &args, &res, err);
        if (result == 0 && (!res.count || res.count > args.count))
            return err_set(err, ERR_INPUT, "WRITE says that it wrote %u of %u bytes", res.count,
                           args.count);
    }
    return result;
}

int marker_write(struct pipeline *p, const struct marker_place *place, struct err *err)
{
    return refused(write_marker(p, place, err), "writing the marker", err);
}

int marker_write_if_room(struct pipeline *p, const struct marker_place *place, struct err *err)
{
    int result = write_marker(p, place, err);

    if (result == NFS3ERR_NOSPC || result == NFS3ERR_DQUOT)
        return 0;
    return refused(result, "writing the marker", err);
}

int marker_remove(struct pipeline *p, const struct marker_place *place, struct err *err)
{
    struct REMOVE3args args = { { { place->scratch, place->scratch_len }, name_of(marker_file) } };
    struct REMOVE3res res;
    int result = pipeline_ask(p, NFS3_REMOVE, &args, &res, err);

    return result == NFS3ERR_NOENT ? 0 : refused(result, "removing the marker", err);
}

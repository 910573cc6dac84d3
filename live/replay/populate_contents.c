/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/populate_contents.c
 *
 * The contents of files, for populate: written by several WRITEs at a time, then a COMMIT if the
 * server wants one; written again if the server lost something; or read and compared.
 */
#include "replay/populate_parts.h"

#include <stdio.h>

enum { WRITERS_MOST = 16, EMPTY_MOST = 30, LOSSES_MOST = 1000 };

/* --- writing */

/* Another verifier: the server restarted, and what it had not written is lost. */
static bool is_lost(struct item *item, const uint8_t verifier[NFS3_WRITEVERFSIZE])
{
    bool lost = item->has_verifier && memcmp(item->verifier, verifier, NFS3_WRITEVERFSIZE) != 0;

    memcpy(item->verifier, verifier, NFS3_WRITEVERFSIZE);
    item->has_verifier = !lost;
    return lost && item->unstable;
}

static int written(struct item *item, struct err *err)
{
    item->written = true;
    item->set = ATTRIBUTES_TIMES;
    if (populate_object(item)->mode & (MODE_SETUID | MODE_SETGID))
        item->set |= ATTRIBUTE_MODE; /* writing may clear these bits */
    if (!(item->populate->places[item->object].flags & PLACE_MADE))
        item->set |= ATTRIBUTE_MODE | ATTRIBUTES_OWNER | ATTRIBUTE_SIZE;
    return populate_step(item, STEP_SET, err);
}

/* Sends the next piece of the file |own|. */
static int write_piece(struct item *own, struct item *writer, struct err *err)
{
    uint64_t left = populate_object(own)->size - own->unassigned;
    uint32_t most = own->populate->write_most;

    writer->offset = own->unassigned;
    own->unassigned += left < most ? left : most;
    writer->end = own->unassigned;
    writer->empty = 0;
    return populate_step(writer, STEP_WRITE, err);
}

/* Pieces that no writer has go to items that are free. */
static int write_more(struct item *own, struct err *err)
{
    struct item *part;
    int result = 0;

    while (result == 0 && own->unassigned < populate_object(own)->size &&
           own->writers < WRITERS_MOST && (part = populate_part(own))) {
        own->writers++;
        result = write_piece(own, part, err);
    }
    return result;
}

int populate_write(struct item *item, struct err *err)
{
    int result;

    item->unstable = item->has_verifier = item->lost = false;
    item->unassigned = 0;
    item->writers = 1;
    result = write_piece(item, item, err);
    return result == 0 ? write_more(item, err) : result;
}

static int write_again(struct item *own, struct err *err)
{
    if (++own->losses > LOSSES_MOST)
        return populate_refuse(own,
                               "the server's write verifier is another one each time, as if it "
                               "restarted and lost what was written",
                               err);
    return populate_write(own, err);
}

static int writer_ends(struct item *own, struct item *writer, struct err *err)
{
    if (writer != own)
        populate_part_done(writer);
    if (--own->writers)
        return 0;
    if (own->lost)
        return write_again(own, err);
    return own->unstable ? populate_step(own, STEP_COMMIT, err) : written(own, err);
}

int populate_written(struct item *item, struct bytes body, struct err *err)
{
    struct item *own = item->part_of ? item->part_of : item;
    struct WRITE3res res;
    int result;

    bind_read(nfs3_binding(NFS3_WRITE)->result, body, &res);
    if (res.status)
        return populate_fail(item, "it cannot be written", res.status, err);
    if (!res.count && ++item->empty < EMPTY_MOST)
        return populate_again(item, err);
    if (!res.count || res.count > item->end - item->offset)
        return err_set(err, ERR_INPUT, "object %u: WRITE says that it wrote %u bytes", item->object,
                       res.count);
    own->unstable |= res.committed != FILE_SYNC;
    item->offset += res.count;
    item->empty = 0;
    item->populate->counts->written += res.count;
    own->lost |= is_lost(own, res.verf);
    if (own->lost)
        return writer_ends(own, item, err);
    if (item->offset < item->end)
        return populate_step(item, STEP_WRITE, err);
    if (own->unassigned == populate_object(own)->size)
        return writer_ends(own, item, err);
    result = write_piece(own, item, err);
    return result == 0 ? write_more(own, err) : result;
}

int populate_committed(struct item *item, struct bytes body, struct err *err)
{
    struct COMMIT3res res;

    bind_read(nfs3_binding(NFS3_COMMIT)->result, body, &res);
    if (res.status)
        return populate_fail(item, "COMMIT", res.status, err);
    return is_lost(item, res.verf) ? write_again(item, err) : written(item, err);
}

/* --- reading */

/* What the file should have at its offset, of |len| bytes. */
static const uint8_t *wanted(const struct item *item, uint32_t len)
{
    const struct populate *p = item->populate;

    if (p->setup->contents.kind != CONTENTS_SPARSE)
        return contents_at(&p->setup->contents, item->object, item->offset, len, p->room);
    memset(p->room, 0, len);
    return p->room;
}

/* Only the first difference of a file is told. */
int populate_was_read(struct item *item, struct bytes body, struct err *err)
{
    const struct rdump_object *o = populate_object(item);
    const uint8_t *want;
    struct READ3res res;
    char text[64];
    int result;

    bind_read(nfs3_binding(NFS3_READ)->result, body, &res);
    if (res.status)
        return populate_fail(item, "READ", res.status, err);
    if (!res.data.len && ++item->empty < EMPTY_MOST && !res.eof)
        return populate_again(item, err);
    if (!res.data.len || res.data.len > o->size - item->offset || res.data.len > CONTENTS_RUN)
        return err_set(err, ERR_INPUT, "object %u: READ at %llu gives %u bytes", item->object,
                       (unsigned long long)item->offset, res.data.len);
    item->empty = 0;
    want = wanted(item, res.data.len);
    if (memcmp(want, res.data.data, res.data.len) == 0) {
        item->offset += res.data.len;
        item->populate->counts->read += res.data.len;
        if (item->offset < o->size)
            return populate_step(item, STEP_READ, err);
        populate_done(item);
        return 0;
    }
    while (*want == *res.data.data) {
        want++;
        res.data.data++;
        item->offset++;
    }
    snprintf(text, sizeof(text), "other contents from byte %llu on",
             (unsigned long long)item->offset);
    result = populate_tell(item, text, err);
    populate_done(item);
    return result;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/attributes.h"
#include "base/values.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { SECOND = 1000000000 };

uint32_t attributes_type(const struct rdump_object *o)
{
    return o->type ? o->type : NF3REG;
}

struct nfstime3 attributes_time(int64_t ns)
{
    if (ns < 0)
        ns = 0;
    return ns / SECOND > UINT32_MAX
               ? (struct nfstime3){ UINT32_MAX, 0 }
               : (struct nfstime3){ (uint32_t)(ns / SECOND), (uint32_t)(ns % SECOND) };
}

int64_t attributes_ns(const struct nfstime3 *t)
{
    return (int64_t)t->seconds * SECOND + t->nseconds;
}

static bool time_differs(int64_t wanted, const struct nfstime3 *there, int64_t delta)
{
    struct nfstime3 time = attributes_time(wanted);
    int64_t difference = attributes_ns(&time) - attributes_ns(there);

    return (difference < 0 ? -difference : difference) >= (delta > 0 ? delta : 1);
}

uint32_t attributes_differ(const struct rdump_object *o, const struct fattr3 *a, int64_t delta)
{
    uint32_t type = attributes_type(o), differ = 0;
    bool device = type == NF3BLK || type == NF3CHR;

    if (o->type && o->type != a->type)
        return ATTRIBUTE_TYPE;
    if (type != NF3LNK && (o->mode & MODE_ALL) != (a->mode & MODE_ALL))
        differ |= ATTRIBUTE_MODE;
    if (o->uid != a->uid)
        differ |= ATTRIBUTE_UID;
    if (o->gid != a->gid)
        differ |= ATTRIBUTE_GID;
    if (type == NF3REG && a->type == NF3REG && o->size != a->size)
        differ |= ATTRIBUTE_SIZE;
    if (time_differs(o->mtime, &a->mtime, delta))
        differ |= ATTRIBUTE_MTIME;
    if (device && (o->rdev[0] != a->rdev.specdata1 || o->rdev[1] != a->rdev.specdata2))
        differ |= ATTRIBUTE_RDEV;
    if (type != NF3DIR && o->knows & RDUMP_KNOWS_NLINK && o->nlink != a->nlink)
        differ |= ATTRIBUTE_NLINK;
    return differ;
}

struct sattr3 attributes_set(const struct rdump_object *o, uint32_t which)
{
    return (struct sattr3){
        .set_mode = which & ATTRIBUTE_MODE,
        .set_uid = which & ATTRIBUTE_UID,
        .set_gid = which & ATTRIBUTE_GID,
        .set_size = which & ATTRIBUTE_SIZE,
        .set_atime = which & ATTRIBUTE_ATIME ? SET_TO_CLIENT_TIME : DONT_CHANGE,
        .set_mtime = which & ATTRIBUTE_MTIME ? SET_TO_CLIENT_TIME : DONT_CHANGE,
        .mode = o->mode & MODE_ALL,
        .uid = o->uid,
        .gid = o->gid,
        .size = o->size,
        .atime = attributes_time(o->atime),
        .mtime = attributes_time(o->mtime),
    };
}

/* --- in words */

struct words {
    char *text;
    int len;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *w, const char *format, ...)
{
    va_list args;
    int room = ATTRIBUTES_TEXT - w->len;

    if (room <= 1)
        return;
    va_start(args, format);
    w->len += vsnprintf(w->text + w->len, (size_t)room, format, args);
    va_end(args);
    if (w->len >= ATTRIBUTES_TEXT)
        w->len = ATTRIBUTES_TEXT - 1;
}

static void say_time(struct words *w, const char *name, int64_t wanted,
                     const struct nfstime3 *there)
{
    struct nfstime3 time = attributes_time(wanted);
    char one[VALUE_TEXT_MAX], other[VALUE_TEXT_MAX];

    say(w, "; %s %s, there %s", name, time_text(attributes_ns(&time), one),
        time_text(attributes_ns(there), other));
}

const char *attributes_words(const struct rdump_object *o, const struct fattr3 *a, uint32_t which,
                             char text[ATTRIBUTES_TEXT])
{
    struct words w = { text, 0 };

    text[0] = text[1] = text[2] = 0;
    if (which & ATTRIBUTE_TYPE)
        say(&w, "; type %u, there %u", o->type, a->type);
    if (which & ATTRIBUTE_MODE)
        say(&w, "; mode %04o, there %04o", o->mode & MODE_ALL, a->mode & MODE_ALL);
    if (which & ATTRIBUTE_UID)
        say(&w, "; uid %u, there %u", o->uid, a->uid);
    if (which & ATTRIBUTE_GID)
        say(&w, "; gid %u, there %u", o->gid, a->gid);
    if (which & ATTRIBUTE_SIZE)
        say(&w, "; size %" PRIu64 ", there %" PRIu64, o->size, a->size);
    if (which & ATTRIBUTE_NLINK)
        say(&w, "; %u hard links, there %u", o->nlink, a->nlink);
    if (which & ATTRIBUTE_RDEV)
        say(&w, "; device %u,%u, there %u,%u", o->rdev[0], o->rdev[1], a->rdev.specdata1,
            a->rdev.specdata2);
    if (which & ATTRIBUTE_MTIME)
        say_time(&w, "mtime", o->mtime, &a->mtime);
    return w.len > 2 ? text + 2 : text;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/sync_status.c
 *
 * Decides which statuses the earlier operations can cause (RFC 1813 s2.6).  A status that none of
 * them can cause comes from the server itself.
 */
#include "judge/sync.h"

#include <string.h>

enum status_cause {
    BY_NAME = 1 << 0,       /* a name stands for something else, or for nothing */
    BY_RIGHTS = 1 << 1,     /* the object has another mode or owner, or was removed */
    BY_ATTRIBUTES = 1 << 2, /* the object, or the directory, was changed in another way */
    BY_ANY = BY_NAME | BY_RIGHTS | BY_ATTRIBUTES,
};

enum { STATUS_BYTES = 4 };

/* Without the prefix: NFS3ERR_NOENT, MNT3ERR_NOENT, ENOENT.  What is missing here no change of a
 * client brings about. */
static const struct {
    const char *name;
    uint32_t causes;
} statuses[] = {
    { "PERM", BY_RIGHTS | BY_NAME }, /* the other file has another owner */
    { "ACCES", BY_RIGHTS | BY_NAME },
    { "NOENT", BY_NAME | BY_RIGHTS }, /* also in a directory that was removed */
    { "EXIST", BY_NAME },
    { "NOTDIR", BY_NAME },
    { "ISDIR", BY_NAME },
    { "NOTEMPTY", BY_NAME },
    { "STALE", BY_NAME | BY_RIGHTS },
    { "MLINK", BY_ATTRIBUTES },
    { "NOT_SYNC", BY_ATTRIBUTES | BY_RIGHTS }, /* s3.3.2: the guard is a change time */
    { "BAD_COOKIE", BY_ATTRIBUTES },
};

static const char *name_of(const struct field *field, uint64_t value)
{
    for (const struct value_name *n = field->names; n && n->name; n++)
        if ((uint32_t)n->value == (uint32_t)value)
            return n->name;
    return NULL;
}

/* Of a status that is not success. */
static uint32_t causes_of(const struct field *field, uint64_t value)
{
    const char *name = name_of(field, value), *prefix = name ? strstr(name, "ERR_") : NULL;

    if (!name)
        return 0;
    if (!prefix && *name != 'E')
        return BY_ANY; /* NLM's statuses are about locks */
    name = prefix ? prefix + 4 : name + 1;
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
        if (strcmp(statuses[i].name, name) == 0)
            return statuses[i].causes;
    return 0;
}

static int why(struct judge *j, uint32_t causes)
{
    int reason = causes & BY_NAME ? sync_name(j) : 0;

    if (!reason && causes & BY_RIGHTS)
        reason = sync_rights(j);
    return !reason && causes & BY_ATTRIBUTES ? sync_attributes(j, OF_OBJECT) : reason;
}

/* The first entry does not fit into the bytes that the client asked for, only on the reference.
 * Servers order entries as they like, so the SUT may begin with a shorter one: if its reply is as
 * short as it was asked to be, the statuses say nothing.  A shadow looks what the SUT begins with,
 * so it is not the other way around. */
static int is_cut(struct judge *j, const struct field *field, uint64_t ref, uint64_t sut,
                  struct err *err)
{
    const struct effect *e = &j->pair->half[SUT].effect;
    const char *name = name_of(field, ref);
    uint64_t asked = 0;

    if (!j->partly || sut || effect_action(e) != ACTION_LIST || !name ||
        !strstr(name, "ERR_TOOSMALL"))
        return 0;
    if (j->pair->half[REF].effect.asked.cookie)
        return 1; /* further parts begin anywhere */
    if (judge_read_arguments(j, SUT, err) < 0)
        return -err->code;
    for (uint32_t i = 0; i < j->arguments.count; i++)
        if (j->arguments.items[i].place->field->cls == CLASS_COUNT)
            asked = j->arguments.items[i].value; /* READDIRPLUS: the last one is for all */
    return e->result_length <= asked + STATUS_BYTES;
}

int sync_status(struct judge *j, const struct field *field, uint64_t ref, uint64_t sut,
                struct err *err)
{
    int reason = is_cut(j, field, ref, sut, err);

    if (reason)
        return reason < 0 ? reason : WITHHELD_LISTING;

    if (ref)
        reason = why(j, causes_of(field, ref));
    if (j->partly && ref && sut && reason) /* the other error shows where this one does not */
        return reason;
    if (!sut || (ref && !reason && !j->partly))
        return reason;
    return why(j, causes_of(field, sut));
}

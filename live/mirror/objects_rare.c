/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What few objects have lies beside them: what directories have, and numbers of many names. */
#include "mirror/mirror_parts.h"
#include "wire/nfs3_numbers.h"

struct directory *directory_of(const struct mirror *m, uint32_t id)
{
    uint32_t number = index_number(&m->by_directory, id);

    return number ? pool_at(&m->directories, number) : NULL;
}

struct directory *directory_get(struct mirror *m, uint32_t id, struct err *err)
{
    struct directory *directory = directory_of(m, id);
    uint32_t number;

    if (directory)
        return directory;
    number = index_reserve(&m->by_directory, 1) < 0 ? 0 : pool_new(&m->directories);
    if (!number) {
        err_memory(err, "the table of objects");
        return NULL;
    }
    index_set_number(&m->by_directory, id, number);
    return pool_at(&m->directories, number);
}

void directory_forget(struct mirror *m, uint32_t id)
{
    uint32_t number = index_number(&m->by_directory, id);

    if (!number)
        return;
    index_set_number(&m->by_directory, id, 0);
    pool_give(&m->directories, number);
}

static uint32_t half(uint64_t fileid)
{
    return (uint32_t)(fileid ^ fileid >> 32);
}

int mirror_set_fileid(struct mirror *m, const struct mirror_object *object, uint64_t fileid,
                      struct err *err)
{
    struct directory *directory;

    if (object->type != NF3DIR)
        return 0;
    directory = directory_get(m, object->id, err);
    if (!directory)
        return -ERR_SYSTEM;
    directory->fileid = half(fileid);
    return 0;
}

bool mirror_has_fileid(const struct mirror *m, const struct mirror_object *object, uint64_t fileid)
{
    const struct directory *directory = directory_of(m, object->id);

    return (directory ? directory->fileid : 0) == half(fileid);
}

uint32_t mirror_names(const struct mirror *m, const struct mirror_object *object)
{
    return object->names < NAMES_MANY ? object->names : index_number(&m->many_names, object->id);
}

int names_set(struct mirror *m, struct mirror_object *object, uint32_t names, struct err *err)
{
    uint32_t many = names < NAMES_MANY ? 0 : names;

    if (many && object->names < NAMES_MANY && index_reserve(&m->many_names, 1) < 0)
        return err_memory(err, "the names of objects");
    if (many || object->names == NAMES_MANY)
        index_set_number(&m->many_names, object->id, many);
    object->names = (many ? NAMES_MANY : names) & NAMES_MANY;
    return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "player/fill_in.h"

enum { IN_DUMP = 8 /* a handle in a dump: its length, and the number of the object */ };

/* The handle to send for an object; false: there is none. */
static inline bool find_handle(const struct step *step, uint32_t number, struct objects *objects,
                               const struct fill_in *with, struct bytes *handle)
{
    const struct object *object;

    if (__builtin_expect(!number, 0)) {
        bool bad = step->status == NFS3ERR_BADHANDLE;

        *handle = bad ? with->bad : with->stale;
        return bad || handle->len; /* of no bytes is one of the bad ones */
    }
    object = objects_find(objects, number);
    if (!object || !object->handle_len)
        return false;
    *handle = (struct bytes){ object->handle, object->handle_len };
    return true;
}

/* False: nobody has asked for the ctime of the object. */
static bool find_ctime(const struct step *step, struct objects *objects, const struct fill_in *with,
                       struct nfstime3 *ctime)
{
    const struct object *object = objects_find(objects, step_object(step));
    bool known = object && object->has_ctime;

    if (step->status == NFS3ERR_NOT_SYNC) {
        /* long before any server was set up, and not what a server without a clock has */
        *ctime = (struct nfstime3){ 1, 999999999 };
        if (known && object->ctime.seconds == ctime->seconds)
            ctime->seconds++;
        return true;
    }
    if (with->has_ctime)
        *ctime = with->ctime;
    else if (known)
        *ctime = object->ctime;
    return with->has_ctime || known;
}

static uint8_t *copy(uint8_t *to, const struct step *step, uint32_t from, uint32_t end)
{
    if (end > from)
        memcpy(to, step->arguments.data + from, end - from);
    return to + (end - from);
}

static inline uint8_t *copy_handle(uint8_t *to, struct bytes handle)
{
    uint32_t padded = xdr_padded(handle.len);

    store_be32(to, handle.len);
    if (padded != handle.len)
        store_be32(to + padded, 0);
    if (handle.len)
        memcpy(to + 4, handle.data, handle.len);
    return to + 4 + padded;
}

/* Nearly all: the handle of an object, and behind it what is the same everywhere. */
static inline enum fill_in_result fill_in_plain(const struct step *step,
                                                const struct object *object, struct xdr_put *put)
{
    uint32_t len = step->arguments.len;
    struct bytes handle;
    uint8_t *to;

    if (!object || !object->handle_len)
        return FILL_IN_NO_HANDLE;
    handle = (struct bytes){ object->handle, object->handle_len };
    to = xdr_put_room(put, (size_t)4 + xdr_padded(handle.len) + len - IN_DUMP);
    if (to)
        copy(copy_handle(to, handle), step, IN_DUMP, len);
    return FILL_IN_DONE;
}

static enum fill_in_result fill_in_any(const struct step *step, struct objects *objects,
                                       const struct fill_in *with, struct xdr_put *put,
                                       uint32_t *missing)
{
    const uint32_t len = step->arguments.len;
    const bool has_first = !(step->has & STEP_WITHOUT_OBJECT);
    const bool has_second = step->has & STEP_HAS_SECOND;
    struct bytes first = { 0 }, second = { 0 };
    struct nfstime3 ctime = { 0 };
    uint32_t from = 0, size = len;
    uint8_t *to, *values;

    if (has_first && !find_handle(step, *missing = step_object(step), objects, with, &first))
        return FILL_IN_NO_HANDLE;
    if (has_second && !find_handle(step, *missing = step_second(step), objects, with, &second))
        return FILL_IN_NO_HANDLE;
    if (step->has & STEP_GUARDED && !find_ctime(step, objects, with, &ctime)) {
        *missing = step_object(step);
        return FILL_IN_NO_CTIME;
    }
    size += has_first ? 4 + xdr_padded(first.len) - IN_DUMP : 0;
    size += has_second ? 4 + xdr_padded(second.len) - IN_DUMP : 0;
    if (!size)
        return FILL_IN_DONE;
    to = xdr_put_room(put, size);
    if (!to)
        return FILL_IN_DONE;
    if (has_first) {
        to = copy_handle(to, first);
        from = IN_DUMP;
    }
    values = to + (step->value_at - from); /* no procedure has a second handle before them */
    if (has_second) {
        to = copy(to, step, from, step->second_at);
        to = copy_handle(to, second);
        from = step->second_at + IN_DUMP;
    }
    copy(to, step, from, len);
    if (step->has & STEP_GUARDED) {
        store_be32(values, ctime.seconds);
        store_be32(values + 4, ctime.nseconds);
    } else if (step->has & STEP_CONTINUES) {
        store_be64(values, with->cookie);
        memcpy(values + 8, with->verifier, sizeof(with->verifier));
    }
    return FILL_IN_DONE;
}

enum fill_in_result fill_in(const struct step *step, struct objects *objects,
                            const struct fill_in *with, struct xdr_put *put, uint32_t *missing)
{
    enum { MORE = STEP_WITHOUT_OBJECT | STEP_HAS_SECOND | STEP_GUARDED | STEP_CONTINUES };
    uint32_t number = step_object(step);

    if (step->has & MORE || !number)
        return fill_in_any(step, objects, with, put, missing);
    *missing = number;
    return fill_in_plain(step, objects_find(objects, number), put);
}

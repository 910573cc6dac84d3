/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_fill_in.c
 *
 * Any bytes as the arguments of an operation in a dump.  What places_find accepts is filled in with
 * handles of many lengths, and must then be arguments of the same procedure with these handles, in
 * which all other bytes are the dump's.  Places that come from a form that is known must be those
 * that a walk finds, also for arguments that differ from those of the form in one word.
 *
 * Input: rdump's number of the procedure, a byte of bits (below), arguments.
 */
#include "base/bytes.h"
#include "player/fill_in.h"
#include "player/places.h"
#include "wire/handles.h"

#include <stdlib.h>

enum { BIT_CTIME = 1, BIT_NOT_SYNC = 2, BIT_BAD = 4, BIT_NO_STALE = 8, OBJECTS = 64 };

static struct places places; /* no form is known: inputs do not depend on each other */
static struct objects *objects;

static void require(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    uint8_t room[64];
    struct err err;

    (void)argc;
    (void)argv;
    wire_init();
    places_init(&places);
    objects = objects_open(&err);
    require(objects != NULL);
    for (uint32_t n = 1; n <= OBJECTS; n++) { /* object n has n bytes of the value n */
        struct object *object = objects_add(objects, n, &err);

        memset(room, (int)n, n);
        require(object && !objects_set_handle(objects, 1, object, (struct bytes){ room, n }, &err));
        object->has_ctime = n % 2;
        object->ctime = (struct nfstime3){ n, n };
    }
    return 0;
}

struct handles {
    const struct step *step;
    const struct fill_in *with;
    uint32_t count;
};

/* The handles again, by what else there is for it: handles_replace. */
static int give(void *ctx, const struct handle_place *place, struct bytes *handle)
{
    struct handles *h = ctx;
    uint32_t number = load_be32(place->handle.data);
    const struct object *object = objects_find(objects, number);

    require(place->handle.len == 4);
    require(number == (h->count++ ? step_second(h->step) : step_object(h->step)));
    if (number)
        *handle = (struct bytes){ object->handle, object->handle_len };
    else
        *handle = h->step->status == NFS3ERR_BADHANDLE ? h->with->bad : h->with->stale;
    return 0;
}

static void check(const struct step *step, const struct fill_in *with, const struct buf *got)
{
    struct handles h = { .step = step, .with = with };
    const struct handle_giver giver = { give, &h };
    const struct type *type = step->procedure->arguments;
    uint32_t padded = xdr_padded(step->data_len), differ = 0;
    struct buf expected = { 0 };
    struct xdr_put put = xdr_put_to(&expected, XDR_PUT_ANY_LENGTH);
    struct walk w;

    require(handles_replace(&put, type, step->arguments, step->arguments.len + padded, true,
                            &giver) == WALK_OK);
    require(expected.len == got->len);
    for (size_t i = 0; i < got->len; i++)
        differ += got->data[i] != expected.data[i];
    require(differ <= (step->has & STEP_CONTINUES ? 16 : step->has & STEP_GUARDED ? 8 : 0));
    require(walk(&w, type, got->data, (uint32_t)got->len, (uint32_t)got->len + padded, true,
                 NULL) == WALK_OK);
    buf_free(&expected);
}

static bool same_places(const struct step *a, const struct step *b)
{
    return a->has == b->has && a->second_at == b->second_at && a->value_at == b->value_at &&
           a->data_len == b->data_len;
}

/* The arguments are walked over, walked over and noted, and found by their form; then, where there
 * is a word at |at|, with that word changed, and as if nothing was known. */
static void check_forms(const struct step *step, uint8_t *arguments, uint32_t at)
{
    static struct places known, fresh;
    struct step steps[2] = { *step, *step };
    struct err err = { 0 };

    known = places;
    for (int i = 0; i < 3; i++) {
        fresh = places;
        require(places_find(&known, &steps[0], &err) == places_find(&fresh, &steps[1], &err) &&
                same_places(&steps[0], &steps[1]));
    }
    if (step->arguments.len < 4)
        return;
    at %= step->arguments.len - 3;
    for (uint32_t bit = 1; bit; bit <<= 1) {
        uint32_t word = load_be32(arguments + at);

        fresh = places;
        store_be32(arguments + at, word ^ bit);
        require(places_find(&known, &steps[0], &err) == places_find(&fresh, &steps[1], &err) &&
                same_places(&steps[0], &steps[1]));
        store_be32(arguments + at, word);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t stale[] = { 1, 2, 3 };
    struct fill_in with = { .stale = { stale, sizeof(stale) }, .cookie = 5, .verifier = "abcdefg" };
    uint8_t *exact; /* nothing may be read behind it */
    struct buf got = { 0 };
    struct xdr_put put = xdr_put_to(&got, XDR_PUT_ANY_LENGTH);
    struct places found = places;
    struct step step = { 0 };
    uint32_t missing = 0;
    struct err err = { 0 };

    if (size < 2 || size > 1 << 20)
        return 0;
    exact = malloc(size - 2);
    require(exact || size == 2);
    if (size > 2)
        memcpy(exact, data + 2, size - 2);
    step.number = data[0];
    step.arguments = (struct bytes){ exact, (uint32_t)size - 2 };
    with.has_ctime = data[1] & BIT_CTIME;
    with.stale.len = data[1] & BIT_NO_STALE ? 0 : sizeof(stale);
    step.status = data[1] & BIT_NOT_SYNC ? NFS3ERR_NOT_SYNC
                  : data[1] & BIT_BAD    ? NFS3ERR_BADHANDLE
                                         : NFS3ERR_STALE;
    check_forms(&step, exact, data[1] / 8u * 4);
    if (places_find(&found, &step, &err) < 0) {
        require(err.code == ERR_INPUT && err.text[0]);
    } else {
        switch (fill_in(&step, objects, &with, &put, &missing)) {
        case FILL_IN_DONE:
            check(&step, &with, &got);
            break;
        case FILL_IN_NO_HANDLE:
            require(!got.len && (missing ? !objects_find(objects, missing) : !with.stale.len));
            break;
        case FILL_IN_NO_CTIME:
            require(!got.len && missing == step_object(&step));
        }
    }
    free(exact);
    buf_free(&got);
    return 0;
}

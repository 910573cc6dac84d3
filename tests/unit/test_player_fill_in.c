/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments of every procedure, written by the tables with a dump's values and again with those of
 * the target: filling in must turn the first into the second.  What is replaced is known here by
 * its path, not by its role. */
/* links: room_live_player */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "player/fill_in.h"
#include "player/places.h"
#include "wire/write.h"

#include <stdlib.h>

enum { ROUNDS = 300, FORMS = 40 /* of ROUNDS */, OBJECTS = 9 };

static struct places places;
static struct objects *objects;
static uint64_t seed = 1;

static uint32_t random_below(uint32_t bound)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)((seed >> 33) % bound);
}

/* One set of arguments: the same values both times, but for what is the target's. */
struct arguments {
    uint64_t seed;
    bool of_target;
    struct fill_in with;
    uint32_t numbers[2], handles; /* of the dump */
    bool has_guard, has_size, not_sync;
    uint64_t cookie, offset, size; /* |offset|: of a WRITE */
    uint32_t data_len;
    uint8_t room[80];
};

static void fill_bytes(struct arguments *a, struct fill *fill, uint32_t len)
{
    for (uint32_t i = 0; i < sizeof(a->room); i++)
        a->room[i] = (uint8_t)(random_below(255) + 1);
    fill->bytes = (struct bytes){ a->room, len };
}

static struct bytes handle_of(uint32_t number)
{
    static const uint8_t lengths[OBJECTS + 1] = { 0, 1, 4, 7, 8, 28, 31, 32, 63, 64 };
    static uint8_t room[64];

    memset(room, (int)number + 16, sizeof(room));
    return (struct bytes){ room, lengths[number] };
}

static void fill_handle(struct arguments *a, struct fill *fill)
{
    uint32_t number = random_below(OBJECTS) + 1;

    a->numbers[a->handles++] = number;
    store_be32(a->room, number);
    fill->bytes = a->of_target ? handle_of(number) : (struct bytes){ a->room, 4 };
}

static uint32_t choose_arm(const struct field *field)
{
    const struct arm *arm = field->arms;
    uint32_t count = 1;

    while (!arm[count - 1].is_end)
        count++;
    arm += random_below(count);
    if (arm->is_end && !arm->is_default)
        arm = field->arms;
    return arm->is_default ? 12345 : arm->value;
}

static bool is_field(const struct fill *fill, const char *wanted)
{
    char path[WALK_PATH_MAX];

    return !strcmp(walk_path(fill->walk, fill->field, path), wanted);
}

/* What stands in the target's arguments; the dump's values were drawn all the same. */
static void replace(struct arguments *a, struct fill *fill)
{
    if (is_field(fill, "READDIR3args.cookie") || is_field(fill, "READDIRPLUS3args.cookie")) {
        a->cookie = fill->value;
        if (a->of_target && fill->value)
            fill->value = a->with.cookie;
    } else if (is_field(fill, "READDIR3args.cookieverf") ||
               is_field(fill, "READDIRPLUS3args.cookieverf")) {
        if (a->of_target && a->cookie)
            fill->bytes = (struct bytes){ a->with.verifier, 8 };
    } else if (is_field(fill, "WRITE3args.offset")) {
        a->offset = fill->value;
    } else if (is_field(fill, "SETATTR3args.guard.check")) {
        a->has_guard = fill->value;
    } else if (fill->field->cls == CLASS_SIZE) {
        a->has_size = true;
        a->size = fill->value;
    } else if (is_field(fill, "SETATTR3args.guard.obj_ctime.seconds")) {
        if (a->of_target)
            fill->value = a->with.ctime.seconds;
    } else if (is_field(fill, "SETATTR3args.guard.obj_ctime.nseconds")) {
        if (a->of_target)
            fill->value = a->with.ctime.nseconds;
    }
}

static int give(void *ctx, struct fill *fill)
{
    struct arguments *a = ctx;
    const struct field *field = fill->field;

    switch (field->kind) {
    case XDR_OPAQUE:
    case XDR_STRING:
        if (field->cls == CLASS_HANDLE)
            fill_handle(a, fill);
        else
            fill_bytes(a, fill, random_below(30));
        if (field->cls == CLASS_DATA)
            a->data_len = fill->bytes.len;
        break;
    case XDR_FIXED:
        fill_bytes(a, fill, field->max);
        break;
    case XDR_UNION:
        fill->value = choose_arm(field);
        break;
    case XDR_ARRAY:
    case XDR_OPTIONAL:
    case XDR_LIST:
    case XDR_BOOL:
        fill->value = random_below(2);
        break;
    default:
        fill->value = random_below(3) ? random_below(1 << 30) : 0;
    }
    replace(a, fill);
    return 0;
}

static void write_arguments(struct arguments *a, const struct procedure *procedure, struct buf *to)
{
    const struct filler filler = { give, a };
    struct xdr_put put = xdr_put_to(to, XDR_PUT_ANY_LENGTH);
    struct err err = { 0 };

    a->handles = 0;
    seed = a->seed;
    if (write_body(&put, procedure->arguments, true, &filler, &err) < 0)
        fail_msg("%s", err.text);
}

/* Arguments of a form that is known and those of one that is not have the same places. */
static void same_places(uint8_t number, struct bytes arguments)
{
    static struct places fresh;
    struct step steps[2] = { { .number = number, .arguments = arguments },
                             { .number = number, .arguments = arguments } };
    struct err errs[2] = { { 0 }, { 0 } };
    int result = places_find(&places, &steps[0], &errs[0]);

    fresh = places;
    memset(fresh.forms, 0, sizeof(fresh.forms));
    assert_int_equal(places_find(&fresh, &steps[1], &errs[1]), result);
    assert_string_equal(errs[0].text, errs[1].text);
    if (result < 0)
        return;
    assert_int_equal(steps[0].has, steps[1].has);
    assert_int_equal(steps[0].second_at, steps[1].second_at);
    assert_int_equal(steps[0].value_at, steps[1].value_at);
    assert_int_equal(steps[0].data_len, steps[1].data_len);
}

/* The same for arguments that have another word somewhere, when the form of these is known. */
static void forms(uint8_t number, const struct buf *arguments)
{
    static const uint32_t words[] = { 0, 1, 2, 3, 4, 5, 8, 255, 1 << 30, (1 << 30) + 1, ~2u, ~0u };
    struct bytes all = { arguments->data, (uint32_t)arguments->len };

    for (unsigned i = 0; i < 2; i++)
        same_places(number, all);
    for (uint32_t at = 0; at + 4 <= all.len && at < 80; at += 4) {
        uint32_t word = load_be32(all.data + at);

        for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]) + 2; i++) {
            store_be32(arguments->data + at, i < 2 ? word - 1 + 2 * i : words[i - 2]);
            same_places(number, all);
        }
        store_be32(arguments->data + at, word);
        same_places(number, all); /* the first time it may be learned again */
        same_places(number, all);
    }
}

static void find(struct step *step, const struct buf *arguments)
{
    struct err err = { 0 };

    step->arguments = (struct bytes){ arguments->data, (uint32_t)arguments->len };
    if (places_find(&places, step, &err) < 0)
        fail_msg("%s", err.text);
}

static void same(const struct step *step, const struct fill_in *with, const struct buf *expected)
{
    struct buf got = { 0 };
    struct xdr_put put = xdr_put_to(&got, XDR_PUT_ANY_LENGTH);
    uint32_t missing = 0;

    assert_int_equal(fill_in(step, objects, with, &put, &missing), FILL_IN_DONE);
    assert_int_equal(put.problem, XDR_PUT_OK);
    assert_int_equal(got.len, expected->len);
    if (got.len)
        assert_memory_equal(got.data, expected->data, got.len);
    buf_free(&got);
}

static void every_procedure(void **state)
{
    uint32_t guarded = 0, sized = 0, continued = 0, doubles = 0, procedures = 0;

    (void)state;
    for (unsigned number = 0; number < 256; number++) {
        const struct procedure *procedure = rdump_procedure((uint8_t)number);

        procedures += procedure != NULL;
        for (uint32_t round = 0; procedure && round < ROUNDS; round++) {
            struct arguments a = { .seed = seed,
                                   .with = { .cookie = 77,
                                             .verifier = "verifier",
                                             .has_ctime = true,
                                             .ctime = { 1234, 5678 } } };
            struct step step = { .number = (uint8_t)number };
            struct buf dump = { 0 }, target = { 0 };

            write_arguments(&a, procedure, &dump);
            find(&step, &dump);
            if (round < FORMS)
                forms((uint8_t)number, &dump);
            assert_ptr_equal(step.procedure, procedure);
            assert_int_equal(step_object(&step), a.handles ? a.numbers[0] : 0);
            assert_int_equal(step_second(&step), a.handles > 1 ? a.numbers[1] : 0);
            assert_int_equal(!(step.has & STEP_WITHOUT_OBJECT), a.handles > 0);
            assert_int_equal(!!(step.has & STEP_HAS_SECOND), a.handles > 1);
            assert_int_equal(!!(step.has & STEP_GUARDED), a.has_guard);
            assert_int_equal(!!(step.has & STEP_CONTINUES), a.cookie != 0);
            assert_int_equal(!!(step.has & STEP_SETS_SIZE), a.has_size);
            assert_int_equal(step.data_len, a.data_len);
            if (step.has & STEP_HAS_DATA)
                assert_int_equal(load_be64(dump.data + step.value_at), a.offset);
            if (step.has & STEP_SETS_SIZE)
                assert_int_equal(load_be64(dump.data + step.second_at), a.size);
            if (step.has & STEP_LISTS)
                assert_int_equal(load_be64(dump.data + step.value_at), a.cookie);
            a.of_target = true;
            write_arguments(&a, procedure, &target);
            same(&step, &a.with, &target);
            guarded += a.has_guard;
            sized += a.has_size;
            continued += a.cookie != 0;
            doubles += a.handles > 1;
            buf_free(&dump);
            buf_free(&target);
        }
    }
    assert_true(procedures >= 25);
    assert_true(guarded > 50 && sized > 300 && continued > 300 && doubles == 2 * ROUNDS);
}

static struct step step_of(const char *name, const struct buf *arguments)
{
    struct step step = { 0 };

    for (unsigned number = 0; number < 256; number++)
        if (places.of[number].procedure && !strcmp(places.of[number].procedure->name, name)) {
            step.number = (uint8_t)number;
            break;
        }
    find(&step, arguments);
    return step;
}

/* A handle of this number alone: GETATTR. */
static struct step getattr_of(uint32_t number, struct buf *arguments)
{
    uint8_t bytes[8] = { 0, 0, 0, 4 };

    store_be32(bytes + 4, number);
    arguments->len = 0;
    assert_int_equal(buf_append(arguments, bytes, 8), 0);
    return step_of("GETATTR", arguments);
}

static void handles_that_never_worked(void **state)
{
    static const uint8_t stale[] = { 0, 0, 0, 3, 9, 9, 9, 0 }, bad[] = { 0, 0, 0, 0 };
    struct fill_in with = { .stale = { stale + 4, 3 } };
    struct buf arguments = { 0 }, got = { 0 };
    struct xdr_put put = xdr_put_to(&got, XDR_PUT_ANY_LENGTH);
    struct step step = getattr_of(0, &arguments);
    uint32_t missing = 99;

    (void)state;
    step.status = NFS3ERR_STALE;
    assert_int_equal(fill_in(&step, objects, &with, &put, &missing), FILL_IN_DONE);
    assert_int_equal(got.len, sizeof(stale));
    assert_memory_equal(got.data, stale, sizeof(stale));
    got.len = 0;
    step.status = NFS3ERR_BADHANDLE;
    assert_int_equal(fill_in(&step, objects, &with, &put, &missing), FILL_IN_DONE);
    assert_int_equal(got.len, sizeof(bad));
    assert_memory_equal(got.data, bad, sizeof(bad));
    got.len = 0;
    step.status = NFS3ERR_STALE;
    with.stale.len = 0;
    assert_int_equal(fill_in(&step, objects, &with, &put, &missing), FILL_IN_NO_HANDLE);
    assert_int_equal(missing, 0);
    step = getattr_of(OBJECTS + 1, &arguments); /* without a handle */
    assert_int_equal(fill_in(&step, objects, &with, &put, &missing), FILL_IN_NO_HANDLE);
    assert_int_equal(missing, OBJECTS + 1);
    step = getattr_of(OBJECTS + 2, &arguments); /* not there */
    assert_int_equal(fill_in(&step, objects, &with, &put, &missing), FILL_IN_NO_HANDLE);
    assert_int_equal(missing, OBJECTS + 2);
    assert_int_equal(got.len, 0);
    buf_free(&arguments);
    buf_free(&got);
}

static struct nfstime3 sent_ctime(const struct buf *got)
{
    return (struct nfstime3){ load_be32(got->data + got->len - 8),
                              load_be32(got->data + got->len - 4) };
}

static void guards(void **state)
{
    /* object 5, six times nothing to set, a guard */
    static const uint8_t setattr[] = { 0, 0, 0, 4, 0, 0, 0, 5, [35] = 1, 1, 2, 3, 4, 5, 6, 7, 8 };
    struct buf arguments = { 0 }, got = { 0 };
    struct xdr_put put = xdr_put_to(&got, XDR_PUT_ANY_LENGTH);
    struct object *object = objects_find(objects, 5);
    struct fill_in with = { 0 };
    uint32_t missing = 0;
    struct step step;

    (void)state;
    assert_int_equal(buf_append(&arguments, setattr, sizeof(setattr)), 0);
    step = step_of("SETATTR", &arguments);
    assert_int_equal(fill_in(&step, objects, &with, &put, &missing), FILL_IN_NO_CTIME);
    assert_int_equal(missing, 5);
    assert_int_equal(got.len, 0);
    object->has_ctime = true;
    object->ctime = (struct nfstime3){ 7, 8 };
    assert_int_equal(fill_in(&step, objects, &with, &put, &missing), FILL_IN_DONE);
    assert_int_equal(sent_ctime(&got).seconds, 7);
    assert_int_equal(sent_ctime(&got).nseconds, 8);
    with.has_ctime = true;
    with.ctime = (struct nfstime3){ 20, 21 };
    assert_int_equal(fill_in(&step, objects, &with, &put, &missing), FILL_IN_DONE);
    assert_int_equal(sent_ctime(&got).seconds, 20);
    step.status = NFS3ERR_NOT_SYNC; /* never the right one, and always one */
    for (uint32_t seconds = 0; seconds < 4; seconds++) {
        object->ctime = (struct nfstime3){ seconds, 999999999 };
        assert_int_equal(fill_in(&step, objects, &with, &put, &missing), FILL_IN_DONE);
        assert_false(sent_ctime(&got).seconds == seconds && sent_ctime(&got).nseconds == 999999999);
        assert_int_not_equal(sent_ctime(&got).seconds, 20);
    }
    object->has_ctime = false;
    assert_int_equal(fill_in(&step, objects, &with, &put, &missing), FILL_IN_DONE);
    buf_free(&arguments);
    buf_free(&got);
}

static void refuses(uint8_t number, const void *data, uint32_t len, const char *words)
{
    struct step step = { .number = number, .arguments = { data, len } };
    struct err err = { 0 };

    assert_int_equal(places_find(&places, &step, &err), -ERR_INPUT);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static void hostile_arguments(void **state)
{
    static const uint8_t getattr[] = { 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0 };
    static const uint8_t long_handle[] = { 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 1 };
    static const uint8_t write[] = { 0, 0, 0, 4, 0, 0, 0, 1, [23] = 2, [24] = 0x40, [27] = 1, 0 };
    static const uint8_t longer[] = { 0, 0, 0, 4, 0, 0, 0, 1, [23] = 2, [27] = 5, 0 };
    struct step step = { .number = 255, .unplayable = 1, .arguments = { getattr, 8 } };
    struct err err = { 0 };

    (void)state;
    refuses(1, getattr, 12, "bytes are left over");
    refuses(1, getattr, 7, "passes the message's end");
    refuses(1, getattr, 3, "GETATTR3args.object");
    refuses(1, NULL, 0, "GETATTR3args.object");
    refuses(1, long_handle, 12, "not the number of an object");
    refuses(7, write, 28, "more data than a message has");
    refuses(7, write, 24, "they end before");
    refuses(7, longer, 29, "bytes are left over");
    refuses(22, getattr, 8, "procedure 22");
    refuses(99, getattr, 8, "procedure 99");
    refuses(255, getattr, 8, "procedure 255");
    assert_int_equal(places_find(&places, &step, &err), 0); /* nobody sends it */
    assert_null(step.procedure);
    assert_int_equal(step.arguments.len, 0);
    assert_int_equal(step_object(&step), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_procedure),
        cmocka_unit_test(handles_that_never_worked),
        cmocka_unit_test(guards),
        cmocka_unit_test(hostile_arguments),
    };
    struct err err = { 0 };

    wire_init();
    places_init(&places);
    objects = objects_open(&err);
    for (uint32_t n = 1; objects && n <= OBJECTS + 1; n++) {
        struct object *object = objects_add(objects, n, &err);

        if (!object ||
            (n <= OBJECTS && objects_set_handle(objects, 2, object, handle_of(n), &err) < 0))
            return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_copy_order.c
 *
 * live/copy: one test for each thing that it waits for, asks or leaves alone so that an object is
 * not called synchronized too early.  Each is a race, which the servers' hooks always decide alike.
 */
#include "copy_case.h"
#include "copy/copy_parts.h"

static struct mirror_object *object_of(int side, uint32_t number)
{
    uint8_t handle[HANDLE_LENGTH];
    struct bytes bytes = lab_handle(&lab, side, number, handle);

    return side == REF ? mirror_find(lab.mirror, bytes) : mirror_find_sut(lab.mirror, bytes);
}

static struct copy_handle twin_of(const struct mirror_object *object)
{
    struct copy_handle handle;

    handle_set(&handle, mirror_sut_handle(lab.mirror, object));
    return handle;
}

/* The SUT's object is still the one that it was. */
static void assert_same_twin(const struct mirror_object *object, const struct copy_handle *twin)
{
    assert_true(bytes_equal(mirror_sut_handle(lab.mirror, object), handle_bytes(twin)));
    assert_int_not_equal(lab_find(&lab, SUT_SIDE, handle_bytes(twin)), 0);
}

static uint32_t on_sut(const struct mirror_object *object)
{
    return lab_find(&lab, SUT_SIDE, mirror_sut_handle(lab.mirror, object));
}

static uint32_t look_up(int side, uint32_t directory, const char *name)
{
    uint32_t object;

    return fs_lookup(lab_fs(&lab, side), &lab_root_user, directory, lab_text(name), &object)
               ? 0
               : object;
}

static void take_name(int side, uint32_t directory, const char *name)
{
    assert_int_equal(
        fs_remove(lab_fs(&lab, side), &lab_root_user, directory, lab_text(name), false), NFS3_OK);
}

static void queue(struct mirror_object *object)
{
    assert_int_equal(mirror_set_state(lab.mirror, object, MIRROR_QUEUED, NULL), 0);
    copy_wake(lab.copy);
}

static uint32_t root_of(int side)
{
    return fs_root(lab_fs(&lab, side));
}

/* --- waiting */

static uint32_t waited_for; /* an id */
static bool is_busy_now;

static bool quiet_but_one(void *ctx, const struct mirror_object *object, uint64_t before)
{
    (void)ctx, (void)before;
    return !is_busy_now || object->id != waited_for;
}

/* A duplicate is on its way to the SUT when the copy of its file begins. */
static void duplicate_under_way(void **state)
{
    uint32_t file = lab_make(lab_fs(&lab, REF), root_of(REF), "f", NF3REG);

    (void)state;
    lab_write(lab_fs(&lab, REF), file, 0, 300, 1);
    lab.setup.host.is_quiet = quiet_but_one;
    lab_begin_copy(&lab);
    same(true);
    waited_for = object_of(REF, file)->id;
    is_busy_now = true;
    queue(object_of(REF, file));
    lab_run(&lab, 30000000);
    lab_write(lab_fs(&lab, SUT_SIDE), on_sut(object_of(REF, file)), 0, 300, 2);
    is_busy_now = false;
    same(true);
}

static uint64_t listed_at;
static uint32_t listed_xid, listings;

/* Not the first |listings| of them. */
static void listing_unread(struct lab *l, uint32_t xid, uint64_t position)
{
    if (l->side[REF].calls[COPY_READDIRPLUS] > listings && !listed_xid) {
        listed_xid = xid;
        listed_at = position;
    } else {
        lab_answered(l, xid, position);
    }
}

static void wait_for_listing(void)
{
    for (int i = 0; i < 10000 && !listed_xid; i++)
        lab_run(&lab, 1000000);
    assert_int_not_equal(listed_xid, 0);
    lab_run(&lab, 10000000); /* nothing is done with it */
}

/* The ring may have, before the listing, that what it shows came from elsewhere. */
static void listing_read_first(void **state)
{
    (void)state;
    lab_make(lab_fs(&lab, REF), root_of(REF), "f", NF3REG);
    lab_make(lab_fs(&lab, SUT_SIDE), root_of(SUT_SIDE), "surplus", NF3REG);
    listed_xid = listings = 0;
    lab.answered = listing_unread;
    lab_begin_copy(&lab);
    wait_for_listing();
    assert_int_equal(mirror_count(lab.mirror), 1);
    assert_int_equal(look_up(SUT_SIDE, root_of(SUT_SIDE), "f"), 0);
    lab_answered(&lab, listed_xid, listed_at);
    lab.answered = lab_answered;
    same(true);
}

static uint64_t last_read, asked_before;

static void note_position(struct lab *l, uint32_t xid, uint64_t position)
{
    static uint64_t reads;

    if (l->side[REF].calls[COPY_READ] != reads)
        last_read = position;
    reads = l->side[REF].calls[COPY_READ];
    lab_answered(l, xid, position);
}

static bool note_before(void *ctx, const struct mirror_object *object, uint64_t before)
{
    (void)ctx;
    if (object->type == NF3REG)
        asked_before = before;
    return true;
}

/* Nothing that began before the last piece was read may be outstanding. */
static void quiet_since_the_last_piece(void **state)
{
    uint32_t file = lab_make(lab_fs(&lab, REF), root_of(REF), "f", NF3REG);

    (void)state;
    lab_write(lab_fs(&lab, REF), file, 0, 20000, 1);
    lab.setup.piece = 512;
    lab.setup.host.is_quiet = note_before;
    lab.answered = note_position;
    last_read = asked_before = 0;
    lab_begin_copy(&lab);
    same(true);
    assert_int_equal(lab.side[REF].calls[COPY_READ], 40);
    assert_true(asked_before > last_read);
}

static uint32_t changing;

/* A client writes while the file is read, and the host notes it. */
static void write_twice(struct lab *l, int side, uint32_t procedure)
{
    struct mirror_object *object = object_of(REF, changing);
    struct change_time time = { l->ring + 1, l->ring + 2 };
    uint8_t byte = (uint8_t)countdown;

    if (side != REF || procedure != COPY_READ || !countdown || !object->has_changes)
        return;
    countdown--;
    l->ring += 2;
    lab_write(lab_fs(l, REF), changing, 5, 1, byte);
    copy_noted(l->copy, object,
               change_note_write(mirror_changes(l->mirror, object), time, 5, 1, &byte));
}

/* Times are those after the changes that were noted. */
static void looks_again(void **state)
{
    (void)state;
    changing = lab_make(lab_fs(&lab, REF), root_of(REF), "f", NF3REG);
    lab_write(lab_fs(&lab, REF), changing, 0, 300, 1);
    countdown = 2;
    lab.executed = write_twice;
    lab_begin_copy(&lab);
    same(true);
    assert_int_equal(countdown, 1); /* there was one READ */
}

/* --- the last name */

/* D1 and D2 on both sides, |names| of a file in D1; all is synchronized.  Then the file has only
 * one name on the reference, D2/z. */
static struct mirror_object *move_all(uint32_t d[2], const char *const *names, uint32_t count)
{
    struct fs *ref = lab_fs(&lab, REF);
    uint32_t file;

    d[0] = lab_make(ref, root_of(REF), "D1", NF3DIR);
    d[1] = lab_make(ref, root_of(REF), "D2", NF3DIR);
    file = lab_make(ref, d[0], names[0], NF3REG);
    for (uint32_t i = 1; i < count; i++)
        assert_int_equal(fs_link(ref, &lab_root_user, file, d[0], lab_text(names[i])), NFS3_OK);
    lab_begin_copy(&lab);
    same(true);
    assert_int_equal(fs_link(ref, &lab_root_user, file, d[1], lab_text("z")), NFS3_OK);
    for (uint32_t i = 0; i < count; i++)
        take_name(REF, d[0], names[i]);
    return object_of(REF, file);
}

static void settle_directories(const uint32_t d[2])
{
    queue(object_of(REF, d[0]));
    lab_run(&lab, 30000000); /* before the sweeper is done with what is in the scratch directory */
    queue(object_of(REF, d[1]));
    same(false);
}

/* All names go at once: the file on the SUT lives on. */
static void last_of_several(void **state)
{
    static const char *const names[] = { "a", "b", "c" };
    struct mirror_object *file;
    struct copy_handle twin;
    uint32_t d[2];

    (void)state;
    file = move_all(d, names, 3);
    twin = twin_of(file);
    settle_directories(d);
    assert_same_twin(file, &twin);
}

static uint32_t other_directory;

/* A client's duplicate removes the other name when the copy has just looked. */
static void take_other(struct lab *l, int side, uint32_t procedure)
{
    (void)l;
    if (side != SUT_SIDE || procedure != COPY_LOOKUP || !countdown)
        return;
    countdown--;
    take_name(SUT_SIDE, other_directory, "other");
}

static void last_since_it_was_found(void **state)
{
    static const char *const names[] = { "a" };
    struct mirror_object *file;
    struct copy_handle twin;
    uint32_t d[2];

    (void)state;
    file = move_all(d, names, 1);
    twin = twin_of(file);
    other_directory = on_sut(object_of(REF, d[1]));
    assert_int_equal(fs_link(lab_fs(&lab, SUT_SIDE), &lab_root_user, on_sut(file), other_directory,
                             lab_text("other")),
                     NFS3_OK);
    countdown = 1;
    lab.executed = take_other;
    settle_directories(d);
    assert_int_equal(countdown, 0);
    assert_same_twin(file, &twin);
}

/* --- the stash */

/* What is on its way into the scratch directory cannot be taken out, nor be missed there. */
static void pending_stash(void **state)
{
    static const char *const names[] = { "a" };
    struct mirror_object *file;
    struct scratch *s;
    char name[SCRATCH_NAME];
    uint32_t d[2], number;

    (void)state;
    file = move_all(d, names, 1);
    queue(object_of(REF, d[0]));
    s = &lab.copy->scratch;
    while (!s->stash_count || copy_counts(lab.copy).at_work)
        lab_run(&lab, 100000);
    number = s->stashes[0].number;
    assert_true(copy_scratch_find(lab.copy, file->id, name));
    s->stashes[0].is_pending = true;
    assert_false(copy_scratch_find(lab.copy, file->id, name));
    assert_int_equal(fs_rename(lab_fs(&lab, SUT_SIDE), &lab_root_user,
                               look_up(SUT_SIDE, root_of(SUT_SIDE), s->name), lab_text(name),
                               on_sut(object_of(REF, d[0])), lab_text("a")),
                     NFS3_OK); /* as if it were not there so far */
    lab_run(&lab, 100000000);
    assert_int_equal(s->stash_count, 1);
    assert_int_equal(fs_rename(lab_fs(&lab, SUT_SIDE), &lab_root_user, on_sut(object_of(REF, d[0])),
                               lab_text("a"), look_up(SUT_SIDE, root_of(SUT_SIDE), s->name),
                               lab_text(name)),
                     NFS3_OK);
    copy_scratch_settled(lab.copy, number);
    assert_true(copy_scratch_find(lab.copy, file->id, name));
    queue(object_of(REF, d[1]));
    same(false);
}

/* --- what is gone, and what is not */

static uint32_t made;

/* A client makes a file while the root is listed. */
static void make_noted(struct lab *l, int side, uint32_t procedure)
{
    struct change_time time = { l->ring + 1, l->ring + 2 };
    struct change_child child = { .type = NF3REG };
    struct mirror_object *root = mirror_at(l->mirror, 1);
    uint8_t handle[HANDLE_LENGTH];

    if (side != REF || procedure != COPY_READDIRPLUS || made)
        return;
    l->ring += 2;
    made = lab_make(lab_fs(l, REF), root_of(REF), "x", NF3REG);
    child.handle = lab_handle(l, REF, made, handle);
    assert_non_null(mirror_add(l->mirror, child.handle, NULL));
    copy_noted(l->copy, root,
               change_note_made(mirror_changes(l->mirror, root), time, lab_text("x"), &child));
}

/* Another client removes it while the root is played: the duplicate waits for |played|. */
static void forget_made(struct lab *l, int side, uint32_t procedure)
{
    struct mirror_object *child = made ? object_of(REF, made) : NULL;

    make_noted(l, side, procedure);
    if (side == REF || procedure != COPY_LOOKUP || !child)
        return;
    take_name(REF, root_of(REF), "x");
    mirror_set_state(l->mirror, child, MIRROR_GONE, NULL);
    copy_leave(l->copy, child);
    mirror_forget(l->mirror, child);
}

static int play_duplicate(void *ctx, struct mirror_object *object, struct err *err)
{
    if (object->is_root)
        take_name(SUT_SIDE, root_of(SUT_SIDE), "x");
    return host_played(ctx, object, err);
}

static void played_and_forgotten(void **state)
{
    (void)state;
    made = 0;
    lab.executed = forget_made;
    lab.setup.host.played = play_duplicate;
    lab_begin_copy(&lab);
    same(false);
    assert_int_not_equal(made, 0);
    assert_int_equal(look_up(REF, root_of(REF), "x"), 0);
}

/* The host took a file for gone which has another name. */
static void gone_but_for_a_name(void **state)
{
    static const char *const names[] = { "a" };
    struct mirror_object *file;
    uint32_t d[2];

    (void)state;
    file = move_all(d, names, 1);
    assert_int_equal(mirror_set_state(lab.mirror, file, MIRROR_GONE, NULL), 0);
    settle_directories(d);
    assert_int_equal(file->state, MIRROR_SYNCHRONIZED);
}

/* What the host took for gone is gone, though the listing still had it. */
static void listed_and_gone(void **state)
{
    uint32_t file = lab_make(lab_fs(&lab, REF), root_of(REF), "f", NF3REG);
    uint8_t handle[HANDLE_LENGTH];
    struct mirror_object *object;

    (void)state;
    listed_xid = listings = 0;
    lab.answered = listing_unread;
    lab_begin_copy(&lab);
    wait_for_listing();
    object = mirror_add(lab.mirror, lab_handle(&lab, REF, file, handle), NULL);
    take_name(REF, root_of(REF), "f");
    assert_int_equal(mirror_set_state(lab.mirror, object, MIRROR_GONE, NULL), 0);
    lab.answered = lab_answered;
    lab_answered(&lab, listed_xid, listed_at);
    assert_true(lab_settle(&lab, 20));
    assert_int_equal(object->state, MIRROR_GONE);
    assert_int_equal(lab.side[SUT_SIDE].calls[COPY_CREATE], 0);
    assert_int_equal(look_up(SUT_SIDE, root_of(SUT_SIDE), "f"), 0);
}

/* The listing shows a directory that was moved since, and has its new name on the SUT already. */
static void moved_since_it_was_listed(void **state)
{
    struct fs *ref = lab_fs(&lab, REF);
    uint32_t d1 = lab_make(ref, root_of(REF), "D1", NF3DIR);
    uint32_t d2 = lab_make(ref, root_of(REF), "D2", NF3DIR);
    uint32_t moved = lab_make(ref, d1, "d", NF3DIR);
    struct mirror_object *first;
    struct change_time time;
    struct copy_handle twin;

    (void)state;
    lab_make(ref, moved, "f", NF3REG);
    lab_begin_copy(&lab);
    same(true);
    listed_xid = 0;
    listings = (uint32_t)lab.side[REF].calls[COPY_READDIRPLUS];
    lab.answered = listing_unread;
    first = object_of(REF, d1);
    queue(first);
    wait_for_listing();
    assert_int_equal(fs_rename(ref, &lab_root_user, d1, lab_text("d"), d2, lab_text("e")), NFS3_OK);
    time = (struct change_time){ lab.ring + 1, lab.ring + 2 };
    lab.ring += 2;
    copy_noted(lab.copy, first,
               change_note_removed(mirror_changes(lab.mirror, first), time, lab_text("d"), true));
    queue(object_of(REF, d2));
    queue(object_of(REF, moved));
    for (int i = 0; i < 10000 && object_of(REF, d2)->state != MIRROR_SYNCHRONIZED; i++)
        lab_run(&lab, 1000000);
    twin = twin_of(object_of(REF, moved));
    lab.answered = lab_answered;
    lab_answered(&lab, listed_xid, listed_at);
    same(false);
    assert_same_twin(object_of(REF, moved), &twin);
}

static uint32_t lost_directory;

/* The directory goes on the SUT when a name is about to be linked there. */
static void lose_directory(struct lab *l, int side, uint32_t procedure)
{
    struct fs *fs = lab_fs(l, SUT_SIDE);

    if (side == REF && procedure == COPY_READDIRPLUS && countdown) {
        countdown--;
        assert_int_equal(fs_remove(fs, &lab_root_user, root_of(SUT_SIDE), lab_text("D2"), true),
                         NFS3_OK);
        lost_directory++;
    }
}

/* LINK fails because its directory is gone: the file keeps its handle, and its other name. */
static void link_into_nothing(void **state)
{
    struct fs *ref = lab_fs(&lab, REF);
    uint32_t d1 = lab_make(ref, root_of(REF), "D1", NF3DIR);
    uint32_t d2 = lab_make(ref, root_of(REF), "D2", NF3DIR);
    uint32_t file = lab_make(ref, d1, "a", NF3REG);
    struct copy_handle twin;

    (void)state;
    lab_begin_copy(&lab);
    same(true);
    twin = twin_of(object_of(REF, file));
    assert_int_equal(fs_link(ref, &lab_root_user, file, d2, lab_text("b")), NFS3_OK);
    countdown = 1;
    lost_directory = 0;
    lab.executed = lose_directory;
    queue(object_of(REF, d2));
    same(false);
    assert_int_equal(lost_directory, 1);
    assert_same_twin(object_of(REF, file), &twin);
    assert_int_equal(look_up(SUT_SIDE, on_sut(object_of(REF, d1)), "a"),
                     on_sut(object_of(REF, file)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(duplicate_under_way, begin, end),
        cmocka_unit_test_setup_teardown(listing_read_first, begin, end),
        cmocka_unit_test_setup_teardown(quiet_since_the_last_piece, begin, end),
        cmocka_unit_test_setup_teardown(looks_again, begin, end),
        cmocka_unit_test_setup_teardown(last_of_several, begin, end),
        cmocka_unit_test_setup_teardown(last_since_it_was_found, begin, end),
        cmocka_unit_test_setup_teardown(pending_stash, begin, end),
        cmocka_unit_test_setup_teardown(played_and_forgotten, begin, end),
        cmocka_unit_test_setup_teardown(gone_but_for_a_name, begin, end),
        cmocka_unit_test_setup_teardown(listed_and_gone, begin, end),
        cmocka_unit_test_setup_teardown(link_into_nothing, begin, end),
        cmocka_unit_test_setup_teardown(moved_since_it_was_listed, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is inferred from impossible sequences, what overlapping operations must not prove, and what
 * cannot be replayed. Object 1 is the root. */
#include "digest_steps.h"

static void create_create_remove(void **state)
{
    (void)state;
    DO(NFS3_CREATE, 1, .name = "A", .made = 2, .how = 2);
    DO(NFS3_CREATE, 1, .name = "A", .made = 3, .how = 2);
    DO(NFS3_REMOVE, 1, .name = "A");
    assert_string_equal(inferred(), "REMOVE 2 1/A <2 (made again; 1)");
    assert_string_equal(entries(), "1/A=2 1..2, 1/A=3 2..3");
}

static void create_again_finds_itself(void **state)
{
    (void)state;
    DO(NFS3_CREATE, 1, .name = "A", .made = 2, .how = 1);
    DO(NFS3_CREATE, 1, .name = "A", .made = 2, .how = 1);
    assert_string_equal(inferred(), "");
}

static void name_gone(void **state)
{
    (void)state;
    DO(NFS3_CREATE, 1, .name = "f", .made = 2, .how = 2);
    DO(NFS3_LOOKUP, 1, .name = "d", .made = 3, .type = OBJECT_DIR);
    DO(NFS3_REMOVE, 1, .name = "f", .unanswered = true);
    DO(NFS3_LOOKUP, 1, .name = "f", .status = NFS3ERR_NOENT);
    DO(NFS3_RMDIR, 1, .name = "d", .status = NFS3ERR_NOENT);
    assert_string_equal(inferred(),
                        "REMOVE 2 1/f <4 (name gone; 1; 3), RMDIR 3 1/d <5 (name gone; 2)");
}

static void gone_and_found_again_was_a_rename(void **state)
{
    (void)state;
    DO(NFS3_LOOKUP, 1, .name = "a", .made = 2, .type = OBJECT_REG);
    DO(NFS3_LOOKUP, 1, .name = "a", .status = NFS3ERR_NOENT);
    DO(NFS3_LOOKUP, 1, .name = "b", .made = 2, .type = OBJECT_REG);
    assert_string_equal(inferred(), "RENAME 2 1/a 1/b <2 (name gone; 1)");
    assert_string_equal(entries(), "1/a=2 -..2, 1/b=2 2..-");
}

static void lookup_proves_rename(void **state)
{
    (void)state;
    DO(NFS3_LOOKUP, 1, .name = "d", .made = 2, .type = OBJECT_DIR);
    DO(NFS3_LOOKUP, 1, .name = "e", .made = 2, .type = OBJECT_DIR);
    /* a file with one link has one name */
    DO(NFS3_LOOKUP, 1, .name = "f", .made = 3, .type = OBJECT_REG, .nlink = 1);
    DO(NFS3_LOOKUP, 2, .name = "g", .made = 3, .type = OBJECT_REG, .nlink = 1);
    assert_string_equal(inferred(), "RENAME 2 1/d 1/e <2 (other object found; 1), "
                                    "RENAME 3 1/f 2/g <4 (other object found; 3)");
}

static void lookup_proves_rename_over(void **state)
{
    (void)state;
    DO(NFS3_LOOKUP, 1, .name = "new", .made = 2, .type = OBJECT_REG);
    DO(NFS3_LOOKUP, 1, .name = "old", .made = 3, .type = OBJECT_REG);
    DO(NFS3_LOOKUP, 1, .name = "old", .made = 2, .type = OBJECT_REG);
    assert_string_equal(inferred(), "RENAME 2 1/new 1/old <3 (other object found; 2)");
    assert_string_equal(entries(), "1/old=3 -..3, 1/new=2 -..3, 1/old=2 3..-");
    assert_int_not_equal(node_of(3)->died, TO_THE_END);
}

static void lookup_proves_remove_and_create(void **state)
{
    (void)state;
    DO(NFS3_LOOKUP, 1, .name = "a", .made = 2, .type = OBJECT_REG);
    DO(NFS3_LOOKUP, 1, .name = "a", .made = 3, .type = OBJECT_DIR);
    assert_string_equal(inferred(), "REMOVE 2 1/a <2 (other object found; 1), "
                                    "MKDIR 3 1/a <2 (other object found; 1)");
}

static void lookup_proves_link(void **state)
{
    (void)state;
    DO(NFS3_CREATE, 1, .name = "a", .made = 2, .how = 2);
    DO(NFS3_LOOKUP, 1, .name = "b", .status = NFS3ERR_NOENT);
    DO(NFS3_LOOKUP, 1, .name = "b", .made = 2, .type = OBJECT_REG, .nlink = 2);
    assert_string_equal(inferred(), "LINK 2 ? 1/b <3 (name appeared; 2)");
}

static void lost_create(void **state)
{
    (void)state;
    DO(NFS3_LOOKUP, 1, .name = "f", .status = NFS3ERR_NOENT);
    DO(NFS3_CREATE, 1, .name = "f", .how = 2, .unanswered = true);
    DO(NFS3_WRITE, 2, .type = OBJECT_REG, .size = 5);
    DO(NFS3_LOOKUP, 1, .name = "f", .made = 2, .type = OBJECT_REG, .size = 5);
    /* before its first use */
    assert_string_equal(inferred(), "CREATE 2 1/f <3 (name appeared; 1; 2)");
    assert_int_equal(l.hierarchy.counts.files, 0);
    /* in a directory that was made here everything was */
    DO(NFS3_MKDIR, 1, .name = "d", .made = 3);
    DO(NFS3_LOOKUP, 3, .name = "x", .made = 4, .type = OBJECT_LNK);
    assert_int_equal(l.repair.count, 2);
    assert_int_equal(l.repair.inferences[2].procedure, NFS3_SYMLINK);
}

static void absent_names(void **state)
{
    (void)state;
    DO(NFS3_LOOKUP, 1, .name = "a", .status = NFS3ERR_NOENT);
    DO(NFS3_REMOVE, 1, .name = "a");
    DO(NFS3_CREATE, 1, .name = "a", .how = 2, .status = NFS3ERR_EXIST);
    DO(NFS3_RENAME, 1, .name = "b", .object2 = 1, .name2 = "c", .status = NFS3ERR_NOENT);
    DO(NFS3_RENAME, 1, .name = "b", .object2 = 1, .name2 = "c");
    assert_string_equal(inferred(), "CREATE -1 1/a <2 (absent name removed; 1), "
                                    "CREATE -2 1/a <3 (absent name exists; 2), "
                                    "CREATE -3 1/b <5 (absent name removed; 4)");
}

static void removed_directory_was_emptied(void **state)
{
    (void)state;
    DO(NFS3_LOOKUP, 1, .name = "d", .made = 2, .type = OBJECT_DIR);
    DO(NFS3_LOOKUP, 2, .name = "e", .made = 3, .type = OBJECT_DIR);
    DO(NFS3_LOOKUP, 3, .name = "f", .made = 4, .type = OBJECT_REG);
    DO(NFS3_RMDIR, 1, .name = "d");
    assert_string_equal(inferred(), "REMOVE 4 3/f <4 (directory was not empty; 3), "
                                    "RMDIR 3 2/e <4 (directory was not empty; 2)");
}

static void stale_handle(void **state)
{
    (void)state;
    DO(NFS3_LOOKUP, 1, .name = "a", .made = 2, .type = OBJECT_REG, .nlink = 2);
    DO(NFS3_LOOKUP, 1, .name = "b", .made = 2, .type = OBJECT_REG, .nlink = 2);
    DO(NFS3_READ, 2, .status = NFS3ERR_STALE);
    assert_string_equal(inferred(),
                        "REMOVE 2 1/b <3 (handle stale; 2), REMOVE 2 1/a <3 (handle stale; 1)");
    /* a directory with names in it may be out of reach for a while */
    DO(NFS3_LOOKUP, 1, .name = "d", .made = 3, .type = OBJECT_DIR);
    DO(NFS3_LOOKUP, 3, .name = "f", .made = 4, .type = OBJECT_REG);
    DO(NFS3_GETATTR, 3, .status = NFS3ERR_STALE);
    assert_int_equal(l.repair.count, 2);
}

/* Two operations that overlap, in the order of their calls; done in the other order. */
static void overlap(const struct op *first, const struct op *second)
{
    struct effect *a = make(first), *b = make(second);

    called(a);
    called(b);
    done(b);
    done(a);
    now += 10;
}

static void overlapping_proves_nothing(void **state)
{
    (void)state;
    DO(NFS3_LOOKUP, 1, .name = "x", .made = 2, .type = OBJECT_REG);
    now = 10;
    /* LOOKUP answered late: it found what was removed meanwhile */
    overlap(&(struct op){ NFS3_LOOKUP, 1, .name = "x", .made = 2, .call = 10, .reply = 19 },
            &(struct op){ NFS3_REMOVE, 1, .name = "x", .call = 11, .reply = 12 });
    /* it found nothing, before CREATE */
    overlap(
        &(struct op){ NFS3_LOOKUP, 1, .name = "y", .status = NFS3ERR_NOENT, .call = 20,
                      .reply = 29 },
        &(struct op){ NFS3_CREATE, 1, .name = "y", .made = 3, .how = 2, .call = 21, .reply = 22 });
    /* it found what CREATE made, which was answered later */
    overlap(
        &(struct op){ NFS3_CREATE, 1, .name = "z", .made = 4, .how = 2, .call = 30, .reply = 39 },
        &(struct op){ NFS3_LOOKUP, 1, .name = "z", .made = 4, .type = OBJECT_REG, .call = 31,
                      .reply = 32 });
    /* and nothing, after REMOVE, which was answered later */
    overlap(&(struct op){ NFS3_REMOVE, 1, .name = "y", .call = 40, .reply = 49 },
            &(struct op){ NFS3_LOOKUP, 1, .name = "y", .status = NFS3ERR_NOENT, .call = 41,
                          .reply = 42 });
    /* made again by another, while it is removed */
    overlap(
        &(struct op){ NFS3_REMOVE, 1, .name = "z", .call = 50, .reply = 59 },
        &(struct op){ NFS3_CREATE, 1, .name = "z", .made = 5, .how = 2, .call = 51, .reply = 52 });
    assert_string_equal(inferred(), "");
    assert_string_equal(entries(), "1/x=2 -..12, 1/y=3 22..42, 1/z=4 32..52, 1/z=5 52..-");
}

static void later_calls_prove(void **state)
{
    (void)state;
    DO(NFS3_CREATE, 1, .name = "y", .made = 3, .how = 2, .call = 21, .reply = 22);
    DO(NFS3_LOOKUP, 1, .name = "y", .status = NFS3ERR_NOENT, .call = 23, .reply = 29);
    assert_string_equal(inferred(), "REMOVE 3 1/y <2 (name gone; 1)");
}

static void half_a_rename(void **state)
{
    (void)state;
    DO(NFS3_LOOKUP, 1, .name = "a", .made = 2, .type = OBJECT_REG);
    DO(NFS3_RENAME, 1, .name = "a"); /* cut before the second name */
    DO(NFS3_LOOKUP, 1, .name = "b", .made = 2, .type = OBJECT_REG);
    assert_string_equal(inferred(),
                        "RENAME 2 1/a 1/.nfsdigest-elsewhere-1 <2 (second name cut; 0), "
                        "RENAME 2 1/.nfsdigest-elsewhere-1 1/b <3 (other object found; 2)");
}

static void unplayable(void **state)
{
    const struct effect good = { .program = 100003,
                                 .version = 3,
                                 .procedure = procedure_find(100003, 3, NFS3_GETATTR),
                                 .rpc_status = RPC_SUCCESS };
    struct effect e = good;

    (void)state;
    assert_int_equal(unplayable_of(&e), PLAYABLE);
    e.pairing = CALL_LOST;
    e.program = 0;
    assert_int_equal(unplayable_of(&e), UNPLAYABLE_NO_CALL);
    for (int pairing = REPLY_LOST; pairing <= CAPTURE_ENDED; pairing++)
        if (pairing != CALL_LOST) {
            e = good;
            e.pairing = (uint8_t)pairing;
            assert_int_equal(unplayable_of(&e), UNPLAYABLE_NO_REPLY);
        }
    e = good;
    e.reply_flags = SIGHTING_OPAQUE;
    assert_int_equal(unplayable_of(&e), UNPLAYABLE_PROTECTED);
    e = good;
    e.rpc_status = RPC_SUCCESS + 1;
    assert_int_equal(unplayable_of(&e), UNPLAYABLE_REFUSED);
    e = good;
    e.arguments = WALK_MALFORMED;
    assert_int_equal(unplayable_of(&e), UNPLAYABLE_MALFORMED);
    e = good;
    e.arguments = WALK_TRUNCATED;
    assert_int_equal(unplayable_of(&e), UNPLAYABLE_PARTIAL);
    e = good;
    e.status = STATUS_NONE;
    assert_int_equal(unplayable_of(&e), UNPLAYABLE_PARTIAL);
    e = good;
    e.result = WALK_TRUNCATED; /* the status is enough */
    assert_int_equal(unplayable_of(&e), PLAYABLE);
    e = good;
    e.status = NFS3ERR_STALE;
    assert_int_equal(unplayable_of(&e), UNPLAYABLE_STALE);
    e.status = 10008; /* NFS3ERR_JUKEBOX */
    assert_int_equal(unplayable_of(&e), UNPLAYABLE_SERVER);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(create_create_remove),
        TEST(create_again_finds_itself),
        TEST(name_gone),
        TEST(gone_and_found_again_was_a_rename),
        TEST(lookup_proves_rename),
        TEST(lookup_proves_rename_over),
        TEST(lookup_proves_remove_and_create),
        TEST(lookup_proves_link),
        TEST(lost_create),
        TEST(absent_names),
        TEST(removed_directory_was_emptied),
        TEST(stale_handle),
        TEST(overlapping_proves_nothing),
        TEST(later_calls_prove),
        TEST(half_a_rename),
        TEST(unplayable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

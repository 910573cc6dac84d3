/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: model */
/* Lint's rules of contents: what READs return, what a restart may lose, and what clients must send
 * again. */
#include "lint_lab.h"

#include "base/blocks.h"

static const struct state twenty = { NF3REG, FILE_1, 20, 1000, 0 };
static const struct writing first_half = { 0, 10, 10, FILE_SYNC, 10, FILE_SYNC, NULL };
static const struct writing second_half = { 10, 10, 10, FILE_SYNC, 10, FILE_SYNC, NULL };

static struct op *write_letter(struct lab *lab, int i, const struct writing *w, char letter)
{
    lab->digest = (uint8_t)letter;
    return write_call(lab, i, w, NULL, &twenty);
}

/* Reads the range of |w|: |letter| stands for what comes back. */
static void expect_read(struct lab *lab, const struct writing *w, char letter, const char *wanted)
{
    lab->digest = (uint8_t)letter;
    read_file(lab, &(struct reading){ w->offset, 10, 10, 10, w->offset == 10 }, &twenty);
    expect(lab, wanted);
}

static void test_contents(void **state)
{
    struct lab *lab = *state;

    done(lab, write_letter(lab, 1, &first_half, 'a'));
    expect_read(lab, &first_half, 'a', "");
    expect_read(lab, &second_half, 'b', ""); /* nobody wrote it */
    expect_read(lab, &first_half, 'b', "read-contents");
    expect_read(lab, &first_half, 'b', ""); /* said once */
    done(lab, write_letter(lab, 1, &first_half, 'c'));
    done(lab, write_letter(lab, 1, &(struct writing){ 9, 5, 5, 2, 5, 2, NULL }, 'd'));
    expect_read(lab, &first_half, 'e', ""); /* two wrote it */
    done(lab, write_letter(lab, 1, &(struct writing){ 0, 10, 10, 2, 9, 2, NULL }, 'd'));
    expect_read(lab, &first_half, 'e', ""); /* not all was written */
    done(lab, write_letter(lab, 1, &first_half, 'c'));
    done(lab, write_letter(lab, 1, &second_half, '\0'));
    expect_read(lab, &second_half, 'e', ""); /* not all was captured */
    expect_read(lab, &first_half, '\0', "");
    expect_read(lab, &first_half, 'e', "read-contents");
}

/* Operations that overlap in time: only ranges that overlap, too, are left out. */
static void test_contents_overlap(void **state)
{
    struct lab *lab = *state;
    struct op *one, *two, *size;

    one = write_letter(lab, 1, &first_half, 'a');
    two = write_letter(lab, 2, &second_half, 'b');
    done(lab, one);
    expect_read(lab, &first_half, 'a', "");
    done(lab, two);
    expect_read(lab, &first_half, 'x', "read-contents");
    expect_read(lab, &second_half, 'x', "read-contents");
    one = write_letter(lab, 1, &first_half, 'a');
    two = write_letter(lab, 2, &first_half, 'b');
    done(lab, one);
    done(lab, two);
    expect_read(lab, &first_half, 'x', ""); /* which one came last? */
    one = write_letter(lab, 1, &first_half, 'a');
    expect_read(lab, &first_half, 'x', "");
    done(lab, one);
    expect_read(lab, &first_half, 'x', "read-contents");
    one = read_call(lab, 1, &(struct reading){ 0, 10, 10, 10, false }, &twenty);
    done(lab, write_letter(lab, 2, &first_half, 'a'));
    done(lab, one); /* it may have come before */
    expect(lab, "");
    one = write_letter(lab, 1, &second_half, 'a');
    size = setattr(lab, 15, NULL);
    xdr_put_u32(&size->r, 0);
    put_wcc(&size->r, NULL, NULL);
    run(lab, size, 0);
    done(lab, one);
    expect_read(lab, &second_half, 'x', "");
    done(lab, write_letter(lab, 1, &first_half, 'a'));
    reply_alone(lab);
    expect_read(lab, &first_half, 'x', "");
    write_unanswered(lab, FILE_1);
    done(lab, write_letter(lab, 1, &first_half, 'a'));
    expect_read(lab, &first_half, 'x', "");
}

/* With room for one range, the second one takes its place; two under way are too many. */
static void test_contents_room(void **state)
{
    struct lab *lab = *state;
    struct op *one, *two;

    restart(lab, 1);
    done(lab, write_letter(lab, 1, &first_half, 'a'));
    done(lab, write_letter(lab, 1, &second_half, 'b'));
    expect_read(lab, &first_half, 'x', "");
    expect_read(lab, &second_half, 'x', "read-contents");
    one = write_letter(lab, 1, &first_half, 'a');
    two = write_letter(lab, 2, &first_half, 'b');
    done(lab, one);
    done(lab, two);
    expect_read(lab, &first_half, 'x', "");
}

static void end(struct lab *lab, const char *wanted)
{
    assert_int_equal(lint_end(lab->lint, &lab->err), 0);
    expect(lab, wanted);
}

static const struct writing loose = { 0, 10, 10, UNSTABLE, 10, UNSTABLE, "one     " };
static const struct writing elsewhere_one = { 10, 10, 10, UNSTABLE, 10, UNSTABLE, "one     " };
static const struct writing elsewhere_two = { 10, 10, 10, UNSTABLE, 10, UNSTABLE, "two     " };

/* What was not committed may be lost by a restart: the next verifier tells. */
static void test_restart(void **state)
{
    struct lab *lab = *state;

    done(lab, write_letter(lab, 1, &loose, 'a'));
    expect_read(lab, &loose, 'x', "");
    done(lab, write_letter(lab, 1, &elsewhere_one, 'b'));
    expect(lab, "read-contents");
    done(lab, write_letter(lab, 1, &loose, 'a'));
    expect_read(lab, &loose, 'x', "");
    done(lab, write_letter(lab, 1, &elsewhere_two, 'b'));
    expect(lab, "verifier-changed");
    assert_int_equal(lint_counts(lab->lint).excused, 1);
    end(lab, "");
    restart(lab, 0);
    done(lab, write_letter(lab, 1, &loose, 'a'));
    done(lab, write_letter(lab, 1, &elsewhere_two, 'b'));
    expect(lab, "verifier-changed");
    expect_read(lab, &loose, 'x', ""); /* the restart came before */
    assert_int_equal(lint_counts(lab->lint).excused, 1);
    end(lab, "");
    restart(lab, 0);
    done(lab, write_letter(lab, 1, &loose, 'a'));
    expect_read(lab, &loose, 'x', "");
    end(lab, "read-contents");
}

static void test_stable(void **state)
{
    struct lab *lab = *state;
    const struct writing stable = { 0, 10, 10, UNSTABLE, 10, FILE_SYNC, "one     " };

    done(lab, write_letter(lab, 1, &stable, 'a'));
    done(lab, write_letter(lab, 1, &elsewhere_two, 'b'));
    expect(lab, "verifier-changed");
    expect_read(lab, &stable, 'a', "");
    expect_read(lab, &stable, 'x', "stable-lost");
    restart(lab, 0);
    done(lab, write_letter(lab, 1, &loose, 'a'));
    commit(lab, FILE_1, "one     ");
    expect_read(lab, &loose, 'x', "read-contents");
    done(lab, write_letter(lab, 1, &loose, 'a'));
    commit(lab, FILE_1, "one     ");
    done(lab, write_letter(lab, 1, &elsewhere_two, 'b'));
    expect(lab, "verifier-changed");
    expect_read(lab, &loose, 'x', "stable-lost");
}

/* A finding whose text nobody reads has none, and is one nevertheless.  That of a READ can become
 * one of another rule, whose texts are read. */
static void test_unread(void **state)
{
    struct lab *lab = *state;
    const struct writing stable = { 0, 10, 10, UNSTABLE, 10, FILE_SYNC, "one     " };

    lab->reads_one = true;
    lab->read = LINT_STABLE_LOST;
    done(lab, write_letter(lab, 1, &stable, 'a'));
    done(lab, write_letter(lab, 1, &elsewhere_two, 'b'));
    expect(lab, "verifier-changed");
    assert_int_equal(lab->unread, 1);
    expect_read(lab, &stable, 'x', "stable-lost");
    assert_int_equal(lab->unread, 1);
    restart(lab, 0);
    lab->read = LINT_READ_CONTENTS; /* held, and said when a verifier comes */
    done(lab, write_letter(lab, 1, &loose, 'a'));
    expect_read(lab, &loose, 'x', "");
    end(lab, "read-contents");
    assert_int_equal(lab->unread, 1);
}

/* The size of a file with uncommitted data. */
static void test_size_after_restart(void **state)
{
    struct lab *lab = *state;
    const struct state ten = { NF3REG, FILE_1, 10, 1000, 0, 0 };

    done(lab, write_letter(lab, 1, &elsewhere_one, 'a'));
    getattr(lab, &ten);
    expect(lab, "");
    commit(lab, FILE_2, "two     ");
    expect(lab, "verifier-changed");
    end(lab, "");
    restart(lab, 0);
    done(lab, write_letter(lab, 1, &elsewhere_one, 'a'));
    commit(lab, FILE_1, "one     ");
    getattr(lab, &ten);
    expect(lab, "changed-unseen");
}

static void test_owed(void **state)
{
    struct lab *lab = *state;
    const int64_t minute = INT64_C(60000000000);

    done(lab, write_letter(lab, 1, &loose, 'a'));
    commit(lab, FILE_1, "two     ");
    expect(lab, "verifier-changed");
    lab->now += minute;
    done(lab, write_letter(lab, 1, &elsewhere_two, 'b'));
    end(lab, "not-sent-again");
    restart(lab, 0);
    done(lab, write_letter(lab, 1, &loose, 'a'));
    commit(lab, FILE_1, "two     ");
    done(lab, write_letter(lab, 1, &first_half, 'a'));
    lab->now += minute;
    getattr(lab, &twenty);
    end(lab, "verifier-changed verifier-changed");
    restart(lab, 0);
    done(lab, write_letter(lab, 1, &loose, 'a'));
    lab->now += minute;
    getattr(lab, &twenty);
    end(lab, "uncommitted");
    restart(lab, 0);
    done(lab, write_letter(lab, 1, &loose, 'a'));
    commit(lab, FILE_1, "one     ");
    done(lab, write_letter(lab, 1, &elsewhere_one, 'a'));
    lab->now += minute / 2;
    getattr(lab, &twenty);
    end(lab, "");
}

/* A WRITE whose verifier was cut off: nobody knows if a COMMIT is of the same one. */
static void test_cut(void **state)
{
    struct lab *lab = *state;

    for (int i = 0; i < 2; i++) {
        struct op *op;

        restart(lab, 0);
        op = write_letter(lab, 1, &loose, 'a');
        if (i) {
            op->effect.result_body.len -= 8;
            op->effect.reply_flags |= SIGHTING_PARTIAL | SIGHTING_CUT;
            effect_decode(&op->effect);
            assert_int_equal(op->effect.result, WALK_TRUNCATED);
        }
        done(lab, op);
        expect_read(lab, &loose, 'x', "");
        commit(lab, FILE_1, "two     ");
        expect(lab, i ? "" : "verifier-changed");
        lab->now += INT64_C(60000000000);
        getattr(lab, &twenty);
        end(lab, "");
        assert_int_equal(lint_counts(lab->lint).undecided, i);
        restart(lab, 0);
        op = write_letter(lab, 1, &loose, 'a');
        op->effect.result_body.len -= i ? 8 : 0;
        op->effect.reply_flags |= i ? SIGHTING_PARTIAL | SIGHTING_CUT : 0;
        effect_decode(&op->effect);
        done(lab, op);
        commit(lab, FILE_1, "two     ");
        lab->now += INT64_C(60000000000);
        getattr(lab, &twenty);
        end(lab, i ? "" : "verifier-changed not-sent-again");
    }
}

/* A range of blocks, with one letter for the contents of each piece; '0': zeros. */
static void put_blocks(struct lab *lab, uint64_t offset, uint32_t len, const char *letters)
{
    lab->blocks_len = 0;
    lab->digest = (uint8_t)*letters;
    for (uint64_t at = offset; at < offset + len; letters++) {
        static uint8_t contents[BLOCK_SIZE];
        uint32_t piece = block_piece(at, offset + len - at);
        struct buf digest = { 0 };

        memset(contents, *letters == '0' ? 0 : *letters, piece);
        lab->digest = (uint8_t)(lab->digest * 31 + *letters) | 1;
        assert_int_equal(blocks_digest(at, (struct bytes){ contents, piece }, &digest), 0);
        assert_int_equal(digest.len, BLOCK_DIGEST_LEN);
        memcpy(lab->blocks + lab->blocks_len, digest.data, digest.len);
        lab->blocks_len += BLOCK_DIGEST_LEN;
        buf_free(&digest);
        at += piece;
    }
    assert_int_equal(lab->blocks_len, BLOCK_DIGEST_LEN * block_count(offset, len));
}

static const struct state big = { NF3REG, FILE_1, 16384, 1000, 0, 1 };

static struct op *write_blocks(struct lab *lab, int i, uint64_t offset, uint32_t len,
                               const char *letters)
{
    put_blocks(lab, offset, len, letters);
    return write_call(
        lab, i, &(struct writing){ offset, len, len, FILE_SYNC, len, FILE_SYNC, NULL }, NULL, &big);
}

static void read_blocks(struct lab *lab, uint64_t offset, uint32_t len, const char *letters,
                        const char *wanted)
{
    put_blocks(lab, offset, len, letters);
    read_file(lab, &(struct reading){ offset, len, len, len, offset + len == big.size }, &big);
    expect(lab, wanted);
}

static void test_blocks(void **state)
{
    struct lab *lab = *state;

    done(lab, write_blocks(lab, 1, 0, 8192, "ab"));
    done(lab, write_blocks(lab, 1, 8192, 8192, "cd"));
    read_blocks(lab, 0, 16384, "abcd", "");
    assert_int_equal(lint_counts(lab->lint).compared, 1);
    read_blocks(lab, 4096, 8192, "bc", "");
    read_blocks(lab, 4096, 8192, "b0", "read-contents");
    read_blocks(lab, 4096, 8192, "b0", ""); /* said once */
    done(lab, write_blocks(lab, 1, 4096, 4096, "e"));
    read_blocks(lab, 0, 8192, "ae", "");
    read_blocks(lab, 0, 8192, "ab", "read-contents");
    done(lab, write_blocks(lab, 1, 4096, 6000, "fg")); /* a part of the second one */
    read_blocks(lab, 4096, 8192, "fx", "");
    read_blocks(lab, 4096, 6000, "fx", "read-contents");
    done(lab, write_blocks(lab, 1, 0, 4096, "h"));
    lab->blocks_len = 0;
    done(lab, write_call(lab, 1, &(struct writing){ 100, 10, 10, FILE_SYNC, 10, FILE_SYNC, NULL },
                         NULL, &big)); /* without digests */
    read_blocks(lab, 0, 4096, "x", "");
}

static void test_blocks_overlap(void **state)
{
    struct lab *lab = *state;
    struct op *one, *two;

    one = write_blocks(lab, 1, 0, 8192, "ab");
    two = write_blocks(lab, 2, 4096, 8192, "cd");
    done(lab, one);
    read_blocks(lab, 0, 4096, "x", "read-contents");
    done(lab, two);
    read_blocks(lab, 4096, 4096, "x", ""); /* which one came last? */
    read_blocks(lab, 8192, 4096, "x", "read-contents");
    one = write_blocks(lab, 1, 0, 4096, "a");
    lab->blocks_len = 0;
    two = setattr(lab, 2, NULL);
    xdr_put_u32(&two->r, 0);
    put_wcc(&two->r, NULL, NULL);
    run(lab, two, 0);
    lab->found[0] = '\0'; /* size-set: the size of |big| */
    done(lab, one);
    lab->found[0] = '\0';
    read_blocks(lab, 0, 4096, "x", "");
    done(lab, write_blocks(lab, 1, 0, 8192, "ab"));
    read_blocks(lab, 0, 4096, "x", "read-contents");
    reply_alone(lab);
    read_blocks(lab, 4096, 4096, "x", "");
}

/* With room for two blocks, the third one takes the place of the first. */
static void test_blocks_room(void **state)
{
    struct lab *lab = *state;

    restart(lab, 2);
    done(lab, write_blocks(lab, 1, 0, 8192, "ab"));
    done(lab, write_blocks(lab, 1, 8192, 4096, "c"));
    read_blocks(lab, 4096, 8192, "xc", "read-contents");
    read_blocks(lab, 0, 4096, "x", "");
    done(lab, write_blocks(lab, 1, 0, 12288, "abc")); /* too many */
    read_blocks(lab, 8192, 4096, "x", "");
}

/* The server did not restart: a finding that waited for the verifier comes. */
static void same_verifier(struct lab *lab, const char *wanted)
{
    commit(lab, FILE_2, "verifier");
    expect(lab, wanted);
}

/* READs against READs, by blocks: a WRITE elsewhere does not matter. */
static void test_blocks_read(void **state)
{
    struct lab *lab = *state;
    struct op *op;

    read_blocks(lab, 0, 12288, "abc", "");
    read_blocks(lab, 4096, 12288, "bcd", "");
    assert_int_equal(lint_counts(lab->lint).read_again, 1);
    assert_int_equal(lint_counts(lab->lint).compared, 0);
    read_blocks(lab, 8192, 8192, "cx", "read-differs");
    read_blocks(lab, 12288, 4096, "y", ""); /* said once, and learned now */
    read_blocks(lab, 12288, 4096, "z", "read-differs");
    done(lab, write_blocks(lab, 1, 0, 4096, "e"));
    read_blocks(lab, 0, 8192, "ex", "read-differs"); /* read before there was a verifier */
    read_blocks(lab, 0, 8192, "xb", "read-contents");
    read_blocks(lab, 0, 8192, "xb", "");
    op = write_blocks(lab, 1, 8192, 4096, "f"); /* another one, meanwhile */
    read_blocks(lab, 12288, 4096, "g", "");
    done(lab, op);
    read_blocks(lab, 12288, 4096, "h", "");
    read_blocks(lab, 12288, 4096, "i", "");
    same_verifier(lab, "read-differs");
    read_blocks(lab, 0, 4000, "x", ""); /* another piece */
    reply_alone(lab);
    read_blocks(lab, 0, 4000, "y", "");
    read_blocks(lab, 0, 4000, "z", "");
    same_verifier(lab, "read-differs");
}

static void read_range(struct lab *lab, uint64_t offset, uint32_t len, char letter,
                       const char *wanted)
{
    lab->digest = (uint8_t)letter;
    read_file(lab, &(struct reading){ offset, len, len, len, offset + len == 20 }, &twenty);
    expect(lab, wanted);
}

/* The same by ranges: any change of the file counts. */
static void test_ranges_read(void **state)
{
    struct lab *lab = *state;
    const struct state later = { NF3REG, FILE_1, 20, 2000, 0, 0 };
    struct op *op;

    read_range(lab, 0, 10, 'a', "");
    read_range(lab, 0, 10, 'a', "");
    assert_int_equal(lint_counts(lab->lint).read_again, 1);
    read_range(lab, 0, 9, 'b', "");
    read_range(lab, 1, 9, 'c', "");
    read_range(lab, 0, 10, 'b', "read-differs");
    read_range(lab, 0, 10, 'c', ""); /* said once, and learned now */
    op = read_call(lab, 1, &(struct reading){ 0, 10, 10, 10, false }, &twenty);
    done(lab, write_letter(lab, 2, &second_half, 'd'));
    done(lab, op); /* it may have come before */
    read_range(lab, 0, 10, 'd', "");
    read_range(lab, 0, 10, 'e', "");
    same_verifier(lab, "read-differs");
    read_range(lab, 0, 10, 'e', "");
    read_range(lab, 0, 10, '\0', ""); /* not captured */
    getattr(lab, &later);
    expect(lab, "changed-unseen");
    lab->digest = 'f';
    read_file(lab, &(struct reading){ 0, 10, 10, 10, false }, &later);
    expect(lab, "");
    write_unanswered(lab, FILE_1);
    lab->digest = 'g';
    read_file(lab, &(struct reading){ 0, 10, 10, 10, false }, &later);
    expect(lab, "");
}

/* What was read may have been lost by a restart; the next verifier tells. */
static void test_read_restart(void **state)
{
    struct lab *lab = *state;

    done(lab, write_letter(lab, 1, &elsewhere_one, 'a'));
    read_range(lab, 0, 10, 'a', "");
    read_range(lab, 0, 10, 'b', "");
    commit(lab, FILE_2, "one     ");
    expect(lab, "read-differs");
    read_range(lab, 0, 10, 'c', "");
    read_range(lab, 0, 10, 'd', "");
    commit(lab, FILE_2, "two     ");
    expect(lab, "verifier-changed");
    assert_int_equal(lint_counts(lab->lint).excused, 1);
    end(lab, "");
}

int main(void)
{
#define LINT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        LINT_TEST(test_contents),
        LINT_TEST(test_contents_overlap),
        LINT_TEST(test_contents_room),
        LINT_TEST(test_restart),
        LINT_TEST(test_unread),
        LINT_TEST(test_stable),
        LINT_TEST(test_size_after_restart),
        LINT_TEST(test_owed),
        LINT_TEST(test_cut),
        LINT_TEST(test_blocks),
        LINT_TEST(test_blocks_overlap),
        LINT_TEST(test_blocks_room),
        LINT_TEST(test_blocks_read),
        LINT_TEST(test_ranges_read),
        LINT_TEST(test_read_restart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of pseudonyms, the allow-list, and the places of bytes in a file. */
#include "audit/allow.h"
#include "audit/blocks.h"
#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static struct pair_result add(struct pairs *p, enum domain domain, unsigned bits, const char *from,
                              const char *to)
{
    struct pair_result result;
    struct err err = { 0 };

    const struct pair_values pair = { .domain = domain,
                                      .bits = bits,
                                      .from = { from, (uint32_t)strlen(from) },
                                      .to = { to, (uint32_t)strlen(to) } };

    assert_int_equal(pairs_add(p, &pair, 5, &result, &err), 0);
    return result;
}

static void test_functions_and_collisions(void **ctx)
{
    struct pairs p;
    struct pair_result r;

    (void)ctx;
    pairs_init(&p, 0);
    r = add(&p, DOMAIN_NAME, 0, "one", "eno");
    assert_true(r.is_new && !r.contradicts && !r.collides);
    r = add(&p, DOMAIN_NAME, 0, "one", "eno");
    assert_true(!r.is_new && !r.contradicts && !r.collides);
    r = add(&p, DOMAIN_NAME, 0, "one", "other");
    assert_true(r.contradicts && !r.collides && r.frame == 5);
    r = add(&p, DOMAIN_NAME, 0, "two", "eno");
    assert_true(!r.contradicts && r.collides);
    /* other domains and widths are other values */
    r = add(&p, DOMAIN_HOST, 0, "one", "again");
    assert_true(r.is_new && !r.contradicts && !r.collides);
    r = add(&p, DOMAIN_UID, 32, "abcd", "efgh");
    assert_true(r.is_new);
    r = add(&p, DOMAIN_UID, 64, "abcd", "ijkl");
    assert_true(r.is_new && !r.contradicts);
    /* to become nothing is no collision of its own */
    assert_false(add(&p, DOMAIN_OPAQUE, 0, "x", "").collides_in_zero);
    r = add(&p, DOMAIN_OPAQUE, 0, "y", "");
    assert_true(r.collides_in_zero && !r.collides);
    assert_true(pairs_is_pseudonym(&p, DOMAIN_NAME, 0, (struct pair_value){ "eno", 3 }));
    assert_false(pairs_is_pseudonym(&p, DOMAIN_NAME, 0, (struct pair_value){ "one", 3 }));
    pairs_free(&p);
}

static struct pair_result add_number(struct pairs *p, uint32_t from, uint64_t to)
{
    struct pair_result result;
    struct err err = { 0 };

    const struct pair_values pair = { DOMAIN_UID, 32, { &from, 4 }, { &to, 4 }, false };

    assert_int_equal(pairs_add(p, &pair, 5, &result, &err), 0);
    return result;
}

static uint64_t uses_of(const struct pair_side *side)
{
    uint64_t uses = 0;

    for (uint32_t i = 0; i < side->count; i++)
        uses += side->all[i].uses;
    return uses;
}

/* Numbers that come again at once are counted, and judged, as those that come again later. */
static void test_numbers(void **ctx)
{
    enum { NUMBERS = 3 * PAIRS_LATELY, TIMES = 5, MAX = NUMBERS / 3 };
    uint32_t others = 0;
    struct pairs p;

    (void)ctx;
    pairs_init(&p, 0);
    for (uint32_t i = 0; i < NUMBERS; i++) {
        for (unsigned k = 0; k < TIMES; k++) {
            struct pair_result r = add_number(&p, i, i + 1000000);

            assert_int_equal(r.is_new, k == 0);
            assert_true(!r.contradicts && !r.collides && !r.collides_in_zero);
        }
        assert_true(add_number(&p, i, i + 2000000).contradicts);
        assert_true(add_number(&p, i + 3000000, i + 1000000).collides);
    }
    pairs_settle(&p);
    assert_int_equal(uses_of(&p.forward), NUMBERS * (TIMES + 2));
    assert_int_equal(uses_of(&p.back), NUMBERS * (TIMES + 2));
    pairs_free(&p);
    pairs_init(&p, MAX); /* entries move while numbers are remembered */
    for (uint32_t i = 0; i < NUMBERS; i++)
        for (uint32_t before = 0; before <= 20; before += 10)
            for (unsigned k = 0; k < TIMES; k++) {
                uint32_t number = (i + NUMBERS - before) % NUMBERS;

                assert_false(add_number(&p, number, number + 1000000).contradicts);
            }
    assert_true(p.forward.halvings && p.back.halvings);
    pairs_settle(&p);
    for (uint32_t i = 0; i < p.forward.count; i++)
        others += p.forward.all[i].uses != 3 * TIMES;
    for (uint32_t i = 0; i < p.back.count; i++)
        others += p.back.all[i].uses != 3 * TIMES;
    assert_int_equal(others, 0);
    pairs_free(&p);
}

/* With a bound, among many values: each contradiction and collision of a sampled one is found, and
 * none is invented. */
static void test_bound(void **ctx)
{
    enum { VALUES = 20000, MAX = 1000 };
    uint32_t contradictions = 0, collisions = 0;
    struct pairs p;
    char from[16], to[16];

    (void)ctx;
    pairs_init(&p, MAX);
    for (unsigned i = 0; i < VALUES; i++) {
        struct pair_result r;

        snprintf(from, sizeof(from), "f%u", i);
        snprintf(to, sizeof(to), "t%u", i);
        r = add(&p, DOMAIN_NAME, 0, from, to);
        assert_true(!r.contradicts && !r.collides);
    }
    assert_true(p.forward.count <= MAX && p.back.count <= MAX && p.forward.halvings >= 4);
    for (unsigned i = 0; i < VALUES; i++) {
        struct pair_result r;

        snprintf(from, sizeof(from), "f%u", i);
        snprintf(to, sizeof(to), "t%u", i + 1);
        r = add(&p, DOMAIN_NAME, 0, from, to);
        contradictions += r.contradicts;
        collisions += r.collides;
    }
    assert_true(contradictions >= MAX / 3 && collisions >= MAX / 3);
    pairs_free(&p);
}

static bool allowed(const struct allow *allow, const char *text)
{
    return allow_text(allow, (const uint8_t *)text, strlen(text));
}

static bool covered(const struct allow *allow, const char *text, const char *secret)
{
    return allow_covers(allow, (const uint8_t *)text, strlen(text),
                        (size_t)(strstr(text, secret) - text), strlen(secret));
}

static void test_allow_list(void **ctx)
{
    struct allow allow;
    struct err err = { 0 };

    (void)ctx;
    assert_int_equal(allow_load(&allow, NULL, &err), 0);
    assert_true(allowed(&allow, "tcp") && allowed(&allow, "udp6"));
    assert_false(allowed(&allow, "tc") || allowed(&allow, "tcpx") || allowed(&allow, ""));
    assert_true(covered(&allow, "see messages.whole 12", "whole"));
    assert_false(covered(&allow, "see messages,whole 12", "whole"));
    assert_false(covered(&allow, "whole", "whole"));
    assert_true(allow_number(&allow, DOMAIN_UID, 65534) && allow_number(&allow, DOMAIN_GID, 0));
    assert_false(allow_number(&allow, DOMAIN_UID, 1000) ||
                 allow_number(&allow, DOMAIN_COOKIE, 65534));
    assert_int_equal(allow_suffix(&allow, (const uint8_t *)"x.tar.gz", 8), 7);
    assert_int_equal(allow_suffix(&allow, (const uint8_t *)".gz", 3), 0);
    assert_int_equal(allow_suffix(&allow, (const uint8_t *)"x.unheard", 9), 0);
    assert_int_equal(allow_prefix(&allow, (const uint8_t *)".nfs0001", 8), 4);
    assert_int_equal(allow_prefix(&allow, (const uint8_t *)"nfs0001", 7), 0);
    allow_free(&allow);
}

/* --- places --- */

static const uint8_t file[] = {
    0x0a, 0x0d, 0x0d, 0x0a, 36,  0,  0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0,  0, 0, 255, 255, 255,
    255,  255,  255,  255,  255, 1,  0, 3, 0,    'a',  'b',  'c',  0, 36, 0, 0, 0, /* a comment
                                                                                      "abc" */
    1,    0,    0,    0,    28,  0,  0, 0, 1,    0,    0,    0,    0, 0,  0, 0, 2,   0,   2,
    0,    'i',  'f',  0,    0,   28, 0, 0, 0,    6,    0,    0,    0, 36, 0, 0, 0,   0,   0,
    0,    0,    0,    0,    0,   0,  0, 0, 0,    0,    3,    0,    0, 0,  3, 0, 0,   0,   'x',
    'y',  'z',  0,    36,   0,   0,  0, /* a packet "xyz" */
    9,    9,    9,    9,    9,          /* and what is no block */
};

struct seen {
    uint64_t bytes;
    unsigned blocks, sections, interfaces, packets, options;
};

static int on_option(void *ctx, const struct block *b, unsigned code, const uint8_t *text,
                     uint32_t len, struct err *err)
{
    struct seen *s = ctx;

    (void)err;
    if (b->kind == BLOCK_SECTION)
        assert_true(code == 1 && len == 3 && memcmp(text, "abc", 3) == 0);
    else
        assert_true(b->kind == BLOCK_INTERFACE && code == 2 && len == 2);
    s->options++;
    return 0;
}

static int on_block(void *ctx, const struct block *b, struct err *err)
{
    struct seen *s = ctx;
    uint64_t before = b->offset < BLOCK_OVERLAP ? b->offset : BLOCK_OVERLAP;

    assert_int_equal(b->offset, s->bytes);
    assert_int_equal(b->before, before);
    assert_memory_equal(b->data - before, file + b->offset - before, before + b->len);
    s->bytes += b->len;
    s->blocks++;
    s->sections += b->kind == BLOCK_SECTION;
    s->interfaces += b->kind == BLOCK_INTERFACE;
    if (b->kind == BLOCK_PACKET) {
        s->packets++;
        assert_int_equal(b->frame, 1);
        assert_int_equal(b->frame_len, 3);
        assert_memory_equal(b->data + b->frame_at, "xyz", 3);
    }
    return block_options(b, on_option, s, err);
}

/* Cut anywhere, the blocks are all bytes of the file, in order, and no others. */
static void test_blocks(void **ctx)
{
    (void)ctx;
    for (size_t len = 0; len <= sizeof(file); len++) {
        char path[] = "/tmp/audit.XXXXXX";
        int fd = mkstemp(path);
        struct seen seen = { 0 };
        struct err err = { 0 };

        assert_true(fd >= 0);
        assert_int_equal(write(fd, file, len), (ssize_t)len);
        close(fd);
        assert_int_equal(blocks_read(path, on_block, &seen, &err), 0);
        unlink(path);
        assert_int_equal(seen.bytes, len);
        if (len == sizeof(file))
            assert_true(seen.sections == 1 && seen.interfaces == 1 && seen.packets == 1 &&
                        seen.options == 2 && seen.blocks == 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_and_collisions),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_allow_list),
        cmocka_unit_test(test_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

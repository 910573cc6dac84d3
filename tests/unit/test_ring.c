/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_ring.c
 *
 * The ring in shared memory: a writer and readers in one process, in two processes at full speed,
 * rings of others, and damaged ones.  The payload of entry N is made from N, so every reader can
 * say by itself whether it got the right bytes.
 */
#include "ring/ring_parts.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { BIG = 3 * RING_BLOCK };

static struct err err;
static uint8_t data[BIG];

/* Bytes of a stream, from |offset| on. */
static struct bytes stream(uint64_t offset, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        data[i] = (uint8_t)((offset + i) * UINT64_C(0x9e3779b97f4a7c15) >> 40);
    return (struct bytes){ data, len };
}

static bool is_stream(const struct ring_got *got)
{
    struct bytes want = stream(got->entry.offset, got->payload.len);

    return memcmp(want.data, got->payload.data, want.len) == 0;
}

static struct ring *new_ring(uint64_t size)
{
    struct ring *ring = ring_new(size, &err);

    if (!ring)
        fail_msg("%s", err.text);
    return ring;
}

static struct ring_reader *new_reader(const struct ring *ring)
{
    struct ring_reader *reader = ring_reader_new(ring_fd(ring), &err);

    if (!reader)
        fail_msg("%s", err.text);
    return reader;
}

static uint64_t put(struct ring *ring, uint64_t offset, uint32_t len)
{
    const struct ring_entry e = { .connection = 7, .kind = 3, .offset = offset, .time = 5 };

    ring_put(ring, &e, stream(offset, len));
    return offset + len;
}

/* --- one process */

static void test_entries(void **state)
{
    static const uint32_t sizes[] = {
        0,          1,       63, 64, 65, 127, 128, 1000, RING_PAYLOAD_MAX, RING_PAYLOAD_MAX + 1,
        RING_BLOCK, BIG - 1, 4,  0
    };
    struct ring *ring = new_ring(1);
    struct ring_reader *reader = new_reader(ring);
    struct ring_counts counts;
    struct ring_got got;
    uint64_t offset = 0, read = 0, number = 0;

    (void)state;
    assert_int_equal(ring_reader_size(reader), RING_BLOCKS_MIN * RING_BLOCK);
    for (int round = 0; round < 20; round++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            offset = put(ring, offset, sizes[i]);
            do {
                assert_int_equal(ring_read(reader, &got, &err), 1);
                assert_int_equal(got.entry.number, ++number);
                assert_int_equal(got.entry.connection, 7);
                assert_int_equal(got.entry.kind, 3);
                assert_int_equal(got.entry.time, 5);
                assert_int_equal(got.entry.offset, read);
                assert_int_equal(got.lost, 0);
                assert_true(is_stream(&got));
                read += got.payload.len;
            } while (read < offset);
            assert_int_equal(ring_read(reader, &got, &err), 0);
            assert_int_equal(ring_behind(reader), 0);
        }
    ring_count(ring, &counts);
    assert_int_equal(counts.entries, number);
    assert_int_equal(counts.bytes, offset);
    assert_true(counts.position > 4 * counts.size);
    ring_free(ring);
    /* what was there stays readable */
    assert_int_equal(ring_read(reader, &got, &err), 0);
    ring_reader_free(reader);
}

/* Bytes that are written where they lie; now and then fewer than there was room for, or none. */
static void test_in_place(void **state)
{
    static const uint32_t wants[] = { 1, 64, 65, 100000, RING_PAYLOAD_MAX, BIG };
    struct ring *ring = new_ring(1);
    struct ring_reader *reader = new_reader(ring), *late;
    struct ring_got got;
    uint64_t offset = 0, number = 0, reserved = 0;

    (void)state;
    for (uint32_t i = 0; i < 300; i++) {
        const struct ring_entry e = { .connection = 7, .kind = 3, .offset = offset };
        uint32_t room, want = wants[i % 6], len;
        uint8_t *to = ring_begin(ring, want, &room);

        assert_in_range(room, 1, want < RING_PAYLOAD_MAX ? want : RING_PAYLOAD_MAX);
        len = i % 7 == 0 ? 0 : i % 5 == 0 ? (room + 1) / 2 : room;
        memcpy(to, stream(offset, len).data, len);
        reserved = atomic_load(&reader->head->reserved);
        assert_int_equal(ring_read(reader, &got, &err), 0); /* not before its end, but padding */
        ring_end(ring, &e, len);
        assert_int_equal(ring_read(reader, &got, &err), len != 0);
        if (len) {
            assert_int_equal(got.entry.number, ++number);
            assert_int_equal(got.entry.offset, offset);
            assert_int_equal(got.payload.len, len);
            assert_true(is_stream(&got));
        }
        offset = put(ring, offset + len, 10); /* the other way of writing, in between */
        assert_int_equal(ring_read(reader, &got, &err), 1);
        assert_int_equal(got.entry.number, ++number);
        assert_true(is_stream(&got));
        assert_true(atomic_load(&reader->head->reserved) >= reserved); /* it never falls */
        reserved = atomic_load(&reader->head->reserved);
    }
    /* one who comes after an entry of fewer bytes misses nothing */
    ring_begin(ring, RING_PAYLOAD_MAX, &(uint32_t){ 0 });
    ring_end(ring, &(struct ring_entry){ .kind = 3 }, 1);
    late = new_reader(ring);
    put(ring, 0, 10);
    assert_int_equal(ring_read(late, &got, &err), 1);
    assert_int_equal(got.lost, 0);
    assert_true(is_stream(&got));
    ring_reader_free(late);
    ring_reader_free(reader);
    ring_free(ring);
}

/* What is about to be written is gone: it can change while a reader copies it. */
static void test_in_place_overruns(void **state)
{
    struct ring *ring = new_ring(1);
    struct ring_reader *reader;
    struct ring_counts counts;
    struct ring_got got;
    uint64_t begun;
    uint32_t room;

    (void)state;
    put(ring, 0, 50000); /* so that the end of its round is not the border of a block */
    reader = new_reader(ring);
    ring_count(ring, &counts);
    begun = counts.position;
    do { /* the ring is full, and nothing is lost */
        put(ring, 0, 1000);
        ring_count(ring, &counts);
    } while (counts.position + 2048 < begun + counts.size);
    memset(ring_begin(ring, 100000, &room), 0xff, 1000);
    assert_int_equal(ring_read(reader, &got, &err), 1);
    assert_true(got.lost > 0);
    assert_true(is_stream(&got));
    ring_reader_free(reader);
    ring_free(ring);
}

static void test_whole(void **state)
{
    const struct ring_entry e = { .kind = 1 };
    struct ring *ring = new_ring(1);
    struct ring_reader *reader = new_reader(ring);
    struct ring_got got;

    (void)state;
    for (uint64_t i = 0; i < 3000; i++) {
        ring_put_whole(ring, &e, stream(0, 1000));
        assert_int_equal(ring_read(reader, &got, &err), 1);
        assert_int_equal(got.payload.len, 1000);
        assert_int_equal(got.entry.number, i + 1);
    }
    ring_put_whole(ring, &e, stream(0, BIG));
    assert_int_equal(ring_read(reader, &got, &err), 1);
    assert_int_equal(got.payload.len, RING_PAYLOAD_MAX);
    ring_reader_free(reader);
    ring_free(ring);
}

/* A reader that slept for many rounds finds how many entries it missed, and goes on. */
static void test_overrun(void **state)
{
    struct ring *ring = new_ring(8 * RING_BLOCK);
    struct ring_reader *reader = new_reader(ring);
    struct ring_counts counts;
    struct ring_got got;
    uint64_t offset = 0, seen = 0, gaps = 0;

    (void)state;
    for (int round = 0; round < 5; round++) {
        uint64_t before = seen, lost = 0;

        for (int i = 0; i < 30000; i++)
            offset = put(ring, offset, 100 + (uint32_t)i % 300);
        while (ring_read(reader, &got, &err) == 1) {
            assert_true(is_stream(&got));
            gaps += got.lost != 0;
            lost += got.lost;
            seen += got.lost + 1;
            assert_int_equal(got.entry.number, seen);
        }
        ring_count(ring, &counts);
        assert_int_equal(seen, counts.entries);
        assert_true(lost > 10000 && lost < seen - before);
        assert_int_equal(gaps, round + 1);
    }
    ring_reader_free(reader);
    ring_free(ring);
}

/* --- two processes */

static void write_and_exit(struct ring *ring)
{
    uint64_t offset = 0;

    for (uint64_t i = 0; i < 60000; i++)
        offset = put(ring, offset, (uint32_t)(i * i % 5000));
    put(ring, offset, 0);
    _exit(0);
}

/* The writer goes at full speed; its end is an entry without bytes. */
static void test_two_processes(void **state)
{
    struct ring *ring = new_ring(RING_BLOCKS_MIN * RING_BLOCK);
    struct ring_reader *reader = new_reader(ring);
    struct ring_got got;
    uint64_t seen = 0, lost = 0, total = 60001;
    int status;
    pid_t pid = fork();

    (void)state;
    if (pid == 0)
        write_and_exit(ring);
    assert_true(pid > 0);
    for (;;) {
        int result = ring_read(reader, &got, &err);

        if (result < 0)
            fail_msg("%s", err.text);
        if (result == 0) {
            if (waitpid(pid, &status, WNOHANG) == pid && ring_behind(reader) == 0)
                break;
            continue;
        }
        assert_true(is_stream(&got));
        lost += got.lost;
        seen += 1 + got.lost;
        assert_true(got.entry.number >= seen);
    }
    assert_int_equal(status, 0);
    /* splitting makes more entries than were put */
    assert_true(seen >= total);
    assert_int_equal(got.entry.number, seen);
    assert_true(lost < seen);
    ring_reader_free(reader);
    ring_free(ring);
}

/* --- sealed */

static void test_readers_cannot_write(void **state)
{
    struct ring *ring = new_ring(1);
    size_t all = RING_HEAD_SIZE + RING_BLOCKS_MIN * RING_BLOCK;

    (void)state;
    assert_ptr_equal(mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd(ring), 0),
                     MAP_FAILED);
    assert_int_equal(pwrite(ring_fd(ring), "x", 1, 0), -1);
    assert_int_equal(ftruncate(ring_fd(ring), 0), -1);
    assert_int_equal(ftruncate(ring_fd(ring), (off_t)all * 2), -1);
    ring_free(ring);
}

static void test_not_sealed(void **state)
{
    int fd = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    (void)state;
    assert_int_equal(ftruncate(fd, RING_HEAD_SIZE + RING_BLOCKS_MIN * RING_BLOCK), 0);
    assert_null(ring_reader_new(fd, &err));
    assert_non_null(strstr(err.text, "not sealed"));
    assert_int_equal(fcntl(fd, F_ADD_SEALS, RING_SEALS), 0);
    assert_null(ring_reader_new(fd, &err));
    assert_non_null(strstr(err.text, "not a ring"));
    close(fd);
    assert_null(ring_reader_new(STDIN_FILENO, &err));
    assert_null(ring_new(RING_SIZE_MAX + 1, &err));
    assert_int_equal(err.code, ERR_USAGE);
    /* main limits what could be taken */
    assert_null(ring_new(RING_SIZE_MAX, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_non_null(strstr(err.text, "memory that is left"));
}

/* --- memory that another process damaged: the reader's checks, one by one */

struct damaged {
    struct ring_head *head;
    struct ring_entry *first;
    struct ring_reader reader;
};

static struct damaged *fake(void)
{
    uint64_t size = RING_BLOCKS_MIN * RING_BLOCK;
    struct damaged *d = calloc(1, sizeof(*d));
    struct ring_head *head = aligned_alloc(64, RING_HEAD_SIZE + size);

    if (!d || !head)
        abort();
    memset(head, 0, RING_HEAD_SIZE + size);
    memcpy(head->magic, RING_MAGIC, 8);
    head->version = RING_VERSION;
    head->head_size = RING_HEAD_SIZE;
    head->block = RING_BLOCK;
    head->size = size;
    d->head = head;
    d->reader.payload = malloc(RING_BLOCK);
    assert_int_equal(ring_reader_begin(&d->reader, head, size, &err), 0);
    d->first = (struct ring_entry *)((uint8_t *)head + RING_HEAD_SIZE);
    *d->first = (struct ring_entry){ .number = 1, .size = 128, .len = 64, .kind = 1 };
    atomic_store(&head->reserved, 128);
    atomic_store(&head->written, 128);
    return d;
}

static void drop(struct damaged *d)
{
    free(d->head);
    free(d->reader.payload);
    free(d);
}

static void expect_damage(struct damaged *d, const char *what)
{
    struct ring_got got;

    assert_int_equal(ring_read(&d->reader, &got, &err), -ERR_INPUT);
    if (!strstr(err.text, what))
        fail_msg("%s, not %s", err.text, what);
    drop(d);
}

static void test_damaged(void **state)
{
    struct damaged *d = fake();
    struct ring_got got;

    (void)state;
    assert_int_equal(ring_read(&d->reader, &got, &err), 1);
    assert_int_equal(ring_read(&d->reader, &got, &err), 0);
    atomic_store(&d->head->written, 64); /* backwards */
    expect_damage(d, "the writer's position");
    d = fake();
    atomic_store(&d->head->written, 127);
    expect_damage(d, "the writer's position");
    d = fake();
    d->first->size = 0;
    expect_damage(d, "an entry's size");
    d = fake();
    d->first->size = 100;
    expect_damage(d, "an entry's size");
    d = fake();
    d->first->size = 192; /* beyond what is written */
    expect_damage(d, "an entry's size");
    d = fake();
    d->first->size = RING_BLOCK + 64;
    atomic_store(&d->head->written, 2 * RING_BLOCK);
    atomic_store(&d->head->reserved, 2 * RING_BLOCK);
    expect_damage(d, "an entry's size");
    d = fake();
    d->first->len = 65;
    expect_damage(d, "the length of an entry's bytes");
    d = fake();
    d->reader.number = 2;
    expect_damage(d, "an entry's number");
    d = fake();
    atomic_store(&d->head->reserved, UINT64_MAX); /* overrun, but the writer is where it was */
    expect_damage(d, "the writer's positions");
}

static void test_wrong_head(void **state)
{
    struct damaged *d = fake();
    struct ring_reader r = { 0 };
    uint64_t size = RING_BLOCKS_MIN * RING_BLOCK;

    (void)state;
    assert_int_equal(ring_reader_begin(&r, d->head, size + RING_BLOCK, &err), -ERR_INPUT);
    d->head->size = size - 1;
    assert_int_equal(ring_reader_begin(&r, d->head, size - 1, &err), -ERR_INPUT);
    d->head->size = size;
    d->head->version = RING_VERSION + 1;
    assert_int_equal(ring_reader_begin(&r, d->head, size, &err), -ERR_INPUT);
    assert_non_null(strstr(err.text, "version 2"));
    d->head->version = RING_VERSION;
    d->head->block++;
    assert_int_equal(ring_reader_begin(&r, d->head, size, &err), -ERR_INPUT);
    d->head->block--;
    atomic_store(&d->head->written, 1);
    assert_int_equal(ring_reader_begin(&r, d->head, size, &err), -ERR_INPUT);
    drop(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_in_place_overruns),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_overrun),
        cmocka_unit_test(test_two_processes),
        cmocka_unit_test(test_readers_cannot_write),
        cmocka_unit_test(test_not_sealed),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_wrong_head),
    };

    /* a ring that is too large must fail, and not take the memory of other processes */
    const struct rlimit most = { 64 << 20, 64 << 20 };

    if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &most) < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

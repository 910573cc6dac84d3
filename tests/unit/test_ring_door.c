/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_ring_door.c
 *
 * Attaching to a ring: the writer in a process of its own, on a loop, as the relay is.
 */
#include "ring/ring_door.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct err err;
static char folder[] = "/tmp/ring_door.XXXXXX", path[64];

static void announce(void *ctx)
{
    const struct ring_entry e = { .kind = 9 };

    ring_put(ctx, &e, (struct bytes){ (const uint8_t *)"here", 4 });
}

static void mark(void *ctx, const uint8_t *bytes)
{
    const struct ring_entry e = { .kind = 10 };

    ring_put(ctx, &e, (struct bytes){ bytes, RING_DOOR_MARK });
}

/* Serves until it is killed, for at most a minute. */
static pid_t serve(void)
{
    int ready[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        struct loop *loop = loop_new(&err);
        struct ring *ring = ring_new(1, &err);
        const struct ring_door_host host = { announce, ring, mark };

        alarm(60);
        if (!loop || !ring || !ring_door_new(loop, path, ring, &host, &err) ||
            write(ready[1], "r", 1) != 1)
            _exit(1);
        loop_run(loop, &err);
        _exit(1);
    }
    assert_true(pid > 0);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void stop(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* Reads the announcements that come within |ms|. */
static int announcements(struct ring_reader *reader, int ms)
{
    struct ring_got got;
    int count = 0;

    for (int i = 0; i < ms; i++) {
        while (ring_read(reader, &got, &err) == 1) {
            assert_int_equal(got.entry.kind, 9);
            assert_memory_equal(got.payload.data, "here", 4);
            count++;
        }
        usleep(1000);
    }
    return count;
}

static void test_attach(void **state)
{
    struct ring_reader *readers[3];
    int fds[3];
    pid_t pid = serve();

    (void)state;
    for (int i = 0; i < 3; i++)
        if (ring_attach(path, NULL, &fds[i], &readers[i], &err) < 0)
            fail_msg("%s", err.text);
    assert_int_equal(announcements(readers[0], 20), 0);
    assert_int_equal(ring_ask(fds[1], &err), 0);
    assert_int_equal(announcements(readers[0], 50), 1);
    /* many who ask at once are told once more, and not sooner than after the pause */
    for (int i = 0; i < 1000; i++)
        assert_int_equal(ring_ask(fds[i % 3], &err), 0);
    assert_in_range(announcements(readers[0], 400), 1, 3);
    assert_false(ring_orphaned(fds[0]));
    /* one leaves, the others stay */
    close(fds[2]);
    ring_reader_free(readers[2]);
    assert_int_equal(ring_ask(fds[0], &err), 0);
    assert_int_equal(announcements(readers[1], 300) > 1, 1);
    stop(pid);
    assert_true(ring_orphaned(fds[0]));
    assert_int_equal(ring_ask(fds[0], &err), -ERR_SYSTEM);
    assert_int_equal(announcements(readers[0], 1) > 0, 1); /* what is in the ring stays */
    for (int i = 0; i < 2; i++) {
        close(fds[i]);
        ring_reader_free(readers[i]);
    }
}

/* A mark is in the ring when ring_mark returns; in pieces, it comes when it is whole, and asks for
 * nothing. */
static void test_mark(void **state)
{
    const uint8_t *bytes = (const uint8_t *)"MAAA0123456789abcdef0123456789ab";
    struct ring_reader *reader;
    struct ring_got got;
    pid_t pid = serve();
    int fd;

    (void)state;
    assert_int_equal(ring_attach(path, NULL, &fd, &reader, &err), 0);
    assert_int_equal(ring_mark(path, NULL, bytes, &err), 0);
    assert_int_equal(ring_read(reader, &got, &err), 1);
    assert_int_equal(got.entry.kind, 10);
    assert_int_equal(got.payload.len, RING_DOOR_MARK);
    assert_memory_equal(got.payload.data, bytes, RING_DOOR_MARK);
    assert_int_equal(write(fd, "M", 1), 1);
    usleep(20000);
    assert_int_equal(write(fd, bytes, 20), 20);
    usleep(20000);
    assert_int_equal(ring_read(reader, &got, &err), 0);
    assert_int_equal(write(fd, bytes + 20, RING_DOOR_MARK - 20), RING_DOOR_MARK - 20);
    usleep(50000);
    assert_int_equal(ring_read(reader, &got, &err), 1);
    assert_int_equal(got.entry.kind, 10);
    assert_memory_equal(got.payload.data, bytes, RING_DOOR_MARK);
    assert_int_equal(announcements(reader, 50), 0);
    /* it comes again with announcements, as long as the connection stays */
    assert_int_equal(ring_ask(fd, &err), 0);
    usleep(50000);
    assert_int_equal(ring_read(reader, &got, &err), 1);
    assert_int_equal(got.entry.kind, 10);
    assert_memory_equal(got.payload.data, bytes, RING_DOOR_MARK);
    assert_int_equal(announcements(reader, 200), 1);
    close(fd);
    ring_reader_free(reader);
    stop(pid);
    assert_int_equal(ring_mark(path, NULL, bytes, &err), -ERR_SYSTEM);
}

/* Marks that come by thousands are told slowly, by connections that stay as by those that end, and
 * do not keep others from being heard. */
static void test_many_marks(void **state)
{
    enum { FLOODS = 8, MARKS = 500 };
    const uint8_t *bytes = (const uint8_t *)"MAAA0123456789abcdef0123456789ab";
    uint8_t many[MARKS * (1 + RING_DOOR_MARK)];
    struct ring_reader *reader;
    struct ring_got got;
    pid_t pid = serve();
    int fd, floods[FLOODS], count = 0, seen = 0;
    int64_t begun = loop_clock();

    (void)state;
    memset(many, 'M', sizeof(many));
    assert_int_equal(ring_attach(path, NULL, &fd, &reader, &err), 0);
    for (int i = 0; i < FLOODS; i++) {
        struct ring_reader *unused;

        assert_int_equal(ring_attach(path, NULL, &floods[i], &unused, &err), 0);
        ring_reader_free(unused);
        assert_int_equal(write(floods[i], many, sizeof(many)), sizeof(many));
        if (i % 2)
            close(floods[i]);
    }
    assert_int_equal(ring_mark(path, NULL, bytes, &err), 0);
    while (ring_read(reader, &got, &err) == 1) {
        count++;
        seen += memcmp(got.payload.data, bytes, RING_DOOR_MARK) == 0;
    }
    assert_int_equal(seen, 1);
    /* one more than there may be can come with the last one */
    assert_true(count <= ((loop_clock() - begun) / RING_DOOR_PAUSE + 2) * (RING_DOOR_TOLD + 1));
    for (int i = 0; i < FLOODS; i += 2)
        close(floods[i]);
    close(fd);
    ring_reader_free(reader);
    stop(pid);
}

/* More readers than there are places wait until one leaves. */
static void test_many(void **state)
{
    struct ring_reader *readers[RING_DOOR_READERS], *last;
    int fds[RING_DOOR_READERS], fd;
    pid_t pid = serve(), other;

    (void)state;
    for (int i = 0; i < RING_DOOR_READERS; i++)
        assert_int_equal(ring_attach(path, NULL, &fds[i], &readers[i], &err), 0);
    other = fork();
    if (other == 0) {
        usleep(50000);
        for (int i = 0; i < RING_DOOR_READERS; i++) /* the fork has them, too */
            close(fds[i]);
        _exit(0);
    }
    close(fds[3]);
    assert_int_equal(ring_attach(path, NULL, &fd, &last, &err), 0);
    close(fd);
    ring_reader_free(last);
    stop(pid);
    waitpid(other, NULL, 0);
    for (int i = 0; i < RING_DOOR_READERS; i++) {
        if (i != 3)
            close(fds[i]);
        ring_reader_free(readers[i]);
    }
}

/* Something else listens there. */
static void test_strangers(void **state)
{
    static const char *const greetings[] = { "", "short", "NFSRING", "something else of 24 byte" };
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct ring_reader *reader;
    int fd, door = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)state;
    assert_int_equal(ring_attach("/nonexistent/socket", NULL, &fd, &reader, &err), -ERR_SYSTEM);
    unlink(path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    assert_int_equal(bind(door, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(door, 5), 0);
    for (int i = 0; i < 5; i++) {
        struct ring_greeting right = { RING_MAGIC, RING_VERSION, 0, 0 };
        pid_t pid = fork();

        if (pid == 0) {
            int peer = accept(door, NULL, NULL);
            ssize_t done = i < 4 ? write(peer, greetings[i], strlen(greetings[i]))
                                 : write(peer, &right, sizeof(right));

            _exit(done < 0);
        }
        assert_int_equal(ring_attach(path, NULL, &fd, &reader, &err), -ERR_INPUT);
        assert_true(fd < 0); /* it was closed: a caller that has it closes it again */
        if (i == 4)
            assert_non_null(strstr(err.text, "passed no ring"));
        waitpid(pid, NULL, 0);
    }
    close(door);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attach),     cmocka_unit_test(test_mark),
        cmocka_unit_test(test_many_marks), cmocka_unit_test(test_many),
        cmocka_unit_test(test_strangers),
    };
    int failed;

    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/socket", folder);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    rmdir(folder);
    return failed;
}

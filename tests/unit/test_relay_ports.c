/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_relay_ports.c
 *
 * The relay's table of ports: in memory, in a file, full, and in files of others.
 */
#include "relay/ports.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct err err;
static char folder[] = "/tmp/relay_ports.XXXXXX", path[64];

static struct net_address v4(uint32_t host, uint16_t port)
{
    struct net_address a = { .v4 = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(host) } };

    net_address_set_port(&a, port);
    return a;
}

static struct ports *open_table(const char *name)
{
    struct ports *ports = ports_open(name, &err);

    if (!ports)
        fail_msg("%s", err.text);
    return ports;
}

static void test_choice(void **state)
{
    const char *const names[] = { NULL, path };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct ports *ports = open_table(names[i]);
        struct net_address a = v4(1, 700), b = v4(2, 700), c = v4(1, 701);
        struct net_address six = { .v6 = { .sin6_family = AF_INET6, .sin6_port = htons(700) } };

        six.v6.sin6_addr.s6_addr[15] = 1;
        assert_int_equal(ports_find(ports, &a), 700);
        ports_note(ports, &b, 900);
        assert_int_equal(ports_find(ports, &a), 700);
        assert_int_equal(ports_find(ports, &b), 900);
        assert_int_equal(ports_find(ports, &c), 701);
        assert_int_equal(ports_find(ports, &six), 700);
        ports_note(ports, &b, 901);
        ports_note(ports, &six, 902);
        assert_int_equal(ports_count(ports), 2);
        assert_int_equal(ports_find(ports, &six), 902);
        if (names[i]) {
            ports_close(ports);
            ports = open_table(names[i]);
        }
        assert_int_equal(ports_find(ports, &b), 901);
        ports_note(ports, &b, 700); /* its own again */
        assert_int_equal(ports_count(ports), 1);
        assert_int_equal(ports_find(ports, &b), 700);
        ports_close(ports);
    }
    unlink(path);
}

static void test_full(void **state)
{
    struct ports *ports = open_table(NULL);
    uint32_t kept = 0;

    (void)state;
    for (uint32_t i = 0; i < PORTS_MAX + 100; i++) {
        struct net_address a = v4(i, 700);

        ports_note(ports, &a, 900);
    }
    assert_int_equal(ports_count(ports), PORTS_MAX);
    for (uint32_t i = 0; i < PORTS_MAX + 100; i++) {
        struct net_address a = v4(i, 700);

        kept += ports_find(ports, &a) == 900;
    }
    assert_int_equal(kept, PORTS_MAX);
    ports_close(ports);
}

static void test_files(void **state)
{
    struct ports *ports = open_table(path);
    struct stat st;
    int fd;

    (void)state;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_null(ports_open(path, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_non_null(strstr(err.text, "another relay"));
    ports_close(ports);
    fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "x", 1, 0), 1);
    assert_null(ports_open(path, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_int_equal(ftruncate(fd, 5), 0);
    assert_null(ports_open(path, &err));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 5); /* what is not ours is not changed */
    close(fd);
    unlink(path);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_null(ports_open(path, &err));
    assert_int_equal(err.code, ERR_SYSTEM);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_files),
    };
    int failed;

    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/ports", folder);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    rmdir(folder);
    return failed;
}

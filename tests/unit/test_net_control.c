/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_net_control.c
 *
 * Control sockets: lines and their answers, one line a case; what is there at the path before; what
 * peers may do; the client, in a process of its own.
 */
#include "net/control_parts.h"
#include "net/flat_json.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct err err;

/* --- JSON */

static const struct {
    const char *line, *members; /* NULL: refused */
} objects[] = {
    { "{}", "" },
    { " { } ", "" },
    { "{\"a\":\"b\"}", "a=b;" },
    { "{\"a\" : \"\" , \"b\":1}", "a=;b=1;" },
    { "{\"a\":-0.5e+10,\"b\":0,\"c\":12E3}", "a=-0.5e+10;b=0;c=12E3;" },
    { "{\"a\":true,\"b\":false,\"c\":null}", "a=true;b=false;c=(null);" },
    { "{\"\\u0061\\n\\\"\\\\\\/\":\"\\t\"}", "a\n\"\\/=\t;" },
    { "{\"a\":\"\\u00e4\\u20AC\\ud83d\\ude00\"}", "a=\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80;" },
    { "{\"a\":\"\xc3\xa4\"}", "a=\xc3\xa4;" },
    { "", NULL },
    { "{", NULL },
    { "}", NULL },
    { "[]", NULL },
    { "\"a\"", NULL },
    { "{}x", NULL },
    { "{\"a\"}", NULL },
    { "{\"a\":}", NULL },
    { "{\"a\":1", NULL },
    { "{\"a\":1,}", NULL },
    { "{,\"a\":1}", NULL },
    { "{\"a\":1 \"b\":2}", NULL },
    { "{a:1}", NULL },
    { "{\"a\":'b'}", NULL },
    { "{\"a\":\"b}", NULL },
    { "{\"a\":\"b\\\"}", NULL },
    { "{\"a\":\"\\x41\"}", NULL },
    { "{\"a\":\"\\u12\"}", NULL },
    { "{\"a\":\"\\u0000\"}", NULL },
    { "{\"a\":\"\\ud83d\"}", NULL },
    { "{\"a\":\"\\ud83d\\u0041\"}", NULL },
    { "{\"a\":\"\\ude00\"}", NULL },
    { "{\"a\":\"\xff\"}", NULL },
    { "{\"a\":\"\t\"}", NULL },
    { "{\"a\":01}", NULL },
    { "{\"a\":1.}", NULL },
    { "{\"a\":.5}", NULL },
    { "{\"a\":1e}", NULL },
    { "{\"a\":+1}", NULL },
    { "{\"a\":-}", NULL },
    { "{\"a\":nul}", NULL },
    { "{\"a\":truex}", NULL },
    { "{\"a\":{}}", NULL },
    { "{\"a\":[1]}", NULL },
    { "{\"a\":1,\"a\":2}", NULL },
    { "{\"a\":1,\"b\":2,\"c\":3,\"d\":4}", NULL }, /* more than three */
};

static void test_flat_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++) {
        struct flat_member members[3];
        char line[100], text[200] = "";
        int count;

        snprintf(line, sizeof(line), "%s", objects[i].line);
        count = flat_json_read(line, strlen(line), members, 3, &err);
        for (int k = 0; k < count; k++)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s=%s;", members[k].name,
                     members[k].value ? members[k].value : "(null)");
        if (count < 0 ? objects[i].members != NULL || count != -ERR_INPUT
                      : !objects[i].members || strcmp(text, objects[i].members) != 0)
            fail_msg("%s: %d \"%s\"", objects[i].line, count, text);
    }
}

/* --- lines */

static int on_echo(void *ctx, const struct control_request *request, struct json *answer,
                   struct err *e)
{
    const char *second = control_argument(request, "second");

    (void)e;
    assert_string_equal(ctx, "context");
    json_text(answer, "first", control_argument(request, "first"));
    if (second)
        json_text(answer, "second", second);
    return 0;
}

static int on_fail(void *ctx, const struct control_request *request, struct json *answer,
                   struct err *e)
{
    (void)ctx;
    (void)request;
    json_text(answer, "half", "done");
    json_array(answer, "open");
    return err_set(e, ERR_SYSTEM, "it \"failed\"");
}

static const struct control_command commands[] = {
    { "echo", "first [second]", "say it again", on_echo },
    { "fail", NULL, "do not", on_fail },
};

#define OK(members) "{\"ok\":true" members "}"
#define ERROR(text) "{\"error\":\"" text "\"}"

static const struct {
    const char *line, *answer;
} lines[] = {
    { "echo a", OK(",\"first\":\"a\"") },
    { "  echo\ta  b \r", OK(",\"first\":\"a\",\"second\":\"b\"") },
    { "{\"command\":\"echo\",\"first\":\"a b\"}", OK(",\"first\":\"a b\"") },
    { "{\"first\":5,\"second\":true,\"command\":\"echo\"}",
      OK(",\"first\":\"5\",\"second\":\"true\"") },
    { "{\"command\":\"echo\",\"2\":\"b\",\"1\":\"a\"}", OK(",\"first\":\"a\",\"second\":\"b\"") },
    { "{\"command\":\"echo\",\"1\":\"a\",\"second\":null}", OK(",\"first\":\"a\"") },
    { "echo", ERROR("echo: first is missing") },
    { "{\"command\":\"echo\",\"second\":1}", ERROR("echo: first is missing") },
    { "echo a b c", ERROR("echo takes first [second], not \\\"c\\\"") },
    { "{\"command\":\"echo\",\"first\":1,\"third\":\"x\"}",
      ERROR("echo takes first [second], not \\\"x\\\"") },
    { "{\"command\":\"echo\",\"first\":1,\"1\":\"x\"}", ERROR("echo: first is given twice") },
    { "fail", ERROR("it \\\"failed\\\"") },
    { "fail now", ERROR("fail takes no arguments, not \\\"now\\\"") },
    { "", ERROR("a command is missing; \\\"help\\\" lists them") },
    { "{}", ERROR("a command is missing; \\\"help\\\" lists them") },
    { "{\"command\":null}", ERROR("a command is missing; \\\"help\\\" lists them") },
    { "ech", ERROR("there is no command \\\"ech\\\"; \\\"help\\\" lists them") },
    { "\xff\x1b[2J", ERROR("there is no command \\\"\\\\xff\\u001b[2J\\\"; \\\"help\\\" lists "
                           "them") },
    { "{\"command\":[]}",
      ERROR("not a JSON object of texts and numbers: a value that is an object or array") },
    { "a 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", ERROR("more than 16 arguments") },
    { "help", OK(",\"commands\":[{\"name\":\"echo\",\"arguments\":\"first [second]\",\"help\":"
                 "\"say it again\"},{\"name\":\"fail\",\"arguments\":\"\",\"help\":\"do not\"}]") },
};

static void test_lines(void **state)
{
    struct control_table table = { commands, 2, (void *)(uintptr_t)"context" };
    struct control_commands all = { &table, 1, 1 };

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        char line[200];
        struct buf out = { 0 };

        snprintf(line, sizeof(line), "%s", lines[i].line);
        assert_int_equal(control_line(&all, line, strlen(line), &out), 0);
        assert_int_equal(out.data[out.len - 1], '\n');
        out.data[out.len - 1] = '\0';
        assert_string_equal(out.data, lines[i].answer);
        buf_free(&out);
    }
    {
        char line[] = "echo\0a";
        struct buf out = { 0 };

        assert_int_equal(control_line(&all, line, 6, &out), 0);
        assert_memory_equal(out.data, "{\"error\":\"a NUL byte in the line\"}\n", out.len);
        buf_free(&out);
    }
}

/* --- sockets */

struct lab {
    char folder[40], path[60];
    struct loop *loop;
    struct control *control;
    struct timer timer;
};

static void begin(struct lab *l)
{
    *l = (struct lab){ .folder = "/tmp/test_net_control.XXXXXX" };
    assert_non_null(mkdtemp(l->folder));
    snprintf(l->path, sizeof(l->path), "%s/socket", l->folder);
    l->loop = loop_new(&err);
    assert_non_null(l->loop);
}

static void listen_at(struct lab *l)
{
    l->control = control_new(l->loop, l->path, &err);
    if (!l->control)
        fail_msg("%s", err.text);
    assert_int_equal(control_add(l->control, commands, 2, (void *)(uintptr_t)"context", &err), 0);
}

static void finish(struct lab *l)
{
    control_free(l->control);
    loop_free(l->loop);
    unlink(l->path);
    assert_int_equal(rmdir(l->folder), 0);
}

static int on_stop(void *ctx, struct err *e)
{
    (void)e;
    loop_stop(ctx);
    return 0;
}

static void run(struct lab *l, int ms)
{
    l->timer = (struct timer){ .due = on_stop, .ctx = l->loop };
    loop_set(l->loop, &l->timer, loop_clock() + ms * INT64_C(1000000), &err);
    assert_int_equal(loop_run(l->loop, &err), 0);
}

static int connect_to(const struct lab *l)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", l->path);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void test_paths(void **state)
{
    struct control *second;
    struct lab l;
    struct stat st;
    char other[80];

    (void)state;
    begin(&l);
    listen_at(&l);
    assert_int_equal(lstat(l.path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    /* somebody listens */
    assert_null(control_new(l.loop, l.path, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_non_null(strstr(err.text, "/socket: another program listens there"));
    control_free(l.control);
    assert_int_equal(lstat(l.path, &st), -1);

    /* nobody does: what a killed program leaves */
    listen_at(&l);
    snprintf(other, sizeof(other), "%s/other", l.folder);
    assert_int_equal(link(l.path, other), 0);
    control_free(l.control);
    assert_int_equal(rename(other, l.path), 0);
    listen_at(&l);

    /* somebody else's socket is not removed at the end */
    assert_int_equal(unlink(l.path), 0);
    second = control_new(l.loop, l.path, &err);
    assert_non_null(second);
    control_free(l.control);
    l.control = NULL;
    assert_int_equal(lstat(l.path, &st), 0);
    control_free(second);

    /* no socket at all */
    assert_int_equal(close(creat(l.path, 0600)), 0);
    assert_null(control_new(l.loop, l.path, &err));
    assert_non_null(strstr(err.text, "/socket: is there already, and is not a socket"));
    assert_int_equal(lstat(l.path, &st), 0);
    memset(other, 'x', sizeof(other));
    finish(&l);
}

static void test_long_path(void **state)
{
    char path[200];
    struct loop *loop = loop_new(&err);

    (void)state;
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    assert_null(control_new(loop, path, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_non_null(strstr(err.text, "a socket's path has 1 to 107 bytes"));
    loop_free(loop);
}

/* Answers come in order, for lines in any pieces; several at once. */
static void test_connection(void **state)
{
    static const char text[] = "echo a\n{\"command\":\"echo\",\"first\":\"b\"}\nx";
    char in[400];
    struct lab l;
    ssize_t got;
    int fd;

    (void)state;
    begin(&l);
    listen_at(&l);
    for (size_t step = 1; step < sizeof(text); step *= 5) {
        fd = connect_to(&l);
        assert_true(fd >= 0);
        for (size_t at = 0; at < sizeof(text) - 1; at += step) {
            size_t left = sizeof(text) - 1 - at;

            assert_true(send(fd, text + at, left < step ? left : step, 0) > 0);
            run(&l, 0);
        }
        run(&l, 2);
        got = recv(fd, in, sizeof(in) - 1, 0);
        assert_true(got > 0);
        in[got] = '\0';
        assert_string_equal(in, OK(",\"first\":\"a\"") "\n" OK(",\"first\":\"b\"") "\n");
        close(fd);
        run(&l, 2);
        assert_int_equal(l.control ? 0 : 1, 0);
    }
    finish(&l);
}

/* A line without an end is refused, and its connection closed. */
static void test_too_long(void **state)
{
    static char line[CONTROL_LINE_MAX];
    char in[100];
    struct lab l;
    ssize_t got;
    int fd;

    (void)state;
    begin(&l);
    listen_at(&l);
    fd = connect_to(&l);
    memset(line, 'x', sizeof(line));
    assert_int_equal(send(fd, line, sizeof(line), 0), sizeof(line));
    run(&l, 5);
    got = recv(fd, in, sizeof(in) - 1, 0);
    assert_true(got > 0);
    in[got] = '\0';
    assert_string_equal(in, ERROR("the line is too long") "\n");
    assert_int_equal(recv(fd, in, sizeof(in), 0), 0);
    close(fd);
    finish(&l);
}

/* A peer that does not read its answers is not served meanwhile, and gets all of them later. */
static void test_does_not_read(void **state)
{
    enum { LINES = 20000 };
    static const char answer[] = OK(",\"first\":\"abcdefghijklmnopqrstuvwxyz\"") "\n";
    size_t want = LINES * (sizeof(answer) - 1), got = 0, sent = 0;
    static const char line[] = "echo abcdefghijklmnopqrstuvwxyz\n";
    struct lab l;
    int fd, idle;

    (void)state;
    begin(&l);
    listen_at(&l);
    fd = connect_to(&l);
    for (idle = 0; idle < 20;) {
        size_t at = sent % (sizeof(line) - 1);
        ssize_t n =
            sent < LINES * (sizeof(line) - 1) ? send(fd, line + at, sizeof(line) - 1 - at, 0) : -1;

        sent += n > 0 ? (size_t)n : 0;
        idle = n > 0 ? 0 : idle + 1;
        if (n < 0)
            run(&l, 1);
    }
    assert_true(sent < LINES * (sizeof(line) - 1)); /* it is not read without a bound */
    for (idle = 0; got < want && idle < 200;) {
        size_t at = sent % (sizeof(line) - 1);
        static char in[65536];
        ssize_t n = recv(fd, in, sizeof(in), 0);

        for (ssize_t i = 0; i < n; i++)
            if (in[i] != answer[(got + (size_t)i) % (sizeof(answer) - 1)])
                fail_msg("byte %zu differs", got + (size_t)i);
        got += n > 0 ? (size_t)n : 0;
        idle = n > 0 ? 0 : idle + 1;
        while (sent < LINES * (sizeof(line) - 1) &&
               (n = send(fd, line + at, sizeof(line) - 1 - at, 0)) > 0) {
            sent += (size_t)n;
            at = sent % (sizeof(line) - 1);
        }
        run(&l, 0);
    }
    assert_int_equal(got, want);
    close(fd);
    finish(&l);
}

/* The seventeenth connection waits until one goes. */
static void test_many(void **state)
{
    int fds[CONTROL_CONNECTIONS + 1];
    char in[100];
    struct lab l;

    (void)state;
    begin(&l);
    listen_at(&l);
    for (int i = 0; i <= CONTROL_CONNECTIONS; i++) {
        fds[i] = connect_to(&l);
        assert_true(fds[i] >= 0);
        assert_int_equal(send(fds[i], "echo a\n", 7, 0), 7);
        run(&l, 1);
    }
    run(&l, 5);
    for (int i = 0; i < CONTROL_CONNECTIONS; i++)
        assert_true(recv(fds[i], in, sizeof(in), 0) > 0);
    assert_int_equal(recv(fds[CONTROL_CONNECTIONS], in, sizeof(in), 0), -1);
    close(fds[3]);
    run(&l, 5);
    assert_true(recv(fds[CONTROL_CONNECTIONS], in, sizeof(in), 0) > 0);
    for (int i = 0; i <= CONTROL_CONNECTIONS; i++)
        if (i != 3)
            close(fds[i]);
    finish(&l);
}

/* --- the client */

/* What it prints, or its error. */
static void ctl(struct lab *l, int count, const char *const *words, int code, const char *text)
{
    char *all[20], got[2000] = "";
    int pipes[2], status;
    size_t len = 0;
    ssize_t n;
    pid_t child;

    for (int i = 0; i < count; i++)
        all[i] = (char *)(uintptr_t)words[i];
    assert_int_equal(pipe(pipes), 0);
    child = fork();
    if (child == 0) {
        FILE *out = fdopen(pipes[1], "w");
        int result = control_ctl(count, all, out, &err);

        if (result < 0)
            fprintf(out, "%s\n", err.text);
        fclose(out);
        _exit(-result);
    }
    close(pipes[1]);
    while (waitpid(child, &status, WNOHANG) == 0)
        run(l, 5);
    while ((n = read(pipes[0], got + len, sizeof(got) - 1 - len)) > 0)
        len += (size_t)n;
    close(pipes[0]);
    assert_string_equal(got, text);
    assert_int_equal(WEXITSTATUS(status), code);
}

#define CTL(code, text, ...)                                                                       \
    ctl(&l, (int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)),                  \
        (const char *const[]){ __VA_ARGS__ }, code, text)

static void test_ctl(void **state)
{
    char nowhere[100], message[200];
    struct lab l;

    (void)state;
    begin(&l);
    listen_at(&l);
    CTL(0, OK(",\"first\":\"a b\"") "\n", l.path, "echo", "a b");
    CTL(0, OK(",\"first\":\"\\\"\",\"second\":\"\xc3\xa4\"") "\n", l.path, "echo", "\"",
        "\xc3\xa4");
    CTL(ERR_USAGE, "it \"failed\"\n", l.path, "fail");
    CTL(ERR_USAGE, "echo: first is missing\n", l.path, "echo");
    CTL(ERR_USAGE, "ctl PATH COMMAND [ARGUMENT...]; the command help lists commands\n", l.path);
    snprintf(nowhere, sizeof(nowhere), "%s/nowhere", l.folder);
    snprintf(message, sizeof(message), "%s: No such file or directory\n", nowhere);
    CTL(ERR_SYSTEM, message, nowhere, "help");
    finish(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat_json),     cmocka_unit_test(test_lines),
        cmocka_unit_test(test_paths),         cmocka_unit_test(test_long_path),
        cmocka_unit_test(test_connection),    cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_does_not_read), cmocka_unit_test(test_many),
        cmocka_unit_test(test_ctl),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

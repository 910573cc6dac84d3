/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output: a file appears under its name whole or not at all, and every failure is told. */
#include "base/output.h"
#include "record/nfsr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64], path[128];

static int setup(void **state)
{
    (void)state;
    snprintf(dir, sizeof(dir), "output.XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof(path), "%s/out.nfsr", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir);
}

static unsigned count_entries(void)
{
    DIR *d = opendir(dir);
    unsigned n = 0;

    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void assert_content(const char *name, const char *expected)
{
    char text[64] = "";
    int fd = open(name, O_RDONLY);

    assert_true(fd >= 0);
    assert_true(read(fd, text, sizeof(text) - 1) >= 0);
    close(fd);
    assert_string_equal(text, expected);
}

static void make_file(const char *name, const char *content)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), strlen(content));
    close(fd);
}

static void appears_on_commit(void **state)
{
    struct err err = { 0 };
    struct output *f = output_open(path, &err);
    struct stat st;
    mode_t mask = umask(0);

    (void)state;
    umask(mask);
    assert_non_null(f);
    assert_int_equal(output_write(f, "abc", 3, &err), 0);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(count_entries(), 1);
    assert_int_equal(output_commit(f, &err), 0);
    assert_int_equal(count_entries(), 1);
    output_close(f);
    assert_content(path, "abc");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666 & ~mask);
}

static void old_file_stays_without_commit(void **state)
{
    struct err err = { 0 };
    struct output *f;

    (void)state;
    make_file(path, "old");
    f = output_open(path, &err);
    assert_non_null(f);
    assert_int_equal(output_write(f, "new", 3, &err), 0);
    assert_content(path, "old");
    output_close(f);
    assert_content(path, "old");
    assert_int_equal(count_entries(), 1);
}

static void symbolic_link_stays(void **state)
{
    struct err err = { 0 };
    char target[128];
    struct output *f;
    struct stat st;

    (void)state;
    snprintf(target, sizeof(target), "%s/target", dir);
    make_file(target, "old");
    assert_int_equal(symlink("target", path), 0);
    f = output_open(path, &err);
    assert_non_null(f);
    assert_int_equal(output_write(f, "new", 3, &err), 0);
    assert_int_equal(output_commit(f, &err), 0);
    output_close(f);
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_content(target, "new");
    unlink(target);
}

/* Who must not replace anything is refused at once. */
static void new_file_only(void **state)
{
    struct err err = { 0 };
    char link[128], message[256];
    struct output *f = output_open_new(path, &err);

    (void)state;
    snprintf(message, sizeof(message), "%s: exists already", path);
    assert_non_null(f);
    assert_int_equal(output_write(f, "new", 3, &err), 0);
    assert_int_equal(output_commit(f, &err), 0);
    output_close(f);
    assert_content(path, "new");

    assert_null(output_open_new(path, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_string_equal(err.text, message);
    /* also by another name, and a name that leads nowhere */
    snprintf(link, sizeof(link), "%s/link", dir);
    assert_int_equal(symlink("out.nfsr", link), 0);
    assert_null(output_open_new(link, &err));
    assert_int_equal(unlink(path), 0);
    assert_null(output_open_new(link, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(count_entries(), 0);

    /* a device is written in place */
    f = output_open_new("/dev/null", &err);
    assert_non_null(f);
    assert_int_equal(output_commit(f, &err), 0);
    output_close(f);
    assert_null(output_open_new(dir, &err));
    assert_int_equal(err.code, ERR_SYSTEM);
}

static void new_file_came_later(void **state)
{
    struct err err = { 0 };
    char message[256];
    struct output *f = output_open_new(path, &err);

    (void)state;
    snprintf(message, sizeof(message), "%s: exists already", path);
    assert_non_null(f);
    make_file(path, "old");
    assert_int_equal(output_commit(f, &err), -ERR_USAGE);
    assert_string_equal(err.text, message);
    output_close(f);
    assert_content(path, "old");
    assert_int_equal(count_entries(), 1);
}

static void two_writers_of_one_path(void **state)
{
    struct err err = { 0 };
    struct output *a = output_open(path, &err), *b = output_open(path, &err);

    (void)state;
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(output_write(a, "a", 1, &err), 0);
    assert_int_equal(output_write(b, "b", 1, &err), 0);
    assert_int_equal(output_commit(a, &err), 0);
    output_close(b);
    output_close(a);
    assert_content(path, "a");
    assert_int_equal(count_entries(), 1);
}

static void bad_paths(void **state)
{
    struct err err = { 0 };
    char name[160], expected[256];

    (void)state;
    snprintf(name, sizeof(name), "%s/no/out.nfsr", dir);
    assert_null(output_open(name, &err));
    snprintf(expected, sizeof(expected), "%s: cannot create: No such file or directory", name);
    assert_int_equal(err.code, ERR_SYSTEM);
    assert_string_equal(err.text, expected);

    assert_null(output_open(dir, &err));
    snprintf(expected, sizeof(expected), "%s: cannot open: Is a directory", dir);
    assert_int_equal(err.code, ERR_SYSTEM);
    assert_string_equal(err.text, expected);
    assert_int_equal(count_entries(), 0);
}

/* In a child, as another user where this one may write anywhere. */
static void unwritable_directory(void **state)
{
    int status;
    pid_t child;

    (void)state;
    assert_int_equal(chmod(dir, 0555), 0);
    child = fork();
    if (child == 0) {
        struct err err = { 0 };

        /* by its own descriptor: the way to it may be closed to that user */
        if (chdir(dir) < 0 || (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0)))
            _exit(2);
        _exit(!output_open("out.nfsr", &err) && err.code == ERR_SYSTEM &&
                      !strcmp(err.text, "out.nfsr: cannot create: Permission denied")
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(chmod(dir, 0755), 0);
    assert_int_equal(count_entries(), 0);
}

/* No commit of what could be written: run as root, that would replace the device. */
static void full_device(void **state)
{
    struct err err = { 0 };
    struct output *f = output_open("/dev/full", &err);

    (void)state;
    assert_non_null(f);
    assert_int_equal(output_write(f, "abc", 3, &err), -ERR_SYSTEM);
    assert_string_equal(err.text, "/dev/full: cannot write: No space left on device");
    assert_int_equal(output_commit(f, &err), -ERR_SYSTEM);
    output_close(f);
    assert_int_equal(access("/dev/full", F_OK), 0);
}

/* The size limit stands for a disk that fills up in the middle of a write. */
static void disk_fills_up(void **state)
{
    struct rlimit old, small;
    static char data[8192];
    struct err err = { 0 };
    struct output *f;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){ 5000, old.rlim_max };
    make_file(path, "old");
    f = output_open(path, &err);
    assert_non_null(f);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(output_write(f, data, sizeof(data), &err), -ERR_SYSTEM);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, "cannot write: File too large"));
    assert_int_equal(output_commit(f, &err), -ERR_SYSTEM);
    output_close(f);
    assert_content(path, "old");
    assert_int_equal(count_entries(), 1);
}

static void commit_without_directory(void **state)
{
    struct err err = { 0 };
    char aside[80];
    struct output *f = output_open(path, &err);

    (void)state;
    assert_non_null(f);
    snprintf(aside, sizeof(aside), "%s.aside", dir);
    assert_int_equal(rename(dir, aside), 0);
    assert_int_equal(output_commit(f, &err), -ERR_SYSTEM);
    assert_non_null(strstr(err.text, "cannot rename"));
    assert_int_equal(rename(aside, dir), 0);
    output_close(f);
    assert_int_equal(count_entries(), 0);
}

/* Standard output is a pipe: bytes arrive; once nobody reads it is an error like others. */
static void standard_output(void **state)
{
    int ends[2], old = dup(STDOUT_FILENO);
    char got[8] = "";
    struct err err = { 0 };
    struct output *f;
    int first, commit, second;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    signal(SIGPIPE, SIG_IGN);
    fflush(stdout);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    f = output_open("-", &err);
    first = output_write(f, "abc", 3, &err);
    commit = output_commit(f, &err);
    if (read(ends[0], got, sizeof(got) - 1) < 0)
        got[0] = '!';
    close(ends[0]);
    second = output_write(f, "abc", 3, &err);
    output_close(f);
    dup2(old, STDOUT_FILENO);
    close(old);
    assert_int_equal(first, 0);
    assert_int_equal(commit, 0);
    assert_string_equal(got, "abc");
    assert_int_equal(second, -ERR_SYSTEM);
    assert_string_equal(err.text, "standard output: cannot write: Broken pipe");
}

static int drained_fd;
static volatile sig_atomic_t drained;

static void drain(int number)
{
    char chunk[4096];
    ssize_t n = read(drained_fd, chunk, sizeof(chunk));

    (void)number;
    if (n > 0)
        drained += (sig_atomic_t)n;
}

/* A pipe is written in place.  The reader of the full pipe goes on only from a signal handler,
 * which interrupts the write. */
static void interrupted_writes_go_on(void **state)
{
    const struct itimerval tick = { { 0, 5000 }, { 0, 5000 } }, off = { 0 };
    struct sigaction action = { .sa_handler = drain };
    static char data[5 * 4096 + 1];
    struct err err = { 0 };
    struct output *f;
    char rest[8192];
    struct stat st;
    ssize_t n;

    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    drained_fd = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(drained_fd >= 0);
    assert_true(fcntl(drained_fd, F_SETPIPE_SZ, 4096) > 0);
    f = output_open(path, &err);
    assert_non_null(f);
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &tick, NULL), 0);
    assert_int_equal(output_write(f, data, sizeof(data), &err), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &off, NULL), 0);
    assert_int_equal(output_commit(f, &err), 0);
    output_close(f);
    n = read(drained_fd, rest, sizeof(rest));
    assert_int_equal(drained + n, sizeof(data));
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    close(drained_fd);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(appears_on_commit),
        TEST(old_file_stays_without_commit),
        TEST(symbolic_link_stays),
        TEST(new_file_only),
        TEST(new_file_came_later),
        TEST(two_writers_of_one_path),
        TEST(bad_paths),
        TEST(unwritable_directory),
        TEST(full_device),
        TEST(disk_fills_up),
        TEST(commit_without_directory),
        TEST(standard_output),
        TEST(interrupted_writes_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

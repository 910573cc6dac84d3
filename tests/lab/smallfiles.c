/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lab/smallfiles.c
 *
 *     smallfiles FOLDER FILES TRANSACTIONS SEED
 *
 * Many small files, as a mail server has them: makes FILES in ten subfolders, then creates,
 * deletes, reads or appends to one at random in each transaction, and removes everything.  The
 * same seed makes the same system calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDERS = 10, SIZE_MIN = 500, SIZE_MAX_NEW = 10000, SIZE_MAX_APPEND = 4000 };

static char contents[SIZE_MAX_NEW];
static unsigned seed;

static int below(int n)
{
    return rand_r(&seed) % n;
}

static void fail(const char *what)
{
    fprintf(stderr, "smallfiles: %s: %s\n", what, strerror(errno));
    exit(1);
}

static const char *name_of(int i)
{
    static char name[64];

    snprintf(name, sizeof(name), "s%d/f%d", i % FOLDERS, i);
    return name;
}

static void write_some(int fd, int size)
{
    if (write(fd, contents, (size_t)size) != size)
        fail("write");
    if (close(fd) < 0)
        fail("close");
}

static void create_file(int i)
{
    int fd = open(name_of(i), O_CREAT | O_WRONLY | O_TRUNC, 0644);

    if (fd < 0)
        fail(name_of(i));
    write_some(fd, SIZE_MIN + below(SIZE_MAX_NEW - SIZE_MIN));
}

static void read_file(int i)
{
    char data[4096];
    int fd = open(name_of(i), O_RDONLY);

    if (fd < 0)
        fail(name_of(i));
    while (read(fd, data, sizeof(data)) > 0)
        ;
    close(fd);
}

static void append_to_file(int i)
{
    int fd = open(name_of(i), O_WRONLY | O_APPEND);

    if (fd < 0)
        fail(name_of(i));
    write_some(fd, 1 + below(SIZE_MAX_APPEND));
}

static void transaction(bool *exists, int names)
{
    int i = below(names);

    if (below(2)) {
        if (!exists[i])
            create_file(i);
        else if (unlink(name_of(i)) < 0)
            fail(name_of(i));
        exists[i] = !exists[i];
    } else if (exists[i]) {
        if (below(2))
            read_file(i);
        else
            append_to_file(i);
    }
}

int main(int argc, char **argv)
{
    char folder[16];

    if (argc != 5 || atoi(argv[2]) <= 0) {
        fprintf(stderr, "usage: smallfiles FOLDER FILES TRANSACTIONS SEED\n");
        return 2;
    }
    int files = atoi(argv[2]), transactions = atoi(argv[3]), names = files * 2;
    seed = (unsigned)atoi(argv[4]);
    bool *exists = calloc((size_t)names, sizeof(*exists));
    if (!exists)
        fail("memory");
    for (int i = 0; i < SIZE_MAX_NEW; i++)
        contents[i] = (char)('a' + i % 26);

    if ((mkdir(argv[1], 0755) < 0 && errno != EEXIST) || chdir(argv[1]) < 0)
        fail(argv[1]);
    for (int i = 0; i < FOLDERS; i++) {
        snprintf(folder, sizeof(folder), "s%d", i);
        if (mkdir(folder, 0755) < 0)
            fail(folder);
    }
    for (int i = 0; i < files; i++) {
        create_file(i);
        exists[i] = true;
    }
    for (int i = 0; i < transactions; i++)
        transaction(exists, names);
    for (int i = 0; i < names; i++)
        if (exists[i] && unlink(name_of(i)) < 0)
            fail(name_of(i));
    for (int i = 0; i < FOLDERS; i++) {
        snprintf(folder, sizeof(folder), "s%d", i);
        if (rmdir(folder) < 0)
            fail(folder);
    }
    free(exists);
    return 0;
}

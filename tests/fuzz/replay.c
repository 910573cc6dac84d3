/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/replay.c
 *
 * Runs a fuzz target over files, and folders of files, without libFuzzer: every input that is kept
 * in the tree is a regression test in every build.  No input at all is a failure.
 *
 *     fuzz_NAME PATH...
 */
#include "base/bytes.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libFuzzer calls it once, where a target defines it. */
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

static int replay_file(const char *path)
{
    uint8_t chunk[65536];
    struct buf input = { 0 };
    size_t got;
    FILE *file = fopen(path, "rb");

    if (!file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    while ((got = fread(chunk, 1, sizeof(chunk), file)) > 0)
        if (buf_append(&input, chunk, got) < 0)
            abort();
    if (ferror(file)) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return -1;
    }
    fclose(file);

    /* an allocation of just this size: the sanitizer sees the first byte behind it */
    uint8_t *exact = malloc(input.len ? input.len : 1);
    if (!exact)
        abort();
    if (input.len)
        memcpy(exact, input.data, input.len);
    LLVMFuzzerTestOneInput(exact, input.len);
    free(exact);
    buf_free(&input);
    return 0;
}

static int replay(const char *path, unsigned *count)
{
    struct stat st;
    struct dirent **names;

    if (stat(path, &st) < 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    if (!S_ISDIR(st.st_mode)) {
        ++*count;
        return replay_file(path);
    }
    int n = scandir(path, &names, NULL, alphasort);
    if (n < 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    int result = 0;
    for (int i = 0; i < n; i++) {
        char inner[4096];
        int len = snprintf(inner, sizeof(inner), "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.') {
            ++*count;
            if (len < 0 || (size_t)len >= sizeof(inner) || replay_file(inner) < 0)
                result = -1;
        }
        free(names[i]);
    }
    free(names);
    return result;
}

int main(int argc, char **argv)
{
    unsigned count = 0;
    int result = 0;

    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++)
        if (replay(argv[i], &count) < 0)
            result = 1;
    if (!count) {
        fprintf(stderr, "usage: %s PATH...: no inputs\n", argv[0]);
        return 2;
    }
    printf("%u inputs\n", count);
    return result;
}

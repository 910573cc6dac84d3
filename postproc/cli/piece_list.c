/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/piece_list.h"
#include "base/grow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add(struct piece_list *l, const char *name, struct err *err)
{
    char *copy = strdup(name);

    if (!copy || GROW(l->names, l->count, l->cap) < 0) {
        free(copy);
        return err_memory(err, "names of pieces");
    }
    l->names[l->count++] = copy;
    return 0;
}

static int read_file(struct piece_list *l, const char *path, struct err *err)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    int rc = 0;

    if (!file)
        return err_set(err, ERR_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
    while (rc == 0 && (len = getline(&line, &size, file)) > 0) {
        if (line[len - 1] == '\n')
            line[len - 1] = '\0';
        if (*line)
            rc = add(l, line, err);
    }
    if (rc == 0 && ferror(file))
        rc = err_set(err, ERR_SYSTEM, "%s: cannot be read: %s", path, strerror(errno));
    free(line);
    fclose(file);
    return rc;
}

int piece_list_read(struct piece_list *l, char **names, int count, const char *path,
                    struct err *err)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < count; i++)
        rc = add(l, names[i], err);
    return rc == 0 && path ? read_file(l, path, err) : rc;
}

void piece_list_free(struct piece_list *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        free(l->names[i]);
    free(l->names);
    *l = (struct piece_list){ 0 };
}

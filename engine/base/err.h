/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/err.h
 *
 * Errors live in an object of the caller's.  A function that can fail takes a
 * struct err * as its last argument and returns 0, or a negative code after it
 * has filled the object.  Nothing below main prints or exits.
 */
#ifndef NFSDIGEST_BASE_ERR_H
#define NFSDIGEST_BASE_ERR_H

/* The codes are the exit codes of the programs; functions return their negative. */
enum err_code {
    ERR_NONE = 0,
    ERR_USAGE = 2,  /* the caller asked for something that makes no sense */
    ERR_INPUT = 3,  /* the input is not what it says it is */
    ERR_SYSTEM = 4, /* memory, disk, a closed pipe, a library that refused */
};

struct err {
    int code;       /* enum err_code */
    char text[512]; /* names the file, frame or record and what to do */
};

/* Fills |err| (which may be NULL) and returns -|code|.  Errors are rare: what leads to them is kept
 * apart from the code that runs all the time. */
int err_set(struct err *err, int code, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));

/* Reports "out of memory for |what|" as an ERR_SYSTEM. */
int err_memory(struct err *err, const char *what) __attribute__((cold));

/* Puts "|format|: " before the text that is already there; returns -err->code. */
int err_prefix(struct err *err, const char *format, ...)
    __attribute__((cold, format(printf, 2, 3)));

#endif

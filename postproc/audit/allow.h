/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/allow.h
 *
 * Values that an audit does not report as leaks: schemas/audit-allow.conf, which is built in and
 * explains its lines, and files of the same form.
 */
#ifndef NFSDIGEST_AUDIT_ALLOW_H
#define NFSDIGEST_AUDIT_ALLOW_H

#include "audit/pairs.h"

#include <stddef.h>

struct allow_text {
    char *text;
    size_t len;
};

struct allow_list {
    struct allow_text *texts;
    uint32_t count, cap;
    uint64_t lengths; /* lengths of the texts, as bits; the last bit is for all longer ones */
};

struct allow_number {
    uint8_t domain; /* enum domain */
    uint64_t value;
};

struct allow {
    struct allow_list texts, suffixes, prefixes;
    struct allow_number *numbers;
    uint32_t number_count, number_cap;
};

/* Loads the built-in list, and the file |path| unless that is NULL. */
int allow_load(struct allow *allow, const char *path, struct err *err);
void allow_free(struct allow *allow);

bool allow_number(const struct allow *allow, enum domain domain, uint64_t value);

/* Returns true if the bytes are one of the texts. */
bool allow_text(const struct allow *allow, const uint8_t *data, size_t len);

/* Returns true if bytes [at, at + n) of |data| are a part of a listed text that is in |data| as a
 * whole. */
bool allow_covers(const struct allow *allow, const uint8_t *data, size_t len, size_t at, size_t n);

/* Returns the length of the longest listed suffix or prefix that |name| has.  It must be shorter
 * than the name.  Returns 0 if there is none. */
size_t allow_suffix(const struct allow *allow, const uint8_t *name, size_t len);
size_t allow_prefix(const struct allow *allow, const uint8_t *name, size_t len);

#endif

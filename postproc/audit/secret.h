/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/secret.h
 *
 * The secrets that the audit searches for: byte patterns of 3 to 16 bytes, collected from the
 * original.  A longer text is kept as windows of 12 bytes, 4 apart, so 15 bytes of it in a row are
 * found anywhere.
 *
 * Memory: SECRETS_PER_CLASS patterns for each class, 64 bytes each with their table.  If a class
 * has more, those with the smaller hashes stay, a fraction that is a power of two.  They are the
 * same ones in any order.
 */
#ifndef NFSDIGEST_AUDIT_SECRET_H
#define NFSDIGEST_AUDIT_SECRET_H

#include "base/err.h"
#include "base/table.h"

enum secret_class {
    SECRET_NAME,
    SECRET_PATH, /* components and pieces of MOUNT paths */
    SECRET_LINK, /* of symbolic links */
    SECRET_HOST,
    SECRET_ADDRESS,      /* binary, and with its bytes reversed */
    SECRET_ADDRESS_TEXT, /* also reversed, as in in-addr.arpa */
    SECRET_HARDWARE,
    SECRET_HANDLE, /* windows of 8 bytes */
    SECRET_NUMBER, /* cookies, verifiers, file and file system ids that look like no other number */
    SECRET_STAMP,  /* AUTH_SYS */
    SECRET_OPAQUE, /* lock owners, credentials but AUTH_SYS, fields called opaque */
    SECRET_DATA,   /* 16 bytes of file contents */
    SECRET_METADATA, /* comments, interface names and the like of a pcapng file */
    SECRET_STRING,   /* printable characters in raw frames */
    SECRET_MAX
};

enum {
    SECRETS_PER_CLASS = 1 << 16,
    SECRET_SHORTEST = 3, /* shorter ones are compared field by field only */
    SECRET_LONG = 6,     /* hits of this length or more are not chance */
    SECRET_WINDOW = 12,
    SECRET_STEP = 4,
    SECRET_LEN_MAX = 16,
};

enum secret_form { FORM_PLAIN, FORM_REVERSED, FORM_DIGEST };

struct secret {
    uint8_t data[SECRET_LEN_MAX];
    uint8_t len, cls, form;
    bool bounded;   /* an address as text: a digit beside it makes it another one */
    uint64_t frame; /* of the original; 0: none, metadata */
};

struct secrets {
    struct secret *all;
    uint32_t count, cap, per_class;
    struct table by_hash;
    struct {
        uint64_t seen;     /* values offered, repeats included */
        uint64_t dull;     /* left out: too regular to mean anything */
        uint32_t count;    /* patterns kept */
        unsigned halvings; /* 1 in 2^halvings of the distinct patterns is kept */
    } classes[SECRET_MAX];
};

const char *secret_class_name(enum secret_class cls);

/* If |per_class| is 0, it is SECRETS_PER_CLASS. */
void secrets_init(struct secrets *s, uint32_t per_class);
void secrets_free(struct secrets *s);

/* Adds one pattern of SECRET_SHORTEST to SECRET_LEN_MAX bytes; skips others. */
int secrets_add(struct secrets *s, const struct secret *secret, struct err *err);

/* Returns true if the class has this pattern. */
bool secrets_have(const struct secrets *s, enum secret_class cls, const uint8_t *data, size_t len);

/* Adds a text of any length. */
int secrets_text(struct secrets *s, enum secret_class cls, const uint8_t *data, size_t len,
                 uint64_t frame, struct err *err);

/* Adds the windows of |width| bytes of |data|, |step| apart; skips regular ones. */
int secrets_windows(struct secrets *s, enum secret_class cls, const uint8_t *data, size_t len,
                    unsigned width, unsigned step, uint64_t frame, struct err *err);

/* Returns true if the bytes are specific enough: at least |least| different ones that are not 0. */
bool secret_is_telling(const uint8_t *data, size_t len, unsigned least);

/* Adds an address in all its forms; skips addresses that mean the same everywhere. */
struct address;
int secrets_address(struct secrets *s, const struct address *address, uint64_t frame,
                    struct err *err);
bool secret_is_special_address(const struct address *address);

#endif

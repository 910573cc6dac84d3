/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/field.h
 *
 * The protocol as data.  A struct type is a named XDR structure: a list of fields
 * that ends with END.  A procedure is two types, arguments and result.
 * One walker (walk.h) runs a type over a message; decoding, recording, anonymizing and
 * comparing are visitors.  All tables are static; wire_init fills the derived columns.
 */
#ifndef NFSDIGEST_WIRE_FIELD_H
#define NFSDIGEST_WIRE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* RFC 4506. */
enum xdr_kind {
    XDR_END = 0,
    XDR_U32,
    XDR_I32,
    XDR_U64,
    XDR_BOOL,     /* 0 or 1, else malformed */
    XDR_ENUM,     /* |names| says which values there are; others are kept and shown as numbers */
    XDR_FIXED,    /* opaque[max] */
    XDR_OPAQUE,   /* opaque<max> */
    XDR_STRING,   /* string<max> */
    XDR_STRUCT,   /* |sub| in place */
    XDR_OPTIONAL, /* bool, then |sub| if true (RFC 4506 s4.19) */
    XDR_LIST,     /* linked list: (true, |sub|)*, false */
    XDR_ARRAY,    /* u32 count <= max, then |sub| each */
    XDR_UNION,    /* u32 discriminant, shown as a field itself, then the type of |arms| */
};

enum field_class {
    CLASS_NONE = 0,
    CLASS_HANDLE,
    CLASS_NAME,
    CLASS_PATH,
    CLASS_UID,
    CLASS_GID,
    CLASS_HOST,
    CLASS_ADDRESS,
    CLASS_TIME,     /* whole seconds since 1970 */
    CLASS_INTERVAL, /* the fraction beside them; lengths of time */
    CLASS_SIZE,
    CLASS_OFFSET,
    CLASS_COUNT,
    CLASS_MODE,
    CLASS_TYPE,
    CLASS_FILEID,
    CLASS_FSID,
    CLASS_DEVICE,
    CLASS_COOKIE,
    CLASS_VERIFIER,
    CLASS_DATA,
    CLASS_STATUS,
    CLASS_BOOLEAN,
    CLASS_ENUM,
    CLASS_LOCK_OWNER,
    CLASS_OPAQUE,
    CLASS_MAX
};

/* The role of a field in its operation.  Pairing, hierarchy and dependencies read these. */
enum {
    ROLE_OBJECT = 1 << 0,        /* handle: the object operated on */
    ROLE_PARENT = 1 << 1,        /* handle: directory of the name that follows */
    ROLE_NAME = 1 << 2,          /* name in ROLE_PARENT */
    ROLE_PARENT2 = 1 << 3,       /* handle: RENAME's target directory, LINK's directory */
    ROLE_NAME2 = 1 << 4,         /* name in ROLE_PARENT2 */
    ROLE_NEW_OBJECT = 1 << 5,    /* result handle: what ROLE_PARENT/ROLE_NAME names now */
    ROLE_ENTRY = 1 << 6,         /* one entry of a directory listing (a struct field) */
    ROLE_ENTRY_NAME = 1 << 7,    /* its name */
    ROLE_ENTRY_OBJECT = 1 << 8,  /* its handle */
    ROLE_RANGE_START = 1 << 9,   /* u64 offset of the byte range */
    ROLE_RANGE_LENGTH = 1 << 10, /* its length; in a result: of what was read or written */
    ROLE_STATUS = 1 << 11,       /* the discriminant that is the procedure's status */
    ROLE_ATTRIBUTES =
        1 << 12, /* fattr3 of ROLE_OBJECT (or of ROLE_NEW_OBJECT, ROLE_ENTRY_OBJECT: */
    ROLE_ATTRIBUTES_NEW = 1 << 13,     /* with these two instead, */
    ROLE_ATTRIBUTES_ENTRY = 1 << 14,   /* */
    ROLE_ATTRIBUTES_PARENT = 1 << 15,  /* of ROLE_PARENT, */
    ROLE_ATTRIBUTES_PARENT2 = 1 << 16, /* of ROLE_PARENT2) */
    ROLE_SETS_TIME = 1 << 17,          /* says if a time of a sattr3 is to be set */
    ROLE_MODIFIES = 1 << 18,  /* beside a handle or name role: the operation changes it; how:
                               * |action|  of its procedure */
    ROLE_SETS_HOW = 1 << 19,  /* says how a name is to be made (createmode3) */
    ROLE_ROOT_PATH = 1 << 21, /* MOUNT's path: names the result's handle */
    ROLE_DATA = 1 << 22,      /* file contents: stored as length and digest */
    ROLE_LINK_TEXT = 1 << 23, /* a symbolic link's text */
    ROLE_EOF = 1 << 24,
    ROLE_PORT_PROGRAM = 1 << 25,  /* PORTMAP/RPCBIND: the program, */
    ROLE_PORT_VERSION = 1 << 26,  /* its version, */
    ROLE_PORT_PROTOCOL = 1 << 27, /* the transport, */
    ROLE_PORT = 1 << 28,          /* and where it listens (number, or universal address) */
    ROLE_BEFORE = 1 << 29, /* wcc_attr before the operation, of what the next field is after it */
    ROLE_SETS = 1 << 30,   /* what the caller asks for: an attribute of a sattr3 (times apart), the
                            * type of a node to be made, how (createmode3), a guard, a cookie;
                            * in a result: what access is granted */
    /* free: 1 << 20; 1u << 31 stands for "every field" in walks */
};

struct field;

/* A named constant of an enumeration or a status. Lists end with a NULL name. */
struct value_name {
    uint32_t value;
    const char *name;
};

struct type {
    const char *name; /* as in the RFC: "READ3res" */
    const struct field *fields;
    /* derived by wire_init: */
    bool ready;
    int32_t fixed_size; /* bytes, when every message has the same; -1 otherwise */
    bool plain;         /* of fixed size, and any bytes are valid: can be passed over unread */
    uint32_t roles;     /* of all fields below */
    bool has_data;      /* a CLASS_DATA field below */
};

/* An arm of a union; the list ends with |type_end|. */
struct arm {
    uint32_t value;
    const char *name; /* as in the RFC: "resok"; NULL: the arm's fields stand in the union itself */
    struct type *type; /* NULL: void */
    bool is_default;   /* any other value; comes last */
    bool is_end;
};
/* clang-format off */
#define ARM_DEFAULT(n, t) { .name = (n), .type = (t), .is_default = true, .is_end = true }
#define ARM_END { .is_end = true } /* no default: other values are malformed */
/* clang-format on */

struct field {
    const char *name; /* as in the RFC; NULL: the fields of |sub| stand in the place of this one */
    uint8_t kind;     /* enum xdr_kind */
    uint8_t cls;      /* enum field_class */
    uint32_t role;    /* ROLE_ bits */
    uint32_t max;     /* bound of FIXED, OPAQUE, STRING, ARRAY; 0: the message's end bounds it */
    struct type *sub; /* STRUCT, OPTIONAL, LIST, ARRAY */
    const struct arm *arms;         /* UNION */
    const struct value_name *names; /* ENUM, UNION */
    const char *wireshark;          /* display filter of the stock dissector, NULL: it has none */
    bool in_times;                  /* servers keep it in times of the new file (s3.3.8) */
};
/* clang-format off */
#define END { .kind = XDR_END }
/* clang-format on */

/* Returns the arm of a discriminant, or NULL if there is none. */
static inline const struct arm *arm_find(const struct arm *arm, uint32_t value)
{
    for (;; arm++) {
        if (arm->is_default)
            return arm;
        if (arm->is_end)
            return NULL;
        if (arm->value == value)
            return arm;
    }
}

/* The kind of operation of a procedure.  Only this says it. */
enum action {
    ACTION_NONE = 0,        /* not about files: NULL, ports, locks */
    ACTION_MOUNT,           /* returns a root's handle */
    ACTION_ASK,             /* attributes, rights, access lists of an object */
    ACTION_ASK_FILE_SYSTEM, /* about the file system that the object is in */
    ACTION_FIND,            /* asks what a name stands for */
    ACTION_READ,
    ACTION_READ_LINK,
    ACTION_LIST,
    ACTION_FLUSH, /* COMMIT: changes nothing that can be read */
    ACTION_WRITE,
    ACTION_SET,       /* attributes by a sattr3 */
    ACTION_SET_OTHER, /* access lists, extended attributes */
    ACTION_MAKE,      /* makes a name for a new object, or for an existing one (UNCHECKED) */
    ACTION_REMOVE,    /* removes a name */
    ACTION_RENAME,    /* removes a name, and makes a second name for its object */
    ACTION_LINK,      /* makes a second name for the object */
};

/* Return true if success removes the first name of the arguments, makes the first name, or makes
 * the second name. */
static inline bool action_takes_name(enum action action)
{
    return action == ACTION_REMOVE || action == ACTION_RENAME;
}

static inline bool action_makes_name(enum action action)
{
    return action == ACTION_MAKE;
}

static inline bool action_makes_name2(enum action action)
{
    return action == ACTION_RENAME || action == ACTION_LINK;
}

struct procedure {
    uint32_t number;
    const char *name; /* as Wireshark shows it: "READDIRPLUS" */
    struct type *arguments;
    struct type *result;
    const char *source; /* "RFC 1813 s3.3.6" */
    uint8_t action;     /* enum action */
    uint8_t type;       /* ftype3 of what its name stands for; 0: the procedure does not say */
};

struct program {
    uint32_t number, version;
    const char *name;                   /* "NFS", "NFSACL", "MOUNT", "PORTMAP", "RPCBIND", "NLM" */
    const struct procedure *procedures; /* indexed by procedure number; holes have no name */
    uint32_t procedure_count;
};

/* Fills the derived columns.  Call it before anything else of engine/wire.  Further calls do
 * nothing. */
void wire_init(void);

/* All programs that have tables.  NULL ends the list. */
extern const struct program *const wire_programs[];

/* Return NULL if there is no table for it; its messages are then opaque. */
const struct program *program_find(uint32_t program, uint32_t version);
const struct procedure *procedure_find(uint32_t program, uint32_t version, uint32_t procedure);

/* Returns a program's name for people, also for programs without tables ("NFS" for NFSv2 and v4,
 * "STAT").  Returns NULL if there is none. */
const char *program_name(uint32_t program);

/* Returns the name of a status of this procedure's result ("NFS3ERR_NOENT"), or NULL if it is not
 * known. */
const char *status_name(const struct procedure *procedure, uint32_t status);

/* Returns the name of a class, as in policies and rules: "handle", "name", ... */
const char *class_name(enum field_class cls);

/* A field and its place. */
struct field_place {
    const struct program *program;
    const struct procedure *procedure;
    bool result;      /* the field is in the result, not in the arguments */
    const char *path; /* as walk_path gives it; lives until the callback returns */
    const struct field *field;
};

/* Calls |visit| for every field of all programs that a walk can visit (walk.h, except |whole|
 * structures), once for each path in a procedure's arguments or result.  Stops when |visit| returns
 * non-zero, and returns that. */
int wire_each_field(int (*visit)(void *ctx, const struct field_place *place), void *ctx);

#endif

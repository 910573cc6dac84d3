/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/options.h
 *
 * The options of ftnfsd's command line.
 */
#ifndef NFSDIGEST_SERVER_OPTIONS_H
#define NFSDIGEST_SERVER_OPTIONS_H

#include "net/address.h"
#include "server/service.h"

#include <stdbool.h>

enum { OPTIONS_LISTEN_MAX = 8, OPTIONS_FAULTS_MAX = 256 };

struct export_wanted {
    char *name;        /* "/name" */
    char *directory;   /* its tree is copied into the export; NULL: the export begins empty, */
    const char *image; /* or with what this file describes (image.h) */
    bool read_only, squash_said;
    enum squash squash;
    uint32_t anonymous_uid, anonymous_gid;
};

struct server_options {
    struct export_wanted exports[EXPORTS_MAX];
    uint32_t export_count;
    const char *listen[OPTIONS_LISTEN_MAX];
    uint32_t listen_count;
    const char *record, *control;
    struct net_address metrics; /* AF_UNSPEC: none */
    const char *faults[OPTIONS_FAULTS_MAX];
    uint32_t fault_count;
    bool fault_help; /* nothing else is wanted but the list of a fault's words */
    uint64_t port, mount_port, portmap_port, transfer_size, net_memory, fault_seed;
    uint64_t memory_limit, capacity, objects, user_capacity, user_objects;
    int64_t duration; /* ns; 0: until a signal */
    bool register_, memory, read_only, no_atime, keep_unstable, quiet, mount_port_said;
};

/* Parses the command line.  Returns 1 if the program should run, 0 after --help was printed, or a
 * negative code. */
int options_parse(struct server_options *options, int argc, char **argv, struct err *err);
void options_free(struct server_options *options);

/* Parses "/name[(OPTION,...)][=DIR]", where OPTION is ro, rw, root_squash, no_root_squash,
 * all_squash, anonuid=N or anongid=N, as in exports(5). */
int export_wanted_parse(const char *text, struct export_wanted *to, struct err *err);

#endif

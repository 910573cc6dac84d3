/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/service.c
 *
 * Exports by name and number, handles, and credentials as the exports want them.
 */
#include "server/service.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

int service_init(struct service *service, struct err *err)
{
    if (sodium_init() < 0)
        return err_set(err, ERR_SYSTEM, "libsodium cannot be initialized");
    if (getrandom(service->key, sizeof(service->key), 0) != sizeof(service->key) ||
        getrandom(service->write_verifier, sizeof(service->write_verifier), 0) !=
            sizeof(service->write_verifier))
        return err_set(err, ERR_SYSTEM, "random numbers: %s", strerror(errno));
    handle_derive(service->key, "cookie verifier", service->cookie_verifier);
    service->transfer_max = TRANSFER_MAX;
    service->scratch = malloc(TRANSFER_MAX);
    service->arguments = malloc(BIND_STRUCT_MAX);
    service->results = malloc(BIND_STRUCT_MAX);
    if (!service->scratch || !service->arguments || !service->results)
        return err_memory(err, "the server's buffers");
    return 0;
}

void service_free(struct service *service)
{
    for (uint32_t i = 0; i < service->export_count; i++) {
        free(service->exports[i].name);
        fs_free(service->exports[i].fs);
    }
    free(service->scratch);
    free(service->arguments);
    free(service->results);
    sodium_memzero(service, sizeof(*service));
}

/* --- exports */

static bool contains(const char *outer, const char *inner)
{
    size_t len = strlen(outer);

    return strncmp(outer, inner, len) == 0 && (inner[len] == '/' || inner[len] == '\0');
}

static int check_name(const struct service *service, const char *name, struct err *err)
{
    size_t len = strlen(name);

    if (name[0] != '/' || len < 2 || name[len - 1] == '/' || strstr(name, "//") || len > 1024)
        return err_set(err, ERR_USAGE,
                       "\"%s\" cannot be an export's name: it must be like /name or /a/b", name);
    for (uint32_t i = 0; i < service->export_count; i++) {
        const char *other = service->exports[i].name;

        if (contains(other, name) || contains(name, other))
            return err_set(err, ERR_USAGE, "the exports %s and %s lie within each other", other,
                           name);
    }
    if (service->export_count == EXPORTS_MAX)
        return err_set(err, ERR_USAGE, "more than %d exports", EXPORTS_MAX);
    return 0;
}

int service_export(struct service *service, const struct export_options *options, struct fs *fs,
                   struct err *err)
{
    struct export *e = &service->exports[service->export_count];
    int result = check_name(service, options->name, err);

    if (result < 0) {
        fs_free(fs);
        return result;
    }
    *e = (struct export){ .name = strdup(options->name),
                          .fs = fs,
                          .number = service->export_count + 1,
                          .read_only = options->read_only,
                          .squash = options->squash,
                          .anonymous_uid = options->anonymous_uid,
                          .anonymous_gid = options->anonymous_gid };
    if (!e->name) {
        fs_free(fs);
        return err_memory(err, "an export's name");
    }
    service->export_count++;
    return 0;
}

const struct export *service_find_export(const struct service *service, struct bytes path,
                                         struct bytes *rest)
{
    for (uint32_t i = 0; i < service->export_count; i++) {
        const struct export *e = &service->exports[i];
        uint32_t len = (uint32_t)strlen(e->name);

        if (path.len < len || memcmp(path.data, e->name, len) != 0 ||
            (path.len > len && path.data[len] != '/'))
            continue;
        while (len < path.len && path.data[len] == '/')
            len++;
        *rest = (struct bytes){ path.data + len, path.len - len };
        return e;
    }
    return NULL;
}

const struct export *service_export_at(const struct service *service, uint32_t number)
{
    return number - 1 < service->export_count ? &service->exports[number - 1] : NULL;
}

/* --- credentials */

void export_caller(const struct export *export, const struct rpc_auth *credential,
                   struct caller *caller)
{
    bool known = credential->flavor == RPC_AUTH_SYS && credential->valid;
    bool root = export->squash == SQUASH_ROOT;
    struct fs_caller *as = &caller->as;

    *as = (struct fs_caller){ export->anonymous_uid, export->anonymous_gid, 0, caller->gids };
    if (!known || export->squash == SQUASH_ALL || (root && credential->uid == 0))
        return;
    as->uid = credential->uid;
    if (!root || credential->gid != 0)
        as->gid = credential->gid;
    as->gid_count = credential->gid_count;
    for (uint32_t i = 0; i < as->gid_count; i++)
        caller->gids[i] =
            root && credential->gids[i] == 0 ? export->anonymous_gid : credential->gids[i];
}

/* --- handles */

void service_handle(const struct service *service, const struct export *export, uint32_t object,
                    uint8_t to[HANDLE_LENGTH])
{
    struct handle handle = { export->number, object, fs_generation(export->fs, object) };

    handle_write(service->key, &handle, to);
}

enum nfsstat3 service_find(const struct service *service, struct bytes handle,
                           const struct export **export, uint32_t *object)
{
    struct handle parts;

    if (!handle_read(service->key, handle, &parts))
        return NFS3ERR_BADHANDLE;
    *export = service_export_at(service, parts.export);
    if (!*export)
        return NFS3ERR_STALE;
    *object = fs_find((*export)->fs, parts.object, parts.generation);
    return *object ? NFS3_OK : NFS3ERR_STALE;
}

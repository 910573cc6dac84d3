/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "relay/ports.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "NFSTEE-PORTS 1"

struct port_file {
    char magic[32];
    struct port_entry entries[PORTS_MAX];
};
_Static_assert(sizeof(struct port_entry) == 32, "the file's entries have no gaps");

struct ports {
    struct port_file *file; /* mapped, or allocated if |fd| is -1 */
    int fd;
    uint32_t count;
};

void ports_address(const struct net_address *from, uint8_t to[16])
{
    memset(to, 0, 16);
    if (from->family == AF_INET6) {
        memcpy(to, &from->v6.sin6_addr, 16);
    } else if (from->family == AF_INET) {
        to[10] = to[11] = 0xff;
        memcpy(to + 12, &from->v4.sin_addr, 4);
    }
}

static int map(struct ports *ports, const char *path, struct err *err)
{
    const char magic[sizeof(ports->file->magic)] = MAGIC;
    struct stat st;
    void *memory;

    ports->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (ports->fd < 0 || fstat(ports->fd, &st) < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    if (flock(ports->fd, LOCK_EX | LOCK_NB) < 0)
        return err_set(err, ERR_USAGE, "%s: another relay uses this file", path);
    if (st.st_size != 0 && st.st_size != sizeof(*ports->file))
        return err_set(err, ERR_USAGE, "%s: is not a file of ports that a relay has made", path);
    if (posix_fallocate(ports->fd, 0, sizeof(*ports->file)) != 0)
        return err_set(err, ERR_SYSTEM, "%s: no space for %zu bytes", path, sizeof(*ports->file));
    memory = mmap(NULL, sizeof(*ports->file), PROT_READ | PROT_WRITE, MAP_SHARED, ports->fd, 0);
    if (memory == MAP_FAILED)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    ports->file = memory;
    if (st.st_size == 0)
        memcpy(ports->file->magic, magic, sizeof(magic));
    if (memcmp(ports->file->magic, magic, sizeof(magic)) != 0)
        return err_set(err, ERR_USAGE, "%s: is not a file of ports that a relay has made", path);
    return 0;
}

struct ports *ports_open(const char *path, struct err *err)
{
    struct ports *ports = calloc(1, sizeof(*ports));

    if (ports)
        ports->fd = -1;
    if (ports && !path)
        ports->file = calloc(1, sizeof(*ports->file));
    if (!ports || (!path && !ports->file)) {
        free(ports);
        err_memory(err, "the table of ports");
        return NULL;
    }
    if (path && map(ports, path, err) < 0) {
        ports_close(ports);
        return NULL;
    }
    for (uint32_t i = 0; i < PORTS_MAX; i++)
        ports->count += ports->file->entries[i].ours != 0;
    return ports;
}

void ports_close(struct ports *ports)
{
    if (!ports)
        return;
    if (ports->fd < 0)
        free(ports->file);
    else if (ports->file)
        munmap(ports->file, sizeof(*ports->file));
    if (ports->fd >= 0)
        close(ports->fd);
    free(ports);
}

/* The client's entry, or NULL. */
static struct port_entry *find(struct ports *ports, const struct net_address *client)
{
    uint8_t address[16];

    if (!ports->count)
        return NULL;
    ports_address(client, address);
    for (uint32_t i = 0; i < PORTS_MAX; i++) {
        struct port_entry *e = &ports->file->entries[i];

        if (e->ours && e->port == net_address_port(client) && memcmp(e->client, address, 16) == 0)
            return e;
    }
    return NULL;
}

uint16_t ports_find(struct ports *ports, const struct net_address *client)
{
    struct port_entry *e = find(ports, client);

    if (!e)
        return net_address_port(client);
    e->used = time(NULL);
    return e->ours;
}

static struct port_entry *oldest(struct ports *ports)
{
    struct port_entry *found = &ports->file->entries[0];

    for (uint32_t i = 0; i < PORTS_MAX && found->ours; i++) {
        struct port_entry *e = &ports->file->entries[i];

        if (!e->ours || e->used < found->used)
            found = e;
    }
    return found;
}

void ports_note(struct ports *ports, const struct net_address *client, uint16_t ours)
{
    struct port_entry *e = find(ports, client);

    if (ours == net_address_port(client)) {
        if (e) { /* its own is free again */
            e->ours = 0;
            ports->count--;
        }
        return;
    }
    if (!e) {
        e = oldest(ports);
        ports->count += e->ours == 0;
        e->ours = 0; /* whoever is killed meanwhile leaves no mixture */
        ports_address(client, e->client);
        e->port = net_address_port(client);
    }
    e->used = time(NULL);
    e->ours = ours;
}

uint32_t ports_count(const struct ports *ports)
{
    return ports->count;
}

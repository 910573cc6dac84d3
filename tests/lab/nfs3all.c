/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lab/nfs3all.c
 *
 *     nfs3all SERVER EXPORT [NFS-PORT MOUNT-PORT]
 *
 * Calls every procedure of NFSv3, in success and in the errors that a client can provoke, one call
 * at a time, and prints a line for each: procedure and case, status of the RPC layer, status of the
 * result.  What a server answers is not judged: servers differ, and that is wanted.  Works in a
 * directory of its own, which it removes.
 */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORK_DIRECTORY "nfs3all"
#define GIB (UINT64_C(1) << 30)

enum { FILLERS = 60, LISTING_CALLS_MAX = 100, DATA_MAX = 65536 };

static struct client client;
static struct handle root, dir, file;
static char data[DATA_MAX];

static void report(const char *what)
{
    client_wait(&client);
    printf("%-28s rpc=%d nfs=%d\n", what, client.rpc_status, client.status);
    fflush(stdout);
}

/* One call: |function| is libnfs's, |handler| one of client.h, |arguments| its struct. */
#define CALL(what, function, handler, arguments)                                                   \
    do {                                                                                           \
        if (function(client.rpc, handler, arguments, &client) < 0)                                 \
            lab_die("%s could not be sent: %s", what, rpc_get_error(client.rpc));                  \
        report(what);                                                                              \
    } while (0)

static diropargs3 entry(const struct handle *directory, const char *name)
{
    return (diropargs3){ directory->fh, (char *)name };
}

static sattr3 with_mode(unsigned mode)
{
    sattr3 attributes;

    memset(&attributes, 0, sizeof(attributes));
    attributes.mode.set_it = 1;
    attributes.mode.set_mode3_u.mode = mode;
    return attributes;
}

static void look_up(const char *what, const struct handle *directory, const char *name)
{
    LOOKUP3args arguments = { entry(directory, name) };

    CALL(what, rpc_nfs3_lookup_async, on_lookup, &arguments);
}

static void get_attributes(const char *what, nfs_fh3 object)
{
    GETATTR3args arguments = { object };

    CALL(what, rpc_nfs3_getattr_async, on_getattr, &arguments);
}

static void about_the_export(void)
{
    FSINFO3args info = { root.fh };
    FSSTAT3args stat = { root.fh };
    PATHCONF3args conf = { root.fh };
    ACCESS3args access = { root.fh, 0x3f };

    if (rpc_nfs3_null_async(client.rpc, on_null, &client) < 0)
        lab_die("NULL could not be sent: %s", rpc_get_error(client.rpc));
    report("NULL");
    get_attributes("GETATTR", root.fh);
    CALL("FSINFO", rpc_nfs3_fsinfo_async, on_status, &info);
    CALL("FSSTAT", rpc_nfs3_fsstat_async, on_status, &stat);
    CALL("PATHCONF", rpc_nfs3_pathconf_async, on_status, &conf);
    CALL("ACCESS", rpc_nfs3_access_async, on_status, &access);
}

static void make_directory(void)
{
    char long_name[300];
    MKDIR3args arguments = { entry(&root, WORK_DIRECTORY), with_mode(0755) };

    CALL("MKDIR", rpc_nfs3_mkdir_async, on_status, &arguments);
    CALL("MKDIR EXIST", rpc_nfs3_mkdir_async, on_status, &arguments);
    look_up("LOOKUP directory", &root, WORK_DIRECTORY);
    handle_set(&dir, client.found.bytes, client.found.fh.data.data_len);
    look_up("LOOKUP NOENT", &dir, "nosuch");
    look_up("LOOKUP ..", &dir, "..");
    memset(long_name, 'n', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = 0;
    look_up("LOOKUP NAMETOOLONG", &dir, long_name);
}

static void create_files(void)
{
    CREATE3args unchecked = { .where = entry(&dir, "unchecked") };
    CREATE3args guarded = { .where = entry(&dir, "guarded") };
    CREATE3args exclusive = { .where = entry(&dir, "exclusive") };

    unchecked.how.mode = UNCHECKED;
    unchecked.how.createhow3_u.obj_attributes = with_mode(0644);
    guarded.how.mode = GUARDED;
    guarded.how.createhow3_u.g_obj_attributes.size.set_it = 1;
    exclusive.how.mode = EXCLUSIVE;
    memcpy(exclusive.how.createhow3_u.verf, "\1\2\3\4\5\6\7\10", 8);

    CALL("CREATE UNCHECKED", rpc_nfs3_create_async, on_status, &unchecked);
    CALL("CREATE GUARDED", rpc_nfs3_create_async, on_status, &guarded);
    CALL("CREATE GUARDED EXIST", rpc_nfs3_create_async, on_status, &guarded);
    CALL("CREATE EXCLUSIVE", rpc_nfs3_create_async, on_status, &exclusive);
    CALL("CREATE EXCLUSIVE again", rpc_nfs3_create_async, on_status, &exclusive);
    look_up("LOOKUP file", &dir, "unchecked");
    handle_set(&file, client.found.bytes, client.found.fh.data.data_len);
}

static void write_data(const char *what, nfs_fh3 object, uint64_t offset, unsigned count,
                       stable_how stable)
{
    WRITE3args arguments = { .file = object, .offset = offset, .count = count, .stable = stable };

    arguments.data.data_len = count;
    arguments.data.data_val = data;
    CALL(what, rpc_nfs3_write_async, on_status, &arguments);
}

static void read_data(const char *what, nfs_fh3 object, uint64_t offset, unsigned count)
{
    READ3args arguments = { object, offset, count };

    CALL(what, rpc_nfs3_read_async, on_status, &arguments);
}

static void write_and_read(void)
{
    COMMIT3args commit = { file.fh, 0, 0 };

    write_data("WRITE UNSTABLE 5", file.fh, 0, 5, UNSTABLE);
    write_data("WRITE DATA_SYNC", file.fh, 5, 4096, DATA_SYNC);
    write_data("WRITE FILE_SYNC 64k", file.fh, 100000, DATA_MAX, FILE_SYNC);
    write_data("WRITE at 8 GiB", file.fh, 8 * GIB, 1, UNSTABLE);
    write_data("WRITE 0 bytes", file.fh, 0, 0, UNSTABLE);
    CALL("COMMIT", rpc_nfs3_commit_async, on_status, &commit);
    read_data("READ 10", file.fh, 0, 10);
    read_data("READ 64k", file.fh, 90000, 65536);
    read_data("READ at the end", file.fh, 8 * GIB, 100);
    read_data("READ beyond the end", file.fh, 1024 * GIB, 100);
    read_data("READ ISDIR", dir.fh, 0, 100);
}

static void set_attributes(void)
{
    SETATTR3args arguments = { .object = file.fh };
    sattr3 *wanted = &arguments.new_attributes;

    get_attributes("GETATTR file", file.fh);
    *wanted = with_mode(0600);
    CALL("SETATTR mode", rpc_nfs3_setattr_async, on_status, &arguments);

    memset(wanted, 0, sizeof(*wanted));
    wanted->uid.set_it = wanted->gid.set_it = 1;
    wanted->uid.set_uid3_u.uid = 1000;
    wanted->gid.set_gid3_u.gid = 1000;
    CALL("SETATTR uid gid", rpc_nfs3_setattr_async, on_status, &arguments);

    memset(wanted, 0, sizeof(*wanted));
    wanted->size.set_it = 1;
    wanted->size.set_size3_u.size = 777;
    CALL("SETATTR size", rpc_nfs3_setattr_async, on_status, &arguments);

    memset(wanted, 0, sizeof(*wanted));
    wanted->atime.set_it = SET_TO_SERVER_TIME;
    wanted->mtime.set_it = SET_TO_CLIENT_TIME;
    wanted->mtime.set_mtime_u.mtime.seconds = 1000000000;
    wanted->mtime.set_mtime_u.mtime.nseconds = 123456789;
    CALL("SETATTR times", rpc_nfs3_setattr_async, on_status, &arguments);

    arguments.guard.check = 1;
    arguments.guard.sattrguard3_u.obj_ctime.seconds = 5;
    CALL("SETATTR NOT_SYNC", rpc_nfs3_setattr_async, on_status, &arguments);
    get_attributes("GETATTR file", file.fh);
    arguments.guard.sattrguard3_u.obj_ctime = client.ctime;
    CALL("SETATTR guarded", rpc_nfs3_setattr_async, on_status, &arguments);
}

static void make_node(const char *what, const char *name, ftype3 type)
{
    MKNOD3args arguments = { .where = entry(&dir, name) };

    arguments.what.type = type;
    if (type == NF3CHR || type == NF3BLK) {
        devicedata3 *device = &arguments.what.mknoddata3_u.chr_device;
        device->dev_attributes = with_mode(0600);
        device->spec.specdata1 = 1;
        device->spec.specdata2 = 3;
    } else {
        arguments.what.mknoddata3_u.pipe_attributes = with_mode(0644);
    }
    CALL(what, rpc_nfs3_mknod_async, on_status, &arguments);
}

static void make_other_entries(void)
{
    SYMLINK3args symlink = { entry(&dir, "sym"), { with_mode(0777), "some/where/else" } };
    READLINK3args readlink = { file.fh };
    LINK3args link = { file.fh, entry(&dir, "hardlink") };
    RENAME3args rename = { entry(&dir, "guarded"), entry(&dir, "renamed") };

    CALL("SYMLINK", rpc_nfs3_symlink_async, on_status, &symlink);
    look_up("LOOKUP symlink", &dir, "sym");
    readlink.symlink = client.found.fh;
    CALL("READLINK", rpc_nfs3_readlink_async, on_status, &readlink);
    readlink.symlink = file.fh;
    CALL("READLINK INVAL", rpc_nfs3_readlink_async, on_status, &readlink);
    make_node("MKNOD CHR", "chr", NF3CHR);
    make_node("MKNOD BLK", "blk", NF3BLK);
    make_node("MKNOD FIFO", "fifo", NF3FIFO);
    make_node("MKNOD SOCK", "sock", NF3SOCK);
    make_node("MKNOD BADTYPE", "badtype", NF3REG);
    CALL("LINK", rpc_nfs3_link_async, on_status, &link);
    CALL("LINK EXIST", rpc_nfs3_link_async, on_status, &link);
    CALL("RENAME", rpc_nfs3_rename_async, on_status, &rename);
    CALL("RENAME NOENT", rpc_nfs3_rename_async, on_status, &rename);
}

static void start_listing(void)
{
    client.cookie = 0;
    client.end_of_listing = false;
    memset(client.verifier, 0, sizeof(client.verifier));
}

/* Enough entries that a listing takes several calls. */
static void list_directory(void)
{
    char name[32];

    for (int i = 0; i < FILLERS; i++) {
        snprintf(name, sizeof(name), "filler-%03d", i);
        CREATE3args create = { .where = entry(&dir, name) };
        create.how.mode = GUARDED;
        CALL("CREATE filler", rpc_nfs3_create_async, on_status, &create);
    }
    start_listing();
    for (int i = 0; i < LISTING_CALLS_MAX && !client.end_of_listing; i++) {
        READDIR3args list = { .dir = dir.fh, .cookie = client.cookie, .count = 1024 };
        memcpy(list.cookieverf, client.verifier, sizeof(client.verifier));
        CALL("READDIR", rpc_nfs3_readdir_async, on_readdir, &list);
        if (client.status != NFS3_OK)
            break;
    }
    start_listing();
    for (int i = 0; i < LISTING_CALLS_MAX && !client.end_of_listing; i++) {
        READDIRPLUS3args list = {
            .dir = dir.fh, .cookie = client.cookie, .dircount = 2048, .maxcount = 8192
        };
        memcpy(list.cookieverf, client.verifier, sizeof(client.verifier));
        CALL("READDIRPLUS", rpc_nfs3_readdirplus_async, on_readdirplus, &list);
        if (client.status != NFS3_OK)
            break;
    }

    READDIR3args list = { .dir = dir.fh, .cookie = UINT64_C(12345678901), .count = 1024 };
    memset(list.cookieverf, 0xee, sizeof(list.cookieverf));
    CALL("READDIR BAD_COOKIE", rpc_nfs3_readdir_async, on_status, &list);
    list = (READDIR3args){ .dir = dir.fh, .count = 8 };
    CALL("READDIR TOOSMALL", rpc_nfs3_readdir_async, on_status, &list);
    list = (READDIR3args){ .dir = file.fh, .count = 1024 };
    CALL("READDIR NOTDIR", rpc_nfs3_readdir_async, on_status, &list);
}

static void use_bad_handle(void)
{
    static char bytes[] = "garbagehandle!!";
    nfs_fh3 bad = { { sizeof(bytes), bytes } };
    ACCESS3args access = { bad, 0x3f };
    COMMIT3args commit = { bad, 0, 0 };
    FSINFO3args info = { bad };
    FSSTAT3args stat = { bad };
    PATHCONF3args conf = { bad };

    get_attributes("GETATTR BADHANDLE", bad);
    CALL("ACCESS BADHANDLE", rpc_nfs3_access_async, on_status, &access);
    read_data("READ BADHANDLE", bad, 0, 100);
    write_data("WRITE BADHANDLE", bad, 0, 0, UNSTABLE);
    CALL("COMMIT BADHANDLE", rpc_nfs3_commit_async, on_status, &commit);
    CALL("FSINFO BADHANDLE", rpc_nfs3_fsinfo_async, on_status, &info);
    CALL("FSSTAT BADHANDLE", rpc_nfs3_fsstat_async, on_status, &stat);
    CALL("PATHCONF BADHANDLE", rpc_nfs3_pathconf_async, on_status, &conf);
}

static void remove_entry(const char *what, const char *name)
{
    REMOVE3args arguments = { entry(&dir, name) };

    CALL(what, rpc_nfs3_remove_async, on_status, &arguments);
}

static void remove_everything(void)
{
    static const char *const names[] = { "unchecked", "renamed", "exclusive", "sym",     "chr",
                                         "blk",       "fifo",    "sock",      "hardlink" };
    char name[32];
    RMDIR3args rmdir = { entry(&root, WORK_DIRECTORY) };

    CALL("RMDIR NOTEMPTY", rpc_nfs3_rmdir_async, on_status, &rmdir);
    remove_entry("REMOVE NOENT", "nosuch");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        remove_entry("REMOVE", names[i]);
    for (int i = 0; i < FILLERS; i++) {
        snprintf(name, sizeof(name), "filler-%03d", i);
        remove_entry("REMOVE", name);
    }
    get_attributes("GETATTR STALE", file.fh);
    CALL("RMDIR", rpc_nfs3_rmdir_async, on_status, &rmdir);
}

int main(int argc, char **argv)
{
    struct ports ports = { 0, 0 };

    if (argc != 3 && argc != 5)
        lab_die("usage: %s SERVER EXPORT [NFS-PORT MOUNT-PORT]", argv[0]);
    if (argc == 5)
        ports = (struct ports){ atoi(argv[3]), atoi(argv[4]) };
    for (int i = 0; i < DATA_MAX; i++)
        data[i] = (char)(i * 7);

    client_mount(argv[1], argv[2], &ports, &root);
    client_connect(&client, argv[1], &ports);
    about_the_export();
    make_directory();
    create_files();
    write_and_read();
    set_attributes();
    make_other_entries();
    list_directory();
    use_bad_handle();
    remove_everything();
    rpc_destroy_context(client.rpc);
    return 0;
}

# SPDX-License-Identifier: GPL-2.0-or-later
"""What NFS-Ganesha needs, for tests that start it with tests/lab/ganesha.sh."""
import glob
import os
import shutil
import subprocess


def obstacle():
    """Why Ganesha cannot run here, or None."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    if os.getuid():
        return "Ganesha needs root"
    for program in "ganesha.nfsd", "rpcbind", "nfs-ls", "ip":
        if not shutil.which(program, path=path):
            return "%s is not installed" % program
    if not glob.glob("/usr/lib/*/ganesha/libfsalvfs.so"):
        return "Ganesha's back end VFS is not installed"
    if not os.path.exists("/etc/mtab"):
        return "Ganesha needs /etc/mtab"
    if subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "true"],
                      capture_output=True, check=False).returncode:
        return "this system allows no namespaces"
    return None

# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sourced by ./demo and ./check (bash, in the root of the tree).
#
#     setup demo|check|plugin      installs what is missing of Debian's packages for that
#     say TEXT                     a headline
#
# Knows Debian 12 and later.  Touches the network only when something is missing.

# What builds the program and the plugin, and runs them.
packages_plugin='gcc libc6-dev cmake ninja-build pkgconf libxxhash-dev libglib2.0-dev libgcrypt20-dev
    libwireshark-dev tshark zstd'
packages_demo="$packages_plugin libpcap-dev libsqlite3-dev libzstd-dev zlib1g-dev libarchive-dev
    sqlite3"
# What the tests call besides.  The sanitizers' run-time library for clang has the compiler's version
# in its name: see clang_runtime.
packages_check="$packages_demo libcmocka-dev clang clang-format valgrind python3 gzip
    util-linux procps chromium"

say() {
    printf '\n== %s\n' "$*"
}

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# The package with libFuzzer and the sanitizers for the "clang" that is installed, or would be.
clang_runtime() {
    local depends version
    if installed clang; then
        depends=$(dpkg-query -W -f='${Depends}' clang)
    else
        depends=$(apt-cache depends clang)
    fi
    version=$(grep -o 'clang-[0-9][0-9]*' <<<"$depends" | head -n 1)
    [ -n "$version" ] && echo "libclang-rt-${version#clang-}-dev"
}

missing_packages() { # demo|check|plugin
    local list=packages_$1 package
    for package in ${!list}; do
        installed "$package" || echo "$package"
    done
    if [ "$1" = check ]; then
        package=$(clang_runtime)
        installed "${package:-none}" || echo "$package"
    fi
}

# Runs a command as root; what it prints goes to the log.
as_root() {
    local root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            die "these packages are missing: ${missing[*]}
Installing them needs root, and there is no sudo here. As root:
    apt-get install --no-install-recommends ${missing[*]}"
        fi
        root=(sudo)
        [ -t 0 ] || root=(sudo -n)
    fi
    echo "\$ ${root[*]:+${root[*]} }$*" | tee -a "$setup_log"
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@" >>"$setup_log" 2>&1 </dev/null
}

setup() {
    local kind=$1 missing
    setup_log=$(mktemp "${TMPDIR:-/tmp}/nfsdigest-setup.XXXXXX")
    say "set-up: Debian packages"
    if ! command -v dpkg-query >/dev/null; then
        die "this is no Debian system. Install the equivalents of these packages and build with
    cmake --preset release && cmake --build --preset release:
    $(local list=packages_$kind; echo ${!list})"
    fi
    mapfile -t missing < <(missing_packages "$kind")
    if [ ${#missing[@]} -eq 0 ]; then
        echo "all there, nothing to install"
        rm -f "$setup_log"
        return
    fi
    echo "missing: ${missing[*]}"
    as_root apt-get -q update || echo "apt-get update failed; going on with the lists that are there"
    mapfile -t missing < <(missing_packages "$kind" | grep .)
    if ! as_root apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends "${missing[@]}"; then
        tail -n 20 "$setup_log" >&2
        die "apt-get could not install: ${missing[*]} (all of its output: $setup_log)"
    fi
    mapfile -t missing < <(missing_packages "$kind")
    if [ ${#missing[@]} -ne 0 ]; then
        die "still missing after the installation: ${missing[*]} (see $setup_log)"
    fi
    rm -f "$setup_log"
    echo "installed"
}

# How many compilers and tests run at once.
job_count() {
    nproc 2>/dev/null || echo 2
}

# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sourced by ./demo and ./check (bash, in the root of the tree).
#
#     setup demo|plain|check|all|plugin  installs the Debian packages that this needs and that are missing
#     setup_python FOLDER [FILE]   makes a virtual environment for the Python package and its tests
#     say TEXT                     prints a headline
#     logged LOG COMMAND...        runs COMMAND with its output in LOG, and shows its progress
#
# Works on Debian 12 and later.  Uses the network only if a package is missing.

# The packages that build the engine, the plugins and the programs, and run them; "plain": without Wireshark.
packages_engine='gcc libc6-dev cmake ninja-build pkgconf libxxhash-dev libglib2.0-dev libgcrypt20-dev zstd'
packages_plugin="$packages_engine libwireshark-dev tshark"
packages_plain="$packages_engine libpcap-dev libsqlite3-dev libzstd-dev zlib1g-dev libarchive-dev libsodium-dev
    libnfs-utils libmicrohttpd-dev sqlite3"
packages_demo="$packages_plain libwireshark-dev tshark"
# The packages that the tests also need.  The name of the sanitizers' run-time library for clang has the
# version of the compiler: see clang_runtime.  The name of clang-format has a version, too.  Each version
# writes another style, so all machines use this one, which Debian 12 and 13 both have.
format_version=19
packages_check="$packages_demo libcmocka-dev clang valgrind python3 gzip xz-utils lz4 bzip2
    util-linux procps chromium rpcbind iproute2 zsh python3-venv libopenmpi-dev openmpi-bin"

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

# Runs a command with its output in a log, and returns its status.  Meanwhile, on a terminal, the last line
# of the screen shows the seconds so far and the last line of the log.
logged() { # LOG COMMAND...
    local log=$1 status=0 watcher= started=$SECONDS
    shift
    if [ -t 2 ]; then
        while sleep 1; do
            printf '\r\033[K%5d s  %.70s' $((SECONDS - started)) "$(tail -n 1 "$log" 2>/dev/null)" >&2
        done &
        watcher=$!
    fi
    "$@" >>"$log" 2>&1 </dev/null || status=$?
    if [ -n "$watcher" ]; then
        kill "$watcher"
        wait "$watcher" 2>/dev/null || true
        printf '\r\033[K' >&2
    fi
    return $status
}

# Prints the package with libFuzzer and the sanitizers for the "clang" that is installed or will be.
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

# What only ./check --all needs: nfsdigest is built for other machines, and run by qemu; Spark needs Java.
packages_all="$packages_check mmdebstrap qemu-user gcc-s390x-linux-gnu libc6-dev-s390x-cross gcc-i686-linux-gnu
    libc6-dev-i386-cross default-jre-headless"

missing_packages() { # demo|plain|check|all|plugin
    local list=packages_$1 package
    for package in ${!list}; do
        installed "$package" || echo "$package"
    done
    if [ "$1" = check ] || [ "$1" = all ]; then
        package=$(clang_runtime)
        installed "${package:-none}" || echo "$package"
        package=clang-format-$format_version
        installed "$package" || ! apt-cache show "$package" >/dev/null 2>&1 || echo "$package"
    fi
}

# Runs a command as root, with its output in the log.
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
    logged "$setup_log" "${root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"
}

# Succeeds if the output of apt-get says that servers could not be reached.
no_network() {
    grep -qE 'Could not (resolve|connect)|Temporary failure resolving|Connection (failed|timed out|refused)|Network is unreachable|Cannot initiate the connection' \
        "$setup_log"
}

setup() {
    local kind=$1 missing
    setup_log=$(mktemp "${TMPDIR:-/tmp}/nfsdigest-setup.XXXXXX")
    say "set-up: Debian packages"
    if ! command -v dpkg-query >/dev/null; then
        die "this is not a Debian system. Install the equivalents of these packages, and build with
    cmake --preset release && cmake --build --preset release:
    $(local list=packages_$kind; echo ${!list})"
    fi
    mapfile -t missing < <(missing_packages "$kind")
    if [ ${#missing[@]} -eq 0 ]; then
        echo "all packages are installed"
        rm -f "$setup_log"
        return
    fi
    echo "missing: ${missing[*]}"
    # "update" ends with 0 when no server answers: what it printed says more
    if ! as_root apt-get -q update || no_network; then
        echo "the package lists could not be updated; using the old ones"
    fi
    mapfile -t missing < <(missing_packages "$kind" | grep .)
    if ! as_root apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends "${missing[@]}"; then
        if no_network; then
            die "no network: apt-get cannot reach Debian's package servers, and these packages are missing:
    ${missing[*]}
Connect this machine, or install them from elsewhere (apt-get's output: $setup_log)"
        fi
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

# What Debian does not have comes from PyPI (python/requirements*.txt), once.
setup_python() { # FOLDER [FILE]
    local wanted=python/${2:-requirements.txt}
    cmp -s "$wanted" "$1/requirements.txt" && return
    rm -rf "$1"
    python3 -m venv "$1" || return
    "$1/bin/python" -m pip install --disable-pip-version-check --no-input --quiet -r "$wanted" || return
    cp "$wanted" "$1/requirements.txt"
}

# Prints how many compilers and tests run at once.
job_count() {
    nproc 2>/dev/null || echo 2
}

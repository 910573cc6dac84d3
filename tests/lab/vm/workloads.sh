#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# workloads.sh WORKLOAD FOLDER [FOLDER2]
#
# Works in FOLDER, which is on the file system to be tried, as users' programs work there.  Each workload
# compares its result with what must come out, and ends with 1 at the first difference.
#
#   git       clones, commits, packs and pushes a repository; fsck
#   tree      tar, cp -a of every kind of file, rm -rf
#   compile   compiles a library and runs a program; the same on another file system gives the same bytes
#   random    randomio, twice at once
#   many      makes FILES (50,000) files, a third of them in one folder, lists and removes them
#   two       FOLDER2 is the same folder, mounted by another client without caching of attributes
#
#   SOURCE=/src   sources in SOURCE/tree, a bare clone of a repository in SOURCE/repository.git
#   SCRATCH=/tmp  a folder on another file system
#   SEED=1
set -eu

source=${SOURCE:-/src} scratch=${SCRATCH:-/tmp} seed=${SEED:-1}
export GIT_CONFIG_GLOBAL=$scratch/gitconfig GIT_CONFIG_NOSYSTEM=1 LC_ALL=C

fail() {
    printf 'workloads.sh: %s\n' "$*" >&2
    exit 1
}

# same WHAT FOUND EXPECTED
same() {
    [ "$2" = "$3" ] || fail "$1: \"$2\", not \"$3\""
}

# Names, kinds, modes, owners, links, sizes, times, texts, device numbers and contents.  File systems
# differ in the sizes of directories.
listing() {
    (
        cd "$1"
        find . \( -type d -printf '%P %y %m %U %G %T@\n' \) -o \
            -printf '%P %y %m %U %G %n %s %T@ %l\n' | sort
        find . \( -type b -o -type c \) -print0 | sort -z | xargs -0 -r stat -c '%n %t %T'
        find . -type f -print0 | sort -z | xargs -0 -r sha1sum
    )
}

same_tree() {
    listing "$1" >"$scratch/listing1"
    listing "$2" >"$scratch/listing2"
    diff "$scratch/listing1" "$scratch/listing2" || fail "$2 differs from $1"
}

git_works() { # REPOSITORY
    git -C "$1" fsck --full --strict --no-dangling || fail "git fsck of $1"
    same "git status of $1" "$(git -C "$1" status --porcelain)" ""
}

do_git() {
    local repository=$source/repository.git head
    git config --global user.name lab
    git config --global user.email lab@localhost
    git config --global safe.directory '*'
    git config --global gc.auto 0
    head=$(git -C "$repository" rev-parse HEAD)

    git clone -q "$repository" clone
    git_works clone
    same "HEAD of the clone" "$(git -C clone rev-parse HEAD)" "$head"
    git -C clone archive HEAD | git -C "$repository" get-tar-commit-id >"$scratch/id"
    same "archive of the clone" "$(cat "$scratch/id")" "$head"

    git clone -q clone second # on one file system: hard links
    git_works second
    (
        cd second
        git checkout -q -b work HEAD~1
        git mv "$(git ls-files | head -n 1)" renamed
        printf 'a line\n' >>"$(git ls-files | tail -n 1)"
        git commit -q -a -m "Work on it"
        git rebase -q "$head"
        git push -q origin work
        git repack -a -d -q
        git gc -q --prune=now
    )
    git_works second
    git_works clone
    same "the pushed branch" "$(git -C clone rev-parse work)" "$(git -C second rev-parse work)"
    git -C clone checkout -q work
    git_works clone
    diff -r --exclude=.git clone second || fail "the clones differ"
    rm -rf clone second
}

# One of each kind, with modes, owners, times and names that ask for care.
make_kinds() {
    mkdir -p "$1"/{folder/deeper,sticky,empty}
    (
        cd "$1"
        echo text >plain
        ln plain folder/hard
        ln plain folder/deeper/hard
        ln -s ../plain folder/soft
        ln -s "/nowhere/$(printf 'l%.0s' {1..1000})" dangling
        mkfifo pipe
        if [ "$(id -u)" -eq 0 ]; then
            mknod character c 1 3
            mknod block b 259 65537
            touch owned
            chown 1234:4321 owned
            chown -h 5:6 dangling
        fi
        truncate -s 20M sparse
        printf middle | dd of=sparse bs=1 seek=13M conv=notrunc status=none
        dd if=/dev/urandom of=random bs=64k count=20 status=none
        touch 'with spaces' $'new\nline' 'ünïcödé' "$(printf 'n%.0s' {1..255})" -- -dash
        chmod 0000 plain
        chmod 4755 random
        chmod 1777 sticky
        chmod 2750 folder
        touch -d '2001-02-03 04:05:06.789012345Z' plain
        touch -h -d '2037-01-01 00:00:00.000000001Z' dangling
        touch -d '1970-01-01 00:00:00Z' empty folder
    )
}

do_tree() {
    mkdir untarred
    tar -C "$source/tree" --format=posix -cf - . | tar -C untarred -xpf -
    same_tree "$source/tree" untarred
    tar -C untarred --format=posix -cf back.tar .
    tar -C untarred -df back.tar
    tar -C "$source/tree" -df back.tar

    make_kinds kinds
    cp -a kinds copied
    same_tree kinds copied
    for name in folder/hard folder/deeper/hard; do
        [ copied/plain -ef "copied/$name" ] || fail "cp -a: $name is not the file it was linked to"
    done
    cp -a untarred again
    rm -rf untarred
    same_tree "$source/tree" again
    mv again moved
    same_tree "$source/tree" moved

    exec 3<moved/LICENSE
    rm moved/LICENSE
    cmp - "$source/tree/LICENSE" <&3 || fail "a removed file that is open"
    exec 3<&-
    printf far | dd of=far bs=1 seek=6G status=none
    same "a byte behind 6 GiB" "$(tail -c 4 far | tr '\0' 0)" 0far
    truncate -s 3 far
    same "the beginning of a file with a hole" "$(tr '\0' 0 <far)" 000
    rm -rf moved kinds copied back.tar far
}

do_compile() {
    local folder
    for folder in "$PWD/build" "$scratch/build"; do
        mkdir "$folder"
        cp -r "$source/tree/engine" "$source/tree/tests" "$folder"
        cat >"$folder/Makefile" <<'MAKE'
CFLAGS = -std=gnu11 -O1 -Iengine -Iengine/base
objects = $(patsubst %.c,%.o,$(wildcard engine/base/*.c))
all: library.a randomio
randomio: tests/lab/randomio.c
	$(CC) $(CFLAGS) -o $@ $<
library.a: $(objects)
	$(AR) rcsD $@ $^
$(objects): CFLAGS += -D_GNU_SOURCE
MAKE
        make -s -C "$folder" CC=gcc
        make -q -C "$folder" CC=gcc || fail "make would make again what it has made in $folder"
    done
    cmp "$PWD/build/library.a" "$scratch/build/library.a"
    cmp "$PWD/build/randomio" "$scratch/build/randomio"
    build/randomio build/file 100 1
    rm -rf build "$scratch/build"
}

do_random() {
    local running=() n
    for n in 0 1; do
        randomio "random$n" "${OPERATIONS:-1500}" $((seed + n)) &
        running+=($!)
    done
    for n in "${running[@]}"; do
        wait "$n" || fail "randomio found a difference"
    done
    rm random0 random1
}

do_many() {
    local files=${FILES:-50000} free i
    free=$(stat -f -c '%d %f' .)
    mkdir many many/{0..19}
    for ((i = 0; i < files; i++)); do
        : >"many/$((i % 30 < 20 ? i % 30 : 0))/a-name-of-usual-length-$i"
    done
    same "files found" "$(find many -type f | wc -l)" "$files"
    same "names, each once" "$(find many -type f -printf '%f\n' | sort -u | wc -l)" "$files"
    rm -rf many
    [ ! -e many ] || fail "rm -rf has left something"
    same "free objects and blocks" "$(stat -f -c '%d %f' .)" "$free"
}

# Each name is made by one of the two, and only by one.
race() { # FOLDER NAME: runs at both at once
    local i
    for ((i = 0; i < 100; i++)); do
        if (set -C && : >"$1/race/$i") 2>/dev/null; then
            echo "$i"
        fi
    done >"$scratch/$2"
}

# A lock that is a directory guards a number in a file.
count() { # FOLDER
    local i number
    for ((i = 0; i < 30; i++)); do
        until mkdir "$1/lock" 2>/dev/null; do
            sleep 0.01
        done
        number=$(cat "$1/number")
        echo $((number + 1)) >"$1/number"
        rmdir "$1/lock"
    done
}

both() { # FUNCTION OTHER-FOLDER
    "$1" "$PWD" first &
    "$1" "$2" second || fail "$1, second client"
    wait $! || fail "$1, first client"
}

# What one client did, the other sees at once.
take_turns() { # FOLDER2
    local i mine=$PWD other=$1 swap
    for ((i = 0; i < 20; i++)); do
        echo "$i" >"$mine/ball"
        same "the other's file" "$(cat "$other/ball")" "$i"
        echo more >>"$other/ball"
        same "size of the file that the other wrote" "$(stat -c %s "$mine/ball")" $((${#i} + 6))
        truncate -s 1 "$mine/ball"
        same "the file that the other cut" "$(cat "$other/ball")" "${i:0:1}"
        chmod 640 "$mine/ball"
        same "mode" "$(stat -c %a "$other/ball")" 640
        mv "$mine/ball" "$mine/moved"
        [ ! -e "$other/ball" ] || fail "the other still sees a name that was renamed"
        [ -e "$other/moved" ] || fail "the other does not see a new name"
        ln "$other/moved" "$other/linked"
        same "links" "$(stat -c %h "$mine/moved")" 2
        rm "$mine/linked" "$mine/moved"
        mkdir "$mine/sub"
        same "what is there" "$(ls "$other" | tr '\n' ' ')" "number race sub "
        rmdir "$other/sub"
        [ ! -e "$mine/sub" ] || fail "a directory that the other removed"
        swap=$mine mine=$other other=$swap
    done
    # a file that the other removes is gone also for those who have it open
    echo text >"$mine/open"
    exec 3<"$mine/open"
    rm "$other/open"
    ! cat <&3 2>"$scratch/error" || fail "a file that the other removed can be read"
    grep -q 'Stale' "$scratch/error" || fail "a file that the other removed: $(cat "$scratch/error")"
    exec 3<&-
}

do_two() { # FOLDER2
    [ . -ef "$1" ] && fail "these must be two mounts"
    mkdir race
    both race "$1"
    same "names, each made once" "$(sort -u "$scratch/first" "$scratch/second" | wc -l)" 100
    same "names made" "$(cat "$scratch/first" "$scratch/second" | wc -l)" 100
    echo 0 >number
    both count "$1"
    same "the counter" "$(cat number)" 60
    same "the counter, by the other" "$(cat "$1/number")" 60
    take_turns "$1"

    mkdir one two
    tar -C "$source/tree" --format=posix -cf - . | tar -C one -xpf - &
    tar -C "$source/tree" --format=posix -cf - . | tar -C "$1/two" -xpf -
    wait $!
    same_tree "$source/tree" two
    same_tree "$source/tree" "$1/one"
    rm -rf one &
    rm -rf "$1/two"
    wait $!
    rm -r race number
    same "what is left" "$(ls "$1")" ""
}

case ${1-} in
git | tree | compile | random | many | two) ;;
*) fail "usage: workloads.sh git|tree|compile|random|many|two FOLDER [FOLDER2]" ;;
esac
mkdir -p "$2/$1"
cd "$2/$1"
"do_$1" ${3:+"$3/$1"}
rmdir "$2/$1" || fail "$1 left something: $(ls)"

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# What every part of ci/images shares.  Sourced by ci/images/build, which sets
# `here` (this folder) and runs under `set -euo pipefail`.
#
# Cache entries are directories named <name>-<key>.  One is built in a
# temporary directory under the lock and renamed when complete, so an
# interrupted build leaves nothing that a later one could take for whole.

say() {
	printf '  %-8s %s\n' "$1" "$2" >&2
}

die() {
	printf 'ci/images: %s\n' "$*" >&2
	exit 1
}

# need PROGRAM...: all are there, or say what to do.
need() {
	local program

	for program; do
		command -v "$program" >/dev/null ||
			die "$program is missing: run ci/setup (make setup)"
	done
}

sha256_file() {
	sha256sum <"$1" | cut -d' ' -f1
}

# hash_files FILE...: one key from the contents of all, in the order given.
hash_files() {
	cat -- "$@" | sha256sum | cut -c1-16
}

# hash_text TEXT...: one key from words.
hash_text() {
	printf '%s\n' "$@" | sha256sum | cut -c1-16
}

# CRC-32 as U-Boot's crc32 prints it; gzip's trailer carries the same sum.
crc32_file() {
	gzip -1 -n -c <"$1" | tail -c 8 | od -An -tx1 -N4 | awk '{ print $4 $3 $2 $1 }'
}

size_file() {
	stat -L -c %s "$1"
}

# cache_open [FOLDER]: what takes long lies in a folder with a lock of its own,
# so that nobody waits for it who needs none of it.
cache_open() {
	cache=$cache_root${1:+/$1}
	mkdir -p "$cache" || die "cannot make the cache $cache (SAMEBOARD_CACHE names another place)"
	cache=$(cd "$cache" && pwd)
	exec 8>"$cache/lock"
	if ! flock -n 8; then
		say WAIT "another build uses $cache"
		flock 8
	fi
	# Under the lock whatever is temporary was left by a killed build.
	rm -rf -- "$cache"/tmp.*
	trap 'rm -rf -- "$cache"/tmp.*' EXIT
	trap 'exit 130' INT TERM HUP
}

cache_close() {
	trap - EXIT
	exec 8>&-
}

# cache_make NAME KEY FUNCTION [ARG...]: sets `entry` to the directory of the
# entry; FUNCTION DIR ARG... fills it when it isn't there yet.
cache_make() {
	local name=$1 key=$2 function=$3 tmp

	shift 3
	entry=$cache/$name-$key
	[ -d "$entry" ] && return
	tmp=$(mktemp -d "$cache/tmp.XXXXXX")
	chmod 755 "$tmp"
	"$function" "$tmp" "$@"
	rm -rf -- "$tmp/stage"
	mv -T -- "$tmp" "$entry"
}

cache_root=${SAMEBOARD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sameboard}

# put FILE TARGET: a copy that appears at once and whole; kept when equal.
put() {
	cmp -s -- "$1" "$2" && return
	cp --sparse=always -- "$1" "$2.new"
	mv -f -- "$2.new" "$2"
}

# quietly LOG COMMAND...: the output of a long command is shown only if it fails.
quietly() {
	local log=$1

	shift
	if ! "$@" >"$log" 2>&1; then
		tail -n 40 "$log" >&2
		die "failed: $*"
	fi
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# Packages of another suite or architecture, fetched unprivileged and verified
# by apt against the Debian archive keyring.  A private apt root leaves the
# machine's own package state alone.  Where Debian is mirrored is taken from
# the machine's configuration (and so are proxies and credentials).

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Print candidate archive addresses, the likeliest first.  The machine may have
# other repositories; apt refuses those later since their keys aren't Debian's.
apt_archive_uris() {
	apt-get update --print-uris 2>/dev/null |
		sed -n "s,^'\([^']*/\)dists/\([^']*\)/InRelease'.*,\2 \1,p" |
		awk '
			$1 ~ /^(bookworm|trixie|oldstable|stable|testing|sid|unstable)$/ { print 1, NR, $2; next }
			$1 !~ /security/ && $2 !~ /security/ { print 2, NR, $2; next }
			{ print 3, NR, $2 }' |
		sort -k1,1n -k2,2n | cut -d' ' -f3 | awk '!seen[$0]++'
}

# apt_root ROOT ARCH: a fresh private root for ARCH; sets the array `apt`.
apt_root() {
	local root=$1 arch=$2

	mkdir -p "$root/etc/preferences.d" "$root/lists/partial" "$root/cache/archives/partial"
	: >"$root/status"
	# The machine's hooks after an update belong to the machine's own lists.
	cat >"$root/apt.conf" <<-END
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear APT::Architectures;
		#clear APT::Default-Release;
		Dir::Etc::sourcelist "$root/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "$root/etc/preferences.d";
		Dir::State "$root";
		Dir::State::lists "$root/lists";
		Dir::State::status "$root/status";
		Dir::Cache "$root/cache";
		Dir::Log "$root";
		APT::Architecture "$arch";
		APT::Architectures { "$arch"; };
		APT::Sandbox::User "";
		APT::Get::AllowUnauthenticated "false";
		Acquire::AllowInsecureRepositories "false";
		Acquire::Languages "none";
		Acquire::Retries "3";
	END
	apt=(-c "$root/apt.conf" -q)
}

# apt_update ROOT LINE...: read the signed lists.  In a LINE, %s stands for
# "signed-by=... ] URI": the first candidate that verifies is used.
apt_update() {
	local root=$1 uri line

	shift
	: >"$root/log"
	[ -r "$keyring" ] || die "$keyring is missing: run ci/setup (make setup)"
	for uri in $(apt_archive_uris); do
		for line; do
			# shellcheck disable=SC2059
			printf "$line\n" "signed-by=$keyring] $uri"
		done >"$root/sources.list"
		if apt-get "${apt[@]}" update --error-on=any >>"$root/log" 2>&1; then
			return
		fi
	done
	tail -n 30 "$root/log" >&2
	die "no Debian archive among the machine's apt sources could be read and verified"
}

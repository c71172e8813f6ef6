# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
#
# Card images: an MBR and one FAT partition with the payloads, made without
# privilege.  Equal payloads give an equal image: every number that tools
# would draw by chance or from the clock is given.

card_first_sector=2048 # leaves room for the D1's own boot program below it

# card_make IMAGE MIB NAME=FILE...: MIB is a power of two, as cards must be.
card_make() {
	local image=$1 mib=$2 id sectors cluster payload

	shift 2
	sectors=$((mib * 2048 - card_first_sector))
	cluster=$((mib / 8)) # keeps it FAT16 at any size
	# The serial number names the contents.
	id=$(for payload; do
		printf '%s %s\n' "${payload%%=*}" "$(sha256_file "${payload#*=}")"
	done | sha256sum | cut -c1-8)
	rm -f -- "$image"
	truncate -s "${mib}M" "$image"
	printf 'label: dos\nlabel-id: 0x%s\nstart=%s, type=e, bootable\n' "$id" "$card_first_sector" |
		sfdisk -q --no-tell-kernel "$image"
	export MTOOLSRC=/dev/null TZ=UTC
	mformat -i "$image@@$((card_first_sector * 512))" -v SAMEBOARD -N "$id" \
		-T "$sectors" -h 16 -s 63 -H "$card_first_sector" -c "$cluster" ::
	# A folder for each slot.
	for payload; do
		printf '%s\n' "${payload%%=*}"
	done | sed -n 's,\(/[^/]*\)/.*,\1,p' | sort -u | while read -r payload; do
		mmd -i "$image@@$((card_first_sector * 512))" "::$payload"
	done
	for payload; do
		mcopy -i "$image@@$((card_first_sector * 512))" "${payload#*=}" "::${payload%%=*}"
	done
}

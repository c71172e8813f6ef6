# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What a card needs to start by itself: a script for U-Boot in a legacy image
# (U-Boot, include/image.h: big-endian header of 64 bytes, CRC-32 twice), and
# room for a plan.

# hex_be32 NUMBER: as printf's escapes.
hex_be32() {
	printf '\\x%02x\\x%02x\\x%02x\\x%02x' \
		$(($1 >> 24 & 255)) $(($1 >> 16 & 255)) $(($1 >> 8 & 255)) $(($1 & 255))
}

# script_header SUM SIZE DATA-SUM: Linux, RISC-V, a script, not compressed, no name.
script_header() {
	printf '%b' "$(hex_be32 $((0x27051956)))$(hex_be32 $((16#$1)))$(hex_be32 0)$(hex_be32 "$2")"
	printf '%b' "$(hex_be32 0)$(hex_be32 0)$(hex_be32 $((16#$3)))"'\x05\x1a\x06\x00'
	head -c 32 /dev/zero
}

# script_make FILE LINE...: U-Boot's `source` runs the lines.
script_make() {
	local file=$1 text data_sum

	shift
	text=$(printf '%s\n' "$@"; printf x)
	text=${text%x}
	# A list of parts with their lengths, ended by 0; there is one part.
	{
		printf '%b' "$(hex_be32 ${#text})$(hex_be32 0)"
		printf '%s' "$text"
	} >"$file.data"
	data_sum=$(crc32_file "$file.data")
	script_header 0 "$(size_file "$file.data")" "$data_sum" >"$file.header"
	script_header "$(crc32_file "$file.header")" "$(size_file "$file.data")" "$data_sum" |
		cat - "$file.data" >"$file"
	rm -f -- "$file.data" "$file.header"
}

# plan_make FILE: the place of a plan, to be written over; no frame is in it.
plan_size=8192
plan_mark='a plan of windows may be written over this text; '
plan_make() {
	local text=$plan_mark

	while [ ${#text} -lt "$plan_size" ]; do
		text+=$text
	done
	printf '%s' "${text:0:plan_size}" >"$1"
}

# plan_find IMAGE PLAN: where in the image it lies, in one piece.
plan_find() {
	local offset

	offset=$(LC_ALL=C grep -obaF "$plan_mark" "$1" | awk -F: 'NR == 1 { print $1 }')
	[ -n "$offset" ] && cmp -s -n "$plan_size" -i "$offset:0" "$1" "$2" ||
		die "$1: the plan does not lie in one piece"
	printf '%s\n' "$offset"
}

# uboot_autoboot DIR FILE: the same U-Boot, whose built-in environment waits for no key.
uboot_autoboot() {
	[ "$(LC_ALL=C grep -caF bootdelay=2 "$1/u-boot.bin")" = 1 ] ||
		die "$1/u-boot.bin: not one line with a bootdelay"
	LC_ALL=C sed 's/bootdelay=2/bootdelay=0/' "$1/u-boot.bin" >"$2.new"
	mv -f -- "$2.new" "$2"
}

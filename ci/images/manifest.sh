# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
#
# Manifests (harness/schema/manifest.json).  Every fact is read from what was
# built: sizes and sums from the files, compiler and flags from the debug
# information, the rest from configurations and headers.

json_string() {
	local text=${1//\\/\\\\}

	printf '"%s"' "${text//\"/\\\"}"
}

# manifest_list STRING...: a JSON array, one line each.
manifest_list() {
	local separator='' text

	printf '['
	for text; do
		printf '%s\n    %s' "$separator" "$(json_string "$text")"
		separator=,
	done
	printf '\n  ]'
}

# manifest_payload NAME ADDRESS FILE: one entry of "payloads".
manifest_payload() {
	printf '{"file": %s, "address": %s, "size": %s, "crc32": "%s"}' \
		"$(json_string "$1")" "$(json_string "$2")" "$(size_file "$3")" "$(crc32_file "$3")"
}

# elf_producer ELF SOURCE: "GNU C11 12.2.0 -march=... -O2 ..." of one source.
elf_producer() {
	riscv64-linux-gnu-readelf --debug-dump=info --dwarf-depth=1 "$1" 2>/dev/null |
		awk -v source="$2" '
			/DW_AT_producer/ { sub(/.*: /, ""); producer = $0 }
			/DW_AT_name/ && index($0, source) && !found { print producer; found = 1 }' |
		sed 's/[[:space:]]*$//'
}

# The last -O of a producer decides; none is -O0.
producer_optimisation() {
	local flag last=-O0

	for flag in $1; do
		case $flag in
		-O*) last=$flag ;;
		esac
	done
	printf '%s\n' "$last"
}

producer_compiler() {
	printf '%s\n' "${1%% -*}"
}

# "false" unless it was built to be debugged: unoptimised or with checks.
producer_debug() {
	case $(producer_optimisation "$1") in
	-O0 | -Og) echo true ;;
	*) echo false ;;
	esac
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Bash completion of sameboard.  Commands and options come from the program's
# own help, so they cannot fall behind it.

_sameboard_words() {
	local IFS=$' \t\n'
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_sameboard_files() {
	compopt -o filenames
	mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}

# _sameboard_names DIR...: what DIR/*.json are called.
_sameboard_names() {
	local dir file names=

	for dir; do
		for file in "${dir:-.}"/*.json; do
			[ -e "$file" ] || continue
			file=${file##*/}
			names+=" ${file%.json}"
		done
	done
	_sameboard_words "$names"
}

_sameboard_option_names() {
	"$program" "$command" --help 2>/dev/null | sed -n 's/^  \(--[a-z-]*=\{0,1\}\).*/\1/p'
}

_sameboard_takes_value() {
	_sameboard_option_names | grep -qxF -- "$1="
}

_sameboard_value() {
	case $1 in
	--lab | --db | --rules | --bmap | --output | --junit | --summary) _sameboard_files -f ;;
	--images | --figures) _sameboard_files -d ;;
	--board) _sameboard_words "$("$program" boards 2>/dev/null | sed 's/ .*//')" ;;
	--os) _sameboard_names "${SAMEBOARD_IMAGES:-build/images}" ;;
	--expect-medium) _sameboard_words 'sd emmc nand spi usb network any' ;;
	--unit) _sameboard_words "ns us ms" ;;
	--job | --run | --baseline) _sameboard_words LAST ;;
	esac
}

# The argument of that number, from 1, where options don't count.
_sameboard_argument() {
	case $command:$1 in
	run:1 | submit:1 | plan:1)
		_sameboard_names ${SAMEBOARD_SUITES:+"$SAMEBOARD_SUITES"} harness/suites \
			"${program%/*}/../share/sameboard/suites"
		;;
	show:1 | export:1 | compare:* | report:*) _sameboard_words LAST ;;
	baseline:1) _sameboard_words "$("$program" baseline 2>/dev/null | sed -n 's/: runs .*//p')" ;;
	power:1 | sd:1 | boards:1 | doctor:1 | console:1) _sameboard_words "$("$program" boards 2>/dev/null | sed 's/ .*//')" ;;
	bisect:3) _sameboard_names ${SAMEBOARD_SUITES:+"$SAMEBOARD_SUITES"} harness/suites ;;
	power:2) _sameboard_words 'on off cycle status' ;;
	sd:2) _sameboard_words 'host dut off status write' ;;
	wire:1) _sameboard_words decode ;;
	log:1) _sameboard_words classify ;;
	lab:1) _sameboard_words init ;;
	import:1 | export:2 | verify:1 | sd:3 | wire:2 | log:2) _sameboard_files -f ;;
	esac
}

_sameboard() {
	local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local program command=${COMP_WORDS[1]} number=1 i

	COMPREPLY=()
	program=$(type -P -- "${COMP_WORDS[0]}") || return
	if [ "$COMP_CWORD" = 1 ]; then
		_sameboard_words "$("$program" --help | sed -n 's/^  \([a-z]*\) .*/\1/p') --help --version"
		return
	fi
	# Bash breaks words at "=": --db, =, FILE.
	if [ "$cur" = = ]; then
		cur=
		_sameboard_value "$previous"
	elif [ "$previous" = = ]; then
		_sameboard_value "${COMP_WORDS[COMP_CWORD - 2]}"
	elif _sameboard_takes_value "$previous"; then
		_sameboard_value "$previous"
	elif [[ $cur = -* ]]; then
		compopt -o nospace
		_sameboard_words "$(_sameboard_option_names)"
		[[ ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} != *= ]] && COMPREPLY[0]+=' '
	else
		for ((i = 2; i < COMP_CWORD; i++)); do
			case ${COMP_WORDS[i]} in
			=) i=$((i + 1)) ;;
			-*)
				[ "${COMP_WORDS[i + 1]}" = = ] ||
					! _sameboard_takes_value "${COMP_WORDS[i]}" || i=$((i + 1))
				;;
			*) number=$((number + 1)) ;;
			esac
		done
		_sameboard_argument "$number"
	fi
}

complete -F _sameboard sameboard

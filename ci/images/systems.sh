# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
#
# The systems: what is on each card, how U-Boot starts it, what its manifest
# says.  Adding one is a function here and a line in ci/images/build.

# The console speaks only when something is wrong; Sv39 is what the D1 has.
linux_arguments='console=ttyS0,115200 loglevel=4 no4lvl'
# Where the compressed kernel waits; the panel's 512 MiB end at 0xa0000000.
linux_compressed=0x90000000
# Above kernel and device tree, with room for the largest of initramfs.
linux_initrd=0x8c300000

hex() {
	printf '0x%x' "$1"
}

# system_write NAME IMAGE MANIFEST-BODY: the facts that every manifest has.
system_write() {
	local name=$1 image=$2 body=$3

	printf '{\n'
	printf '  "system": %s,\n' "$(json_string "$name")"
	printf '  "file": %s,\n' "$(json_string "$name.img")"
	printf '  "size": %s,\n' "$(size_file "$image")"
	printf '  "sha256": "%s",\n' "$(sha256_file "$image")"
	printf '  "boards": ["virtual-86-panel"],\n'
	printf '%s,\n' "$body"
	printf '  "loader_banner": "U-Boot 20",\n'
	printf '  "start": %s,\n' "$(json_string "${system_start:-auto}")"
	printf '  "uart": {"baud": 115200},\n'
	printf '  "writes_card": %s\n' "${system_writes:-false}"
	printf '}\n'
}

# The build facts of kernel and agent, which are built apart.
linux_build() {
	local config=$1 producer=$2 optimisation=-O2 debug=false option

	[ "$(linux_config "$config" CC_OPTIMIZE_FOR_SIZE)" = n ] || optimisation=-Os
	for option in DEBUG_PREEMPT DEBUG_ATOMIC_SLEEP DEBUG_SPINLOCK DEBUG_MUTEXES \
		DEBUG_RT_MUTEXES PROVE_LOCKING LOCK_STAT KASAN UBSAN; do
		[ "$(linux_config "$config" "$option")" = n ] || debug=true
	done
	printf '{\n    "compiler": %s,\n    "optimisation": %s,\n    "debug": %s,\n    "config_sha256": "%s"\n  }' \
		"$(json_string "$(linux_config "$config" CC_VERSION_TEXT); agent: $(producer_compiler "$producer")")" \
		"$(json_string "$optimisation; agent: $(producer_optimisation "$producer")")" \
		"$debug" "$(sha256_file "$config")"
}

linux_tick() {
	local config=$1 tick

	tick="$(linux_config "$config" HZ) Hz"
	[ "$(linux_config "$config" NO_HZ_COMMON)" = n ] || tick="$tick, tickless when idle"
	[ "$(linux_config "$config" HIGH_RES_TIMERS)" = n ] || tick="$tick, high-resolution timers"
	printf '%s\n' "$tick"
}

# linux_script FILE INITRD-SIZE PLAN-SIZE: for U-Boot, to start by itself where a plan was
# written; without one the prompt comes.  What it prints tells a host that types
# nothing which payloads run.
linux_script() {
	local file=$1 size=$2

	script_make "$file" \
		"load mmc 0:1 $(hex $((linux_initrd + size))) /plan" \
		"if itest.b *$(hex $((linux_initrd + size + initramfs_plan_at))) == 0; then" \
		"load mmc 0:1 $linux_compressed /Image.gz && crc32 $linux_compressed \${filesize}" \
		"load mmc 0:1 $linux_initrd /initrd && crc32 $linux_initrd \${filesize}" \
		"unzip $linux_compressed \${kernel_addr_r}" \
		"setenv bootargs $linux_arguments" \
		"booti \${kernel_addr_r} $linux_initrd:$(printf %x $((size + $3))) \${fdtcontroladdr}" \
		'fi'
}

# linux_system DIR NAME KERNEL BASE: NAME.img and NAME.json in DIR, of the
# kernel in KERNEL and the initramfs made from BASE.
linux_system() {
	local dir=$1 name=$2 kernel=$3 base=$4 producer initrd=$1/initrd plan body

	initramfs_pack "$base" "$agent" "$initrd" "$kernel"
	plan_make "$dir/plan.text"
	initramfs_plan "$dir/plan.text" "$dir/plan"
	linux_script "$dir/boot.scr" "$(size_file "$initrd")" "$(size_file "$dir/plan")"
	card_make "$dir/$name.img" 32 "/Image.gz=$kernel/Image.gz" "/initrd=$initrd" \
		"/boot.scr=$dir/boot.scr" "/plan=$dir/plan"
	plan=$(plan_find "$dir/$name.img" "$dir/plan.text")
	producer=$(elf_producer "$agent" agents/linux/main.c)
	[ "$(linux_config "$kernel/config" MMU)" = y ] || die "a kernel without MMU"
	body=$(
		printf '  "version": %s,\n' "$(json_string "$(cat "$kernel/release")")"
		printf '  "build": %s,\n' "$(linux_build "$kernel/config" "$producer")"
		printf '  "payloads": [\n    %s,\n    %s\n  ],\n' \
			"$(manifest_payload /Image.gz "$linux_compressed" "$kernel/Image.gz")" \
			"$(manifest_payload /initrd "$linux_initrd" "$initrd")"
		printf '  "boot": %s,\n' "$(manifest_list \
			"load mmc 0:1 $linux_compressed /Image.gz" \
			"load mmc 0:1 $linux_initrd /initrd" \
			"unzip $linux_compressed \${kernel_addr_r}" \
			"setenv bootargs $linux_arguments" \
			"booti \${kernel_addr_r} $linux_initrd:$(printf %x "$(size_file "$initrd")") \${fdtcontroladdr}")"
		printf '  "plan": {"offset": %s, "size": %s},\n' "$plan" "$plan_size"
		printf '  "first_banner": "Linux version",\n'
		printf '  "protection": "U+MMU process",\n'
		printf '  "address_space": "virtual, one per process, Sv39",\n'
		printf '  "tick": %s,\n' "$(json_string "$(linux_tick "$kernel/config")")"
		printf '  "agent_sha256": "%s"' "$(sha256_file "$initrd.agent")"
	)
	system_write "$name" "$dir/$name.img" "$body" >"$dir/$name.json"
}

# linux_trap DIR NAME TRAP: NAME.json in DIR, the card of linux started with a
# trap, which init knows.  It has no plan: a card that starts by itself does
# not know of it.
linux_trap() {
	sed -e 's/^  "system": "linux",$/  "system": "'"$2"'",/' \
		-e "/setenv bootargs/s/$linux_arguments/& sameboard_trap=$3/" \
		-e '/^  "plan": /d' "$images/linux.json" >"$1/$2.json"
	grep -q "sameboard_trap=$3" "$1/$2.json" || die "$2.json: no trap was set"
}

# baremetal_system DIR NAME VARIANT: one of the bare-metal images.
baremetal_system() {
	local dir=$1 name=$2 stem=$build/baremetal/$3 producer version tick_us plan body

	# Without a plan the prompt comes, as on a card without a script.  What it
	# prints tells a host that types nothing which payload runs.
	script_make "$dir/boot.scr" \
		'load mmc 0:1 ${ramdisk_addr_r} /plan; setenv plan_size ${filesize}' \
		'if itest.b *${ramdisk_addr_r} == 0; then' \
		'load mmc 0:1 ${kernel_addr_r} /baremetal.bin && crc32 ${kernel_addr_r} ${filesize}' \
		'booti ${kernel_addr_r} ${ramdisk_addr_r}:${plan_size} ${fdtcontroladdr}' \
		'fi'
	plan_make "$dir/plan"
	card_make "$dir/$name.img" 16 "/baremetal.bin=$stem.bin" "/boot.scr=$dir/boot.scr" \
		"/plan=$dir/plan"
	plan=$(plan_find "$dir/$name.img" "$dir/plan")
	producer=$(elf_producer "$stem.elf" agents/baremetal/main.c)
	version=$(riscv64-linux-gnu-strings -a "$stem.bin" |
		sed -n 's/^sameboard bare metal \([0-9][^ ]*\) on.*/\1/p' | sed -n 1p)
	tick_us=$(sed -n 's/^#define TIMER_TICK_US \([0-9]*\)u$/\1/p' "$here/../../agents/baremetal/timer.h")
	[ -n "$version" ] && [ -n "$tick_us" ] || die "$stem.bin tells no version or timer.h no tick"
	body=$(
		printf '  "version": %s,\n' "$(json_string "$version")"
		printf '  "build": {\n    "compiler": %s,\n    "optimisation": %s,\n    "debug": %s,\n    "config_sha256": "%s"\n  },\n' \
			"$(json_string "$(producer_compiler "$producer")")" \
			"$(json_string "$(producer_optimisation "$producer")")" \
			"$(producer_debug "$producer")" \
			"$(printf '%s\n' "$3" "$producer" | sha256sum | cut -d' ' -f1)"
		printf '  "payloads": [\n    %s\n  ],\n' \
			"$(manifest_payload /baremetal.bin '${kernel_addr_r}' "$stem.bin")"
		printf '  "boot": %s,\n' "$(manifest_list \
			'load mmc 0:1 ${kernel_addr_r} /baremetal.bin' \
			'booti ${kernel_addr_r} - ${fdtcontroladdr}')"
		printf '  "plan": {"offset": %s, "size": %s},\n' "$plan" "$plan_size"
		printf '  "first_banner": "sameboard bare metal",\n'
		printf '  "protection": "S-flat",\n'
		printf '  "address_space": "single, MMU off",\n'
		printf '  "tick": %s,\n' "$(json_string "$((1000000 / tick_us)) Hz, waits by compare")"
		printf '  "agent_sha256": "%s"' "$(sha256_file "$stem.bin")"
	)
	system_write "$name" "$dir/$name.img" "$body" >"$dir/$name.json"
}

# system_file NAME: the file of the card, as the manifest has it.
system_file() {
	sed -n 's/^  "file": "\(.*\)",$/\1/p' "$images/$1.json"
}

# system_make NAME KEY FUNCTION ARG...: NAME.json and, unless it is of another's
# card, NAME.img in the images' folder, unless they were made from the same KEY.
system_make() {
	local name=$1 key=$2 function=$3 tmp file

	shift 3
	if [ -f "$images/$name.json" ] && [ -f "$images/$(system_file "$name")" ] &&
		[ "$(cat "$images/$name.key" 2>/dev/null)" = "$key" ]; then
		return
	fi
	say IMAGE "$name"
	tmp=$(mktemp -d "$images/tmp.XXXXXX")
	"$function" "$tmp" "$@"
	rm -f -- "$images/$name.key"
	for file in "$tmp/$name".{img,json}; do
		[ ! -f "$file" ] || mv -f -- "$file" "$images/"
	done
	rm -rf -- "$tmp"
	printf '%s\n' "$key" >"$images/$name.key"
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# U-Boot for the virtual panel: Debian 12's source package, with MMC.

uboot_cross=riscv64-linux-gnu-

# uboot_fetch DIR: the source package, verified by apt against signed lists.
uboot_fetch() {
	local dir=$1 root=$1/stage/apt

	say FETCH "u-boot (source, bookworm)"
	apt_root "$root" "$(dpkg --print-architecture)"
	apt_update "$root" 'deb-src [target=Sources %s bookworm main'
	(cd "$dir" && quietly "$root/log" apt-get "${apt[@]}" source --download-only u-boot)
}

# uboot_build DIR SOURCE: u-boot.bin, config and facts.
uboot_build() {
	local dir=$1 source=$2 work=$1/stage

	say BUILD "u-boot.bin (about a minute)"
	mkdir -p "$work"
	quietly "$work/log" dpkg-source --no-copy -x "$source"/u-boot_*.dsc "$work/u-boot"
	# MMC_PCI includes this header on every architecture; riscv has none.
	: >"$work/u-boot/arch/riscv/include/asm/acpi_table.h"
	(
		cd "$work/u-boot" || exit
		SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -S Timestamp)
		export SOURCE_DATE_EPOCH CROSS_COMPILE=$uboot_cross
		unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES CFLAGS CPPFLAGS LDFLAGS
		quietly "$work/log" make qemu-riscv64_smode_defconfig
		quietly "$work/log" scripts/kconfig/merge_config.sh -m .config "$here/uboot.config"
		quietly "$work/log" make olddefconfig
		uboot_check_config .config
		quietly "$work/log" make -j"$(nproc)" u-boot.bin
		cp u-boot.bin "$dir/u-boot.bin"
		cp .config "$dir/config"
		{
			printf 'version=%s\n' "$(dpkg-parsechangelog -S Version)"
			printf 'compiler=%s\n' "$(${uboot_cross}gcc --version | sed -n 1p)"
			printf 'config_sha256=%s\n' "$(sha256_file .config)"
			printf 'sha256=%s\n' "$(sha256_file u-boot.bin)"
		} >"$dir/u-boot.txt"
	)
}

# Kconfig drops what it can't satisfy without a word.
uboot_check_config() {
	local line name

	while read -r line; do
		case $line in
		CONFIG_*) grep -qxF -- "$line" "$1" || die "U-Boot's configuration lost $line" ;;
		'# CONFIG_'*)
			name=${line#\# }
			name=${name%% *}
			! grep -q "^$name=" "$1" || die "U-Boot's configuration kept $name"
			;;
		esac
	done <"$here/uboot.config"
}

# uboot_make: sets `uboot` to the directory that holds u-boot.bin.
uboot_make() {
	local source

	cache_make u-boot-source "$(hash_text bookworm u-boot)" uboot_fetch
	source=$entry
	cache_make u-boot "$(hash_files "$here/uboot.sh" "$here/uboot.config" "$source"/*.dsc \
		<(${uboot_cross}gcc --version))" uboot_build "$source"
	uboot=$entry
}

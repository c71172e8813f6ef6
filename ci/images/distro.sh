# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# linux-distro: Debian with systemd on an ext4 card, as people install it: a
# getty with a login, a check of the file system at boot, systemd-timesyncd,
# and a first boot that differs from the others.
#
# The packages are unpacked here, without privilege, and configured where they
# will run: by dpkg in an emulated machine that starts from the card.  So
# neither root is needed nor a kernel that runs foreign programs.

distro_packages='?essential systemd systemd-sysv systemd-timesyncd udev dbus kmod login passwd libpam-runtime mount e2fsprogs'
distro_modules='sdhci-pci mmc_block crc32c_generic ext4'
distro_links='sh mount mkdir insmod sleep switch_root chroot poweroff cat'
distro_mib=256
distro_fs_mib=224
distro_user=root
distro_password=sameboard
# No getty comes where the console's device was not announced in time: emulators are slow.
distro_arguments='systemd.default_device_timeout_sec=900'

# distro_fetch DIR: debs/ and sources, verified by apt against signed lists.
distro_fetch() {
	local dir=$1 root=$1/stage/apt

	say FETCH "Debian for linux-distro ($linux_arch, $linux_suite)"
	apt_root "$root" "$linux_arch"
	apt_update "$root" "deb [arch=$linux_arch target=Packages %s $linux_suite main"
	# shellcheck disable=SC2086
	quietly "$root/log" apt-get "${apt[@]}" install --download-only -y --no-install-recommends $distro_packages
	mkdir "$dir/debs"
	mv "$root"/cache/archives/*.deb "$dir/debs"
	# The names carry the versions.
	(cd "$dir/debs" && printf '%s\n' *.deb) >"$dir/versions"
}

# distro_stage CARD LINUX INITRD LOG: a machine boots the card and configures it;
# what it says last tells how that went.
distro_stage() {
	local card=$1 linux=$2 initrd=$3 log=$4

	timeout 1800 qemu-system-riscv64 -M virt -m 1024 -smp 1 -display none -monitor none -no-reboot \
		-serial stdio -kernel "$linux/Image" -initrd "$initrd" \
		-append 'console=ttyS0 loglevel=4 second-stage' \
		-device sdhci-pci -drive "if=none,id=card,format=raw,cache=unsafe,file=$card" \
		-device sd-card,drive=card </dev/null >"$log" 2>&1 ||
		die "the machine that configures linux-distro failed: $log"
	grep -q '^second stage: done' "$log" || {
		tail -n 40 "$log" >&2
		die "linux-distro could not be configured"
	}
}

# distro_initrd DIR LINUX: busybox and the modules that reach the card's root.
distro_initrd() {
	local dir=$1 linux=$2

	# shellcheck disable=SC2086
	initramfs_links=$distro_links initramfs_init=$here/distro-init \
		initramfs_base "$dir/initrd.d" "$linux" $distro_modules
	find "$dir/initrd.d" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	(cd "$dir/initrd.d/root" && find . -print0 | sort -z |
		cpio --null -o -H newc -R 0:0 --reproducible --quiet) | gzip -9 -n >"$dir/initrd"
	rm -rf -- "$dir/initrd.d"
}

# distro_build DIR DEBS LINUX: root.ext4, of what is on the card all but the agent.
distro_build() {
	local dir=$1 debs=$2 linux=$3 work=$1/stage

	mkdir -p "$work"
	distro_initrd "$work" "$linux"
	say UNPACK "Debian for linux-distro"
	quietly "$work/log" fakeroot -- "$here/distro-tree" "$debs" "$linux" "$work/initrd" "$work/root" \
		"$work/root.ext4" "$distro_fs_mib" "$distro_password"
	distro_card "$work/card" "$work/root.ext4"
	say BUILD "linux-distro is configured by itself (a minute)"
	distro_stage "$work/card" "$linux" "$work/initrd" "$work/log"
	dd if="$work/card" of="$dir/root.ext4" bs=1M skip=1 count="$distro_fs_mib" conv=sparse status=none
	# What still stands in the journal would be written over what is put in later.
	fsck.ext4 -fy "$dir/root.ext4" >"$work/log" 2>&1 || [ $? = 1 ] || {
		cat "$work/log" >&2
		die "the file system of linux-distro is damaged"
	}
	mv "$work/initrd" "$dir/initrd"
	cp "$work/root/etc/debian_version" "$dir/release"
}

# distro_card IMAGE EXT4: one partition up to the end of the card, which the file
# system does not fill: the first boot makes it grow.
distro_card() {
	local image=$1 id

	id=$(sha256_file "$2" | cut -c1-8)
	rm -f -- "$image"
	truncate -s "${distro_mib}M" "$image"
	printf 'label: dos\nlabel-id: 0x%s\nstart=%s, type=83, bootable\n' "$id" "$card_first_sector" |
		sfdisk -q --no-tell-kernel "$image"
	dd if="$2" of="$image" bs=1M seek="$((card_first_sector / 2048))" conv=notrunc,sparse status=none
}

# distro_keys LINUX: sets `distro_debs` and `distro_key` where the packages are there.
distro_find_key() {
	distro_debs=$cache_root/distro-debs-$(hash_text "$linux_suite" "$distro_packages")
	[ -f "$distro_debs/versions" ] || return
	distro_key=$(hash_files "$here"/distro* "$here/initramfs.sh" "$distro_debs/versions" \
		"$1/version" "$1/busybox-version")
}

# distro_find LINUX: sets `distro` if the cache has it, else to nothing; builds nothing.
distro_find() {
	distro=
	! distro_find_key "$1" || [ ! -d "$cache_root/distro-$distro_key" ] ||
		distro=$cache_root/distro-$distro_key
}

# distro_make LINUX: sets `distro` to the directory of root.ext4 and initrd.
distro_make() {
	need qemu-system-riscv64 fakeroot mke2fs fsck.ext4 debugfs dumpe2fs
	cache_make distro-debs "$(hash_text "$linux_suite" "$distro_packages")" distro_fetch
	distro_find_key "$1"
	cache_make distro "$distro_key" distro_build "$distro_debs" "$1"
	distro=$entry
}

# distro_put EXT4 FILE NAME: a program of root's in the file system, without mounting it.
distro_put() {
	local errors

	! dumpe2fs -h "$1" 2>/dev/null | grep -q needs_recovery ||
		die "$1: its journal is not empty"
	errors=$(debugfs -w -f - "$1" <<-END 2>&1 >/dev/null | sed 1d
		write $2 $3
		set_inode_field $3 mode 0100755
		set_inode_field $3 uid 0
		set_inode_field $3 gid 0
	END
	)
	[ -z "$errors" ] || die "$3 cannot be put into $1: $errors"
}

# distro_system DIR NAME LINUX DISTRO: NAME.img and NAME.json in DIR.
distro_system() {
	local dir=$1 name=$2 kernel=$3 distro=$4 producer body version

	cp --sparse=always "$distro/root.ext4" "$dir/root.ext4"
	riscv64-linux-gnu-strip -o "$dir/agent" "$agent"
	distro_put "$dir/root.ext4" "$dir/agent" /usr/local/bin/sameboard-agent
	fsck.ext4 -fn "$dir/root.ext4" >"$dir/log" 2>&1 || die "$name: $(cat "$dir/log")"
	distro_card "$dir/$name.img" "$dir/root.ext4"
	producer=$(elf_producer "$agent" agents/linux/main.c)
	version=$(cat "$distro/release")
	body=$(
		printf '  "version": %s,\n' "$(json_string "Debian $version, $(cat "$kernel/release")")"
		printf '  "build": %s,\n' "$(linux_build "$kernel/config" "$producer")"
		printf '  "payloads": [\n    %s,\n    %s\n  ],\n' \
			"$(manifest_payload /boot/Image.gz "$linux_compressed" "$kernel/Image.gz")" \
			"$(manifest_payload /boot/initrd "$linux_initrd" "$distro/initrd")"
		printf '  "boot": %s,\n' "$(manifest_list \
			"load mmc 0:1 $linux_compressed /boot/Image.gz" \
			"load mmc 0:1 $linux_initrd /boot/initrd" \
			"unzip $linux_compressed \${kernel_addr_r}" \
			"setenv bootargs $linux_arguments $distro_arguments" \
			"booti \${kernel_addr_r} $linux_initrd:$(printf %x "$(size_file "$distro/initrd")") \${fdtcontroladdr}")"
		printf '  "first_banner": "Linux version",\n'
		printf '  "protection": "U+MMU process",\n'
		printf '  "address_space": "virtual, one per process, Sv39",\n'
		printf '  "tick": %s,\n' "$(json_string "$(linux_tick "$kernel/config")")"
		printf '  "agent_sha256": "%s",\n' "$(sha256_file "$dir/agent")"
		printf '  "prompt": "root@panel:~# ",\n'
		printf '  "login": {"user": "root", "password": %s},\n' "$(json_string "$distro_password")"
		printf '  "first_boot": {"reboots": 1, "timeout": 600},\n'
		printf '  "ready": {"command": "systemctl is-system-running", "output": ["running", "degraded"]},\n'
		printf '  "shutdown": {"command": "poweroff", "halted": "reboot: Power down", "timeout": 180},\n'
		printf '  "start_timeout": 600'
	)
	system_start='sameboard-agent --console /dev/ttyS0' system_writes=true \
		system_write "$name" "$dir/$name.img" "$body" >"$dir/$name.json"
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# The first and only file system of the Linux card: busybox, the modules that
# reach the card, and the agent.  The kernel mounts devtmpfs' nodes, so none
# have to be made here and no privilege is needed.

# What the agent and a person at the shell need the card for.
initramfs_modules='sdhci-pci mmc_block vfat nls_cp437 nls_ascii'
initramfs_links='sh mount mkdir insmod setsid cttyhack cat echo ls dmesg uname ps sync umount kill sleep top free devmem'

# initramfs_base DIR LINUX [MODULE...]: everything but the agent.
initramfs_base() {
	local dir=$1 linux=$2 link module

	shift 2

	say BUILD "initramfs"
	mkdir -p "$dir/root"/{bin,dev,lib/modules,proc,root,sys,tmp}
	install -m 755 "$linux/busybox" "$dir/root/bin/busybox"
	for link in $initramfs_links; do
		ln -s busybox "$dir/root/bin/$link"
	done
	install -m 755 "${initramfs_init:-$here/init}" "$dir/root/init"
	initramfs_loaded=' '
	: >"$dir/root/lib/modules/order"
	for module; do
		initramfs_add "$dir/root/lib/modules" "$linux/modules" "$module"
	done
}

# initramfs_add DIR TREE MODULE: the module, after what it depends on.
initramfs_add() {
	local dir=$1 tree=$2 module=${3//-/_} file name

	case $initramfs_loaded in
	*" $module "*) return ;;
	esac
	initramfs_loaded="$initramfs_loaded$module "
	file=$(find "$tree/kernel" -name "${module//_/[-_]}.ko*" | sed -n 1p)
	if [ -z "$file" ]; then
		grep -q "/${module//_/[-_]}\.ko$" "$tree/modules.builtin" && return
		die "the kernel has no module $module"
	fi
	case $file in
	*.xz) xz -dc <"$file" >"$dir/$module.ko" ;;
	*) cp "$file" "$dir/$module.ko" ;;
	esac
	for name in $(initramfs_depends "$dir/$module.ko"); do
		initramfs_add "$dir" "$tree" "$name"
	done
	riscv64-linux-gnu-strip --strip-debug "$dir/$module.ko"
	printf '%s\n' "$module" >>"$dir/order"
}

# A module carries the names of those it needs.
initramfs_depends() {
	riscv64-linux-gnu-objcopy -O binary -j .modinfo "$1" /dev/stdout |
		tr '\0' '\n' | sed -n 's/^depends=//p' | tr ',' ' '
}

# initramfs_pack BASE AGENT FILE KERNEL: equal input gives an equal archive, of
# whole sectors, so that another may follow it in memory.  The agent as it is in
# there is left as FILE.agent.  The kernel's configuration lies where
# distributions have it: the version does not say which preemption model it is.
initramfs_pack() {
	local base=$1 agent=$2 file=$3 kernel=$4 tree

	tree=$(mktemp -d "$file.XXXXXX")
	cp -a "$base/root/." "$tree"
	riscv64-linux-gnu-strip -o "$file.agent" "$agent"
	install -m 755 "$file.agent" "$tree/bin/sameboard-agent"
	install -D -m 644 "$kernel/config" "$tree/boot/config-$(cat "$kernel/release")"
	find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	(cd "$tree" && find . -print0 | sort -z |
		cpio --null -o -H newc -R 0:0 --reproducible --quiet) | gzip -9 -n >"$file"
	truncate -s %512 "$file"
	rm -rf -- "$tree"
}

# initramfs_plan PLAN FILE: an archive with nothing but the file /plan; where
# the plan begins in it is $initramfs_plan_at.  Sums of contents are not in the
# format, so a plan may be written over it.
initramfs_plan_at=116
initramfs_plan() {
	local tree

	tree=$(mktemp -d "$2.XXXXXX")
	install -m 644 "$1" "$tree/plan"
	touch -d "@$SOURCE_DATE_EPOCH" "$tree/plan"
	(cd "$tree" && echo plan | cpio -o -H newc -R 0:0 --reproducible --quiet) >"$2"
	cmp -s -n "$plan_size" -i "$initramfs_plan_at:0" "$2" "$1" ||
		die "the plan is not where it should be in its archive"
	rm -rf -- "$tree"
}

# initramfs_make LINUX: sets `initramfs` to the directory of the base with the
# modules of that kernel, and `initramfs_plain` to one for kernels without any.
initramfs_make() {
	local key

	key=$(hash_files "$here/initramfs.sh" "$here/init" "$1/version" "$1/busybox-version")
	# shellcheck disable=SC2086
	cache_make initramfs "$key" initramfs_base "$1" $initramfs_modules
	initramfs=$entry
	cache_make initramfs-plain "$key" initramfs_base "$1"
	initramfs_plain=$entry
}

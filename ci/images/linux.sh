# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# Debian trixie's riscv64 kernel and busybox, as released and signed.

linux_suite=trixie
linux_arch=riscv64
# Of the kernel's 110 MB only these are kept.
linux_keep='boot/(vmlinux|config)-|lib/modules/[^/]+/(modules\.builtin$|kernel/(drivers/(mmc|block|virtio)|fs|lib|crypto|arch)/)'

# linux_fetch DIR: Image, config, version, modules/, busybox.
linux_fetch() {
	local dir=$1 work=$1/stage root=$1/stage/apt package

	say FETCH "kernel and busybox ($linux_arch, $linux_suite)"
	apt_root "$root" "$linux_arch"
	apt_update "$root" "deb [arch=$linux_arch target=Packages %s $linux_suite main"
	package=$(apt-cache "${apt[@]}" show --no-all-versions "linux-image-$linux_arch" |
		sed -n 's/^Depends: \(linux-image-[^ ,]*\).*/\1/p')
	[ -n "$package" ] || die "$linux_suite has no kernel for $linux_arch"
	mkdir "$work/debs" "$work/root"
	(cd "$work/debs" && quietly "$root/log" apt-get "${apt[@]}" download "$package" busybox-static)
	linux_unpack "$work/debs/$package"_*.deb "$linux_keep" "$work/root"
	linux_unpack "$work/debs"/busybox-static_*.deb 'bin/busybox$' "$work/root"
	printf '%s\n' "$work"/root/boot/vmlinux-* | sed 's,.*/vmlinux-,,' >"$dir/release"
	mv "$work"/root/boot/vmlinux-* "$dir/Image"
	mv "$work"/root/boot/config-* "$dir/config"
	mv "$work"/root/usr/lib/modules/* "$dir/modules"
	mv "$work"/root/usr/bin/busybox "$dir/busybox"
	dpkg-deb -f "$work/debs/$package"_*.deb Version >"$dir/version"
	dpkg-deb -f "$work/debs"/busybox-static_*.deb Version >"$dir/busybox-version"
	gzip -6 -n -c <"$dir/Image" >"$dir/Image.gz"
	linux_check "$dir/Image"
}

# linux_unpack DEB EXPRESSION DIR: the files whose names match.
linux_unpack() {
	local deb=$1 expression=$2 dir=$3 list=$3.list

	dpkg-deb --fsys-tarfile "$deb" >"$dir.tar"
	tar -tf "$dir.tar" | grep -E -- "$expression" | grep -v '/$' >"$list"
	tar -xf "$dir.tar" -C "$dir" --no-same-owner -T "$list"
	rm -f "$dir.tar" "$list"
}

# booti takes an uncompressed image with the RISC-V header.
linux_check() {
	[ "$(dd if="$1" bs=1 skip=48 count=5 status=none)" = RISCV ] ||
		die "Debian's kernel is no RISC-V boot image any more"
}

# linux_config FILE NAME: the value, "n" where it isn't set.
linux_config() {
	local value

	value=$(sed -n "s/^CONFIG_$2=//p" "$1")
	value=${value#\"}
	value=${value%\"}
	printf '%s\n' "${value:-n}"
}

# linux_make: sets `linux` to the directory of the kernel.
linux_make() {
	cache_make linux "$(hash_files "$here/linux.sh")" linux_fetch
	linux=$entry
}

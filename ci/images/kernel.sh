# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# PREEMPT_RT and its twin for the virtual panel: Debian's package of the kernel
# source, one fragment (kernel.config) and two lines of difference
# (kernel-rt.config, kernel-twin.config).  Takes a quarter of an hour of
# processor time, once.

kernel_package=linux-source-6.12
kernel_suite=bookworm-security
kernel_cross=riscv64-linux-gnu-
kernel_models='rt twin'

# kernel_fetch DIR: source.tar.xz and version, verified by apt against signed lists.
kernel_fetch() {
	local dir=$1 root=$1/stage/apt

	say FETCH "$kernel_package ($kernel_suite)"
	apt_root "$root" "$(dpkg --print-architecture)"
	apt_update "$root" "deb [target=Packages %s $kernel_suite main"
	(cd "$dir/stage" && quietly "$root/log" apt-get "${apt[@]}" download "$kernel_package")
	dpkg-deb -f "$dir/stage/$kernel_package"_*.deb Version >"$dir/version"
	dpkg-deb --fsys-tarfile "$dir/stage/$kernel_package"_*.deb |
		tar -xO --wildcards "*/$kernel_package.tar.xz" >"$dir/source.tar.xz"
}

# kernel_make_in DIR TARGET...: make in one of the two build folders.
kernel_make_in() {
	local dir=$1

	shift
	(
		unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES CFLAGS CPPFLAGS LDFLAGS
		export KBUILD_BUILD_USER=sameboard KBUILD_BUILD_HOST=sameboard
		export KBUILD_BUILD_TIMESTAMP="@$SOURCE_DATE_EPOCH"
		quietly "$dir/log" make -C "$dir/../source" O="$dir" ARCH=riscv \
			CROSS_COMPILE="$kernel_cross" "$@"
	)
}

# kernel_configure DIR MODEL: .config, in which every line of the fragments holds.
kernel_configure() {
	local dir=$1 model=$2

	mkdir -p "$dir"
	cat "$here/kernel.config" "$here/kernel-$model.config" >"$dir/fragment"
	kernel_make_in "$dir" KCONFIG_ALLCONFIG="$dir/fragment" allnoconfig
	"$here/kernel-check" fragment "$dir/fragment" "$dir/.config" ||
		die "the $model kernel's configuration is not what was asked for"
}

# kernel_build DIR SOURCE: rt/ and twin/, each with Image, Image.gz, config,
# release and version.
kernel_build() {
	local dir=$1 source=$2 work=$1/stage model

	say UNPACK "$kernel_package $(cat "$source/version")"
	mkdir -p "$work/source"
	# Half of the tree's bytes are register lists of graphics chips.
	tar -xf "$source/source.tar.xz" -C "$work/source" --strip-components=1 \
		--exclude='*/drivers/gpu/drm/amd/include/*.h'
	for model in $kernel_models; do
		kernel_configure "$work/$model" "$model"
	done
	"$here/kernel-check" twins "$work/rt/.config" "$work/twin/.config" ||
		die "the two kernels differ in more than the preemption model"
	for model in $kernel_models; do
		say BUILD "kernel $model (about 8 minutes of processor time)"
		kernel_make_in "$work/$model" -j"$(nproc)" Image
		mkdir "$dir/$model"
		cp "$work/$model/arch/riscv/boot/Image" "$dir/$model/Image"
		cp "$work/$model/.config" "$dir/$model/config"
		cp "$source/version" "$dir/$model/version"
		cat "$work/$model/include/config/kernel.release" >"$dir/$model/release"
		gzip -6 -n -c <"$dir/$model/Image" >"$dir/$model/Image.gz"
		linux_check "$dir/$model/Image"
	done
	# As built, once more: nothing has changed a configuration on the way.
	"$here/kernel-check" twins "$dir/rt/config" "$dir/twin/config" ||
		die "the two kernels differ in more than the preemption model"
}

# kernel_key SOURCE: what an entry of the cache follows from.
kernel_key() {
	hash_files "$here"/kernel{,-rt,-twin}.config "$here"/kernel{.sh,-check} "$1/version" \
		<(${kernel_cross}gcc --version)
}

# kernel_make: sets `kernels` to the directory of both; builds them if need be.
kernel_make() {
	local source

	cache_make source "$(hash_text "$kernel_suite" "$kernel_package")" kernel_fetch
	source=$entry
	cache_make rt "$(kernel_key "$source")" kernel_build "$source"
	kernels=$entry
}

# kernel_find: sets `kernels` if the cache has both, else to nothing; builds nothing.
kernel_find() {
	local source

	kernels=
	source=$cache_root/kernels/source-$(hash_text "$kernel_suite" "$kernel_package")
	[ -f "$source/version" ] || return 0
	kernels=$cache_root/kernels/rt-$(kernel_key "$source")
	[ -d "$kernels" ] || kernels=
}

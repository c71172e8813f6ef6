# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# A small C library for the Linux agent: musl from Debian 12's source package,
# for riscv64, static.  Debian has it as a package only for the machine itself.

musl_cross=riscv64-linux-gnu-

# musl_fetch DIR: the source package, verified by apt against signed lists.
musl_fetch() {
	local dir=$1 root=$1/stage/apt

	say FETCH "musl (source, bookworm)"
	apt_root "$root" "$(dpkg --print-architecture)"
	apt_update "$root" 'deb-src [target=Sources %s bookworm main'
	(cd "$dir" && quietly "$root/log" apt-get "${apt[@]}" source --download-only musl)
}

# musl_build DIR SOURCE: include/, lib/ and facts.  The kernel's own headers are
# those of the cross compiler, which musl has none of.
musl_build() {
	local dir=$1 source=$2 work=$1/stage headers folder

	say BUILD "musl (about a minute)"
	mkdir -p "$work"
	quietly "$work/log" dpkg-source --no-copy -x "$source"/musl_*.dsc "$work/musl"
	(
		cd "$work/musl" || exit
		unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES CPPFLAGS LDFLAGS
		CFLAGS='-Os -ffunction-sections -fdata-sections' quietly "$work/log" ./configure \
			--target=riscv64-linux-musl CROSS_COMPILE="$musl_cross" --prefix=/ \
			--disable-shared --disable-wrapper
		quietly "$work/log" make -j"$(nproc)"
		quietly "$work/log" make DESTDIR="$work/root" install-libs install-headers
		printf 'version=%s\ncompiler=%s\n' "$(dpkg-parsechangelog -S Version)" \
			"$(${musl_cross}gcc --version | sed -n 1p)" >"$dir/musl.txt"
	)
	mv "$work/root/include" "$work/root/lib" "$dir"
	headers=$(dirname "$(dirname "$(${musl_cross}gcc -print-file-name=libc.a)")")/include
	for folder in asm asm-generic linux; do
		[ -d "$headers/$folder" ] || die "$headers/$folder is missing: run ci/setup (make setup)"
		cp -R "$headers/$folder" "$dir/include/"
	done
}

# musl_make: sets `musl` to the directory that holds include/ and lib/.
musl_make() {
	local source

	cache_make musl-source "$(hash_text bookworm musl)" musl_fetch
	source=$entry
	cache_make musl "$(hash_files "$here/musl.sh" "$source"/*.dsc \
		<(${musl_cross}gcc --version))" musl_build "$source"
	musl=$entry
}

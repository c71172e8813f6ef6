# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# Debian's cyclictest beside the agent on one card, so that both measure the
# same boot in a virtual board's repeatable time.

cyclictest_libraries='ld-linux-riscv64-lp64d.so.1 libc.so.6 libnuma.so.1'

# cyclictest_base DIR BASE: the initramfs of BASE with cyclictest in it.
cyclictest_base() {
	local dir=$1 base=$2 work=$1/stage root=$1/stage/apt deb name

	say FETCH "rt-tests ($linux_arch, $linux_suite)"
	apt_root "$root" "$linux_arch"
	apt_update "$root" "deb [arch=$linux_arch target=Packages %s $linux_suite main"
	mkdir "$work/debs" "$work/root"
	(cd "$work/debs" && quietly "$root/log" apt-get "${apt[@]}" download rt-tests libc6 libnuma1)
	for deb in "$work"/debs/*.deb; do
		linux_unpack "$deb" "/(cyclictest|${cyclictest_libraries// /|}|libnuma\.so\.1\..*)\$" "$work/root"
	done
	cp -a "$base/root" "$dir/root"
	install -m 755 "$(find "$work/root" -path '*/bin/cyclictest')" "$dir/root/bin/cyclictest"
	mkdir -p "$dir/root/lib"
	for name in $cyclictest_libraries; do
		install -m 755 "$(find "$work/root" -name "$name" | sed -n 1p)" "$dir/root/lib/$name"
	done
	install -m 755 "$here/cyclictest-pairs" "$dir/root/bin/cyclictest-pairs"
	for name in awk sort sed; do
		ln -s busybox "$dir/root/bin/$name"
	done
}

# cyclictest_make BASE: sets `cyclictest` to the directory of the initramfs.
cyclictest_make() {
	cache_make cyclictest "$(hash_text "${1##*/}")-$(hash_files "$here/cyclictest.sh" \
		"$here/cyclictest-pairs")" cyclictest_base "$1"
	cyclictest=$entry
}

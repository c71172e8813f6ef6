-- SPDX-License-Identifier: Apache-2.0
-- The same as the Makefile, for trees that are built by xmake: `xmake f -p cross && xmake`.

toolchain("rtsmart")
    set_kind("standalone")
    set_toolset("cc", "riscv64-unknown-linux-musl-gcc")
    set_toolset("ld", "riscv64-unknown-linux-musl-gcc")
    set_toolset("ar", "riscv64-unknown-linux-musl-ar")
toolchain_end()

target("sameboard")
    set_kind("binary")
    set_toolchains("rtsmart")
    set_languages("gnu11")
    set_optimize("faster")
    add_files("*.c", "../core/*.c", "../core/posix/*.c", "../../protocol/*.c")
    add_includedirs("../..")
    add_cflags("-mcmodel=medany", "-march=rv64imafdc", "-mabi=lp64", {force = true})
    add_ldflags("-static", "-march=rv64imafdc", "-mabi=lp64", {force = true})
    add_defines("SAMEBOARD_PLATFORM=\"unknown\"", "SAMEBOARD_TICK_HZ=1000", "SAMEBOARD_VERSION=\"0.1.0\"")

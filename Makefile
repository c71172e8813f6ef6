# SPDX-License-Identifier: Apache-2.0
#
# One Makefile for everything.  CFLAGS, CPPFLAGS, LDFLAGS and LDLIBS belong to
# the user and come last.  `make help` lists the targets; V=1 shows commands;
# SAN=1 builds with ASan and UBSan beside the plain build; WERROR=1 is for CI.

VERSION := 0.1.0
PREFIX ?= /usr/local
bindir := $(PREFIX)/bin
datadir := $(PREFIX)/share/sameboard
mandir := $(PREFIX)/share/man
completiondir := $(PREFIX)/share/bash-completion/completions
udevdir := $(PREFIX)/lib/udev/rules.d

CC ?= cc
ifeq ($(origin CC),default)
CC := gcc
endif
CFLAGS ?= -O2 -g
RISCV_CC ?= riscv64-linux-gnu-gcc
RISCV_OBJCOPY ?= riscv64-linux-gnu-objcopy
RISCV_SIZE ?= riscv64-linux-gnu-size
PKG_CONFIG ?= pkg-config

ifeq ($(SAN),1)
BUILD := build-san
san_flags := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
else
BUILD := build
san_flags :=
endif

ifeq ($(V),1)
Q :=
else
Q := @
endif
say = @printf '  %-8s %s\n'

# ---------------------------------------------------------------- flags

warnings := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wswitch-enum
ifeq ($(WERROR),1)
warnings += -Werror
endif
lib_packages := libserialport hidapi-hidraw sqlite3 libcjson zlib liblzma libzstd libcrypto libcurl libmicrohttpd
lib_cflags := $(shell $(PKG_CONFIG) --cflags $(lib_packages) 2>/dev/null)
lib_libs := $(shell $(PKG_CONFIG) --libs $(lib_packages) 2>/dev/null)
check_cflags := $(shell $(PKG_CONFIG) --cflags check 2>/dev/null)
check_libs := $(shell $(PKG_CONFIG) --libs check 2>/dev/null)

base_cppflags := -I. -I$(BUILD)/include -D_GNU_SOURCE -DSAMEBOARD_VERSION='"$(VERSION)"'
host_flags = -std=c11 $(warnings) $(san_flags) $(lib_cflags) -pthread \
	$(base_cppflags) $(CPPFLAGS) $(CFLAGS)
# Code that also runs on a target: held to stricter conversions on the host too.
target_warnings := $(warnings) -Wconversion

# ---------------------------------------------------------------- sources

programs := $(BUILD)/sameboard $(BUILD)/sameboardd $(BUILD)/vboard $(BUILD)/vboard-sdmux $(BUILD)/sameboard-agent

protocol_src := $(wildcard protocol/*.c)
agentcore_src := $(wildcard agents/core/*.c)
posix_src := $(wildcard agents/core/posix/*.c)
linux_src := $(wildcard agents/linux/*.c)
rtsmart_src := $(wildcard agents/rtsmart/*.c)
baremetal_src := $(wildcard agents/baremetal/*.c) $(wildcard agents/baremetal/*.S)
lib_src := $(protocol_src) $(agentcore_src) $(wildcard boardctl/*.c) $(wildcard db/*.c) \
	$(filter-out harness/main.c harness/daemon_main.c,$(wildcard harness/*.c))
vboard_src := $(filter-out boardctl/vboard/sdmux.c,$(wildcard boardctl/vboard/*.c))
test_src := $(wildcard tests/check_*.c)
bench_src := $(wildcard tests/bench_*.c)
fuzz_src := $(filter-out tests/fuzz/libfuzzer.c,$(wildcard tests/fuzz/*.c))
test_lib_src := $(filter-out $(test_src) $(bench_src),$(wildcard tests/*.c)) $(fuzz_src)
benches := $(patsubst tests/bench_%.c,$(BUILD)/bench-%,$(bench_src))

comma := ,
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
lib_obj := $(call obj,$(lib_src))
libsameboard := $(BUILD)/libsameboard.a
# Boards in repeatable time and lines at 1.5 Mbaud fall behind on a machine that does other things.
lone_tests := $(BUILD)/tests/check_icount $(BUILD)/tests/check_run_raised
# A lab in a virtual machine, which runs the plain programs of this one.
vm_tests := $(patsubst tests/%.c,build/tests/%,$(wildcard tests/check_vm.c tests/check_vm_*.c))
no_vm := $(if $(filter 1,$(SAN)),sanitizers)$(filter-out x86_64,$(shell uname -m))
tests := $(filter-out $(lone_tests) $(if $(no_vm),$(vm_tests:build/%=$(BUILD)/%)),$(patsubst tests/%.c,$(BUILD)/tests/%,$(test_src)))

.PHONY: all help setup demo check images install clean format format-check size
.DELETE_ON_ERROR:
.SECONDARY:

## all: build every host program (default)
all: $(programs)

## help: list the targets
help:
	@sed -n 's/^## \([^:]*\): \(.*\)/\1|\2/p' Makefile | awk -F'|' '{printf "  make %-12s %s\n", $$1, $$2}'

# Objects are rebuilt when the compiler or its flags change.
flags_now := $(CC) $(host_flags) $(RISCV_CC)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(flags_now))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(flags_now))' >$@
.PHONY: FORCE

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(if $(filter protocol/% agents/core/%,$<),-Wconversion) $(check_cflags) $(host_flags) -MMD -MP -c $< -o $@

# The watcher's rules are a data file, and in every program all the same.
bootrules_inc := $(BUILD)/include/harness/bootrules_default.inc
$(bootrules_inc): harness/rules/boot.json
	@mkdir -p $(@D)
	$(Q)sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/' $< >$@
$(BUILD)/obj/harness/bootrules.o build/fuzz/obj/harness/bootrules.o: $(bootrules_inc)

$(libsameboard): $(lib_obj)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) qcs $@ $^

link = $(CC) $(san_flags) -pthread $(CFLAGS) $(LDFLAGS)

$(BUILD)/sameboard: $(BUILD)/obj/harness/main.o $(libsameboard)
	$(say) LD $@
	$(Q)$(link) $^ $(lib_libs) -lm $(LDLIBS) -o $@

$(BUILD)/sameboardd: $(BUILD)/obj/harness/daemon_main.o $(libsameboard)
	$(say) LD $@
	$(Q)$(link) $^ $(lib_libs) -lm $(LDLIBS) -o $@

$(BUILD)/vboard: $(call obj,$(vboard_src))
	$(say) LD $@
	$(Q)$(link) $^ $(LDLIBS) -o $@

$(BUILD)/vboard-sdmux: $(call obj,boardctl/vboard/sdmux.c)
	$(say) LD $@
	$(Q)$(link) $^ $(LDLIBS) -o $@

# ---------------------------------------------------------------- agents

$(BUILD)/sameboard-agent: $(call obj,$(linux_src) $(posix_src)) $(libsameboard)
	$(say) LD $@
	$(Q)$(link) $^ -lm $(LDLIBS) -o $@

# The Linux agent of the target: one static riscv64 program.
riscv_obj = $(patsubst %,$(BUILD)/riscv64/obj/%.o,$(basename $(1)))
riscv_codegen := -O2
riscv_flags = -std=c11 $(riscv_codegen) -g $(target_warnings) -I. -D_GNU_SOURCE -DSAMEBOARD_VERSION='"$(VERSION)"' \
	-DAGENT_FLAGS='"$(riscv_codegen)"' \
	-ffunction-sections -fdata-sections -pthread

$(BUILD)/riscv64/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) CC "$< (riscv64)"
	$(Q)$(RISCV_CC) $(riscv_flags) $(if $(filter protocol/% agents/core/%,$<),$(if $(filter agents/core/posix/%,$<),,-ffreestanding)) -MMD -MP -c $< -o $@

$(BUILD)/riscv64/sameboard-agent: $(call riscv_obj,$(protocol_src) $(agentcore_src) $(posix_src) $(linux_src))
	$(say) LD $@
	$(Q)$(RISCV_CC) $(riscv_flags) -static -Wl,--gc-sections $^ -o $@

# The same, small: against musl, which ci/images builds from Debian's source.  Its ioctl() takes
# an int, and the kernel's numbers are not.
musl_flags = $(subst $(riscv_codegen),$(musl_codegen),$(riscv_flags)) -DAGENT_LIBC='"musl"' -Wno-sign-conversion \
	-nostdinc -isystem $(BUILD)/musl/include -isystem $(shell $(RISCV_CC) -print-file-name=include)
musl_codegen := -Os
musl_obj = $(patsubst %,$(BUILD)/riscv64-musl/obj/%.o,$(basename $(1)))

$(BUILD)/musl/musl.txt: ci/images/build-musl ci/images/musl.sh
	@mkdir -p $(BUILD)
	$(Q)ci/images/build-musl $(abspath $(BUILD))

$(BUILD)/riscv64-musl/obj/%.o: %.c $(BUILD)/flags | $(BUILD)/musl/musl.txt
	@mkdir -p $(@D)
	$(say) CC "$< (riscv64, musl)"
	$(Q)$(RISCV_CC) $(musl_flags) -MMD -MP -c $< -o $@

$(BUILD)/riscv64-musl/sameboard-agent: $(call musl_obj,$(protocol_src) $(agentcore_src) $(posix_src) $(linux_src))
	$(say) LD $@
	$(Q)$(RISCV_CC) $(musl_flags) -static -nostdlib -Wl,--gc-sections $(patsubst %,$(BUILD)/musl/lib/%.o,crt1 crti) $^ \
		-L$(BUILD)/musl/lib -Wl,--start-group -lc -lgcc -Wl,--end-group $(BUILD)/musl/lib/crtn.o -o $@

## agent-musl: the Linux agent for riscv64, small: static with musl, which is built once
.PHONY: agent-musl
agent-musl: $(BUILD)/riscv64-musl/sameboard-agent

# The same for arm64 (Raspberry Pi 5), where there is a compiler for it.
AARCH64_CC ?= aarch64-linux-gnu-gcc
agent_src := $(protocol_src) $(agentcore_src) $(posix_src) $(linux_src)
$(BUILD)/arm64/sameboard-agent: $(agent_src) $(wildcard protocol/*.h agents/core/*.h agents/core/posix/*.h agents/linux/*.h)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(AARCH64_CC) $(riscv_flags) -static -Wl,--gc-sections $(agent_src) -o $@

## agent-arm64: the Linux agent for arm64 (needs aarch64-linux-gnu-gcc)
.PHONY: agent-arm64
agent-arm64: $(BUILD)/arm64/sameboard-agent

# Bare metal: one image and its test builds, each with its own objects.
baremetal_variants := baremetal dead-timer chatter watchdog-left-on long-tick long-handoff tick-spin reset
baremetal_codegen := -Os -march=rv64imac_zicsr_zifencei -mabi=lp64 -mcmodel=medany
baremetal_flags = -std=c11 $(baremetal_codegen) -g $(target_warnings) -I. -DSAMEBOARD_VERSION='"$(VERSION)"' \
	-DBAREMETAL_FLAGS='"$(baremetal_codegen) $(baremetal_small)"' -ffreestanding -fno-builtin -nostdlib -fno-pic -ffunction-sections \
	-fdata-sections -fno-stack-protector -fno-asynchronous-unwind-tables -fno-tree-loop-distribute-patterns
# All in one unit, and one copy of how functions begin and end; but not what lies between an
# interrupt and the thread, and not what the compiler itself may call.
baremetal_small := -flto -ffat-lto-objects -msave-restore -fno-inline-functions-called-once
baremetal_plain := agents/baremetal/timer.c agents/baremetal/trap.c agents/baremetal/mem.c
# Linked at 0 and moved by start.S: so every address in data must be relative.
baremetal_ldflags := -Wl,-pie -Wl,--no-dynamic-linker -Wl,--gc-sections -Wl,--build-id=none -Wl,--no-warn-rwx-segments

baremetal_now = $(RISCV_CC) $(baremetal_flags) $(baremetal_small) $(baremetal_plain) $(baremetal_ldflags)
$(BUILD)/baremetal/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(baremetal_now))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(baremetal_now))' >$@

define baremetal_build
$(BUILD)/baremetal/$(1)/%.o: %.c $(BUILD)/baremetal/flags
	@mkdir -p $$(@D)
	$$(say) CC "$$< ($(1))"
	$$(Q)$$(RISCV_CC) $$(baremetal_flags) $$(if $$(filter $$(baremetal_plain),$$<),,$$(baremetal_small)) $(2) -MMD -MP -c $$< -o $$@
$(BUILD)/baremetal/$(1)/%.o: %.S $(BUILD)/baremetal/flags
	@mkdir -p $$(@D)
	$$(say) AS "$$< ($(1))"
	$$(Q)$$(RISCV_CC) $$(baremetal_flags) $(2) -MMD -MP -c $$< -o $$@
$(BUILD)/baremetal/$(1).elf: $$(patsubst %,$(BUILD)/baremetal/$(1)/%.o,$$(basename $$(protocol_src) $$(agentcore_src) $$(baremetal_src))) agents/baremetal/baremetal.ld
	$$(say) LD $$@
	$$(Q)$$(RISCV_CC) $$(baremetal_flags) $$(baremetal_small) -static $$(baremetal_ldflags) -Wl,-T,agents/baremetal/baremetal.ld $$(filter %.o,$$^) -lgcc -o $$@
$(BUILD)/baremetal/$(1).bin: $(BUILD)/baremetal/$(1).elf
	$$(Q)$$(RISCV_OBJCOPY) -O binary $$< $$@
endef
$(eval $(call baremetal_build,baremetal,))
$(eval $(call baremetal_build,dead-timer,-DTEST_BUILD_DEAD_TIMER))
$(eval $(call baremetal_build,chatter,-DTEST_BUILD_CHATTER))
$(eval $(call baremetal_build,watchdog-left-on,-DTEST_BUILD_WATCHDOG_LEFT_ON))
$(eval $(call baremetal_build,long-tick,-DTEST_BUILD_LONG_TICK))
$(eval $(call baremetal_build,long-handoff,-DTEST_BUILD_LONG_HANDOFF))
$(eval $(call baremetal_build,tick-spin,-DTEST_BUILD_TICK_SPIN))
$(eval $(call baremetal_build,reset,-DTEST_BUILD_RESET))
# Only for tests: what watchdog-left-on does, sooner.
$(eval $(call baremetal_build,watchdog-short,-DTEST_BUILD_WATCHDOG_LEFT_ON -DTEST_BUILD_WATCHDOG_MS=2000))
$(BUILD)/tests/check_baremetal: | $(patsubst %,$(BUILD)/baremetal/%.bin,$(baremetal_variants) watchdog-short)

target_payloads := $(BUILD)/riscv64/sameboard-agent $(BUILD)/riscv64-musl/sameboard-agent \
	$(patsubst %,$(BUILD)/baremetal/%.bin,$(baremetal_variants))

## agents: build the agents for the targets
.PHONY: agents
agents: $(target_payloads)

## images: build the card images of the virtual panel (cached outside the tree)
# There is one set of images; sanitizers are for programs of the host.
images:
	$(Q)$(MAKE) --no-print-directory SAN= agents
	$(Q)ci/images/build $(abspath build)

## images-rt: the same with PREEMPT_RT and its twin; kernels are built once (quarter of an hour)
.PHONY: images-rt
images-rt:
	$(Q)$(MAKE) --no-print-directory SAN= agents
	$(Q)ci/images/build $(abspath build) rt

## images-distro: the same with Debian and systemd (40 MB of packages, three minutes of processor time, once)
.PHONY: images-distro
images-distro:
	$(Q)$(MAKE) --no-print-directory SAN= agents
	$(Q)ci/images/build $(abspath build) distro

## images-d1: Debian's kernel for the Lichee RV 86 Panel (untested on hardware; D1_BOOT=FILE brings SPL and U-Boot)
.PHONY: images-d1
images-d1:
	$(Q)$(MAKE) --no-print-directory SAN= agents
	$(Q)ci/images/build-d1 $(abspath build)

## vm: build the virtual machine that check-vm puts a lab into (cached outside the tree)
.PHONY: vm
vm:
	$(Q)$(if $(no_vm),echo 'no virtual machine: $(no_vm)',ci/vm/build $(abspath build))

# ---------------------------------------------------------------- tests

$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(call obj,$(test_lib_src)) $(call obj,$(posix_src)) $(libsameboard)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(link) $^ $(check_libs) $(lib_libs) -lm $(LDLIBS) -o $@

# Where fuzz targets have boardctl's time in their hand.
fuzz_wrap := $(patsubst %,-Wl$(comma)--wrap=monotonic_%,get_us get_ms sleep_until_us)
$(BUILD)/tests/check_fuzz: link += $(fuzz_wrap)

# Fuzzers: the same targets as in tests/check_fuzz.c, with libFuzzer of clang.
FUZZ_SECONDS ?= 600
FUZZ_CORES ?= $(shell nproc)
FUZZ_CC ?= clang
fuzz_names := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz_flags = -std=c11 -O1 -g $(warnings) -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=undefined -fprofile-instr-generate -fcoverage-mapping \
	$(lib_cflags) $(check_cflags) -pthread $(base_cppflags)
fuzz_obj = $(patsubst %.c,build/fuzz/obj/%.o,$(1))

build/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC "$< (fuzz)"
	$(Q)$(FUZZ_CC) $(fuzz_flags) -MMD -MP -c $< -o $@

build/fuzz/lib.a: $(call fuzz_obj,$(lib_src))
	$(Q)rm -f $@ && $(AR) qcs $@ $^

$(addprefix build/fuzz/,$(fuzz_names)): build/fuzz/%: tests/fuzz/libfuzzer.c $(call fuzz_obj,$(fuzz_src) tests/vectors.c) build/fuzz/lib.a
	$(say) LD $@
	$(Q)$(FUZZ_CC) $(fuzz_flags) $(fuzz_wrap) -fsanitize=fuzzer -DFUZZ_TARGET=fuzz_$* $^ $(check_libs) $(lib_libs) -lm -o $@

## fuzz: run each fuzzer (FUZZ=NAMES) for FUZZ_SECONDS (600) on FUZZ_CORES, coverage printed
.PHONY: fuzz
FUZZ ?= $(fuzz_names)
fuzz: $(addprefix build/fuzz/,$(FUZZ)) build/tests/check_fuzz
	$(Q)tests/fuzz/run build/fuzz $(FUZZ_SECONDS) $(FUZZ_CORES) $(FUZZ)

# Benchmarks of the harness itself.
bench_lib_src := tests/samples.c $(filter-out tests/bench/pacer.c,$(wildcard tests/bench/*.c)) \
	$(filter-out agents/linux/main.c,$(linux_src)) $(posix_src)
$(BUILD)/bench-%: $(BUILD)/obj/tests/bench_%.o $(call obj,$(bench_lib_src)) $(libsameboard)
	$(say) LD $@
	$(Q)$(link) $^ $(lib_libs) -lm $(LDLIBS) -o $@

# The virtual panel's line between two ptys; a program, since vboard shares nothing with the drivers.
$(BUILD)/line-pacer: $(call obj,tests/bench/pacer.c $(patsubst %,boardctl/vboard/%.c,line loop pty fault log))
	$(say) LD $@
	$(Q)$(link) $^ $(LDLIBS) -o $@
$(BUILD)/bench-line $(BUILD)/bench-raised: | $(BUILD)/line-pacer
$(BUILD)/bench-report: | $(BUILD)/sameboard

# What packing costs the target, counted by an emulator that runs nothing else.
bench_target_src := $(wildcard tests/bench_target/*.c) agents/core/pack.c protocol/codec.c protocol/series.c agents/baremetal/mem.c
bench_target_series := tests/data/latency/G_grid_idle_fifo90.ns.txt

$(BUILD)/bench-target/bench_samples.inc: $(bench_target_series)
	@mkdir -p $(@D)
	$(Q)awk '{ printf "%d,\n", int($$1 * 24 / 1000) }' $< >$@

$(BUILD)/bench-target/bench.elf: $(bench_target_src) $(wildcard tests/bench_target/*.S tests/bench_target/*.ld protocol/*.h agents/core/*.h) $(BUILD)/bench-target/bench_samples.inc
	$(say) LD $@
	$(Q)$(RISCV_CC) $(filter-out -fno-pic,$(baremetal_flags)) -fno-pie -no-pie -static -I$(BUILD)/bench-target \
		-Wl,--gc-sections -Wl,--build-id=none -Wl,--no-warn-rwx-segments -Wl,-T,tests/bench_target/bench_target.ld \
		$(filter %.c %.S,$^) -lgcc -o $@

## bench: codec, line, store and target measured, and which aims are held (five minutes)
.PHONY: bench
bench:
	$(Q)ci/setup
	$(Q)$(MAKE) --no-print-directory $(parallel) $(benches) $(BUILD)/bench-target/bench.elf
	$(Q)BUILD=$(BUILD) tests/bench/run

## bench-cyclictest: cyclictest and wake-ups in ten pairs on this machine, and in the virtual panel
.PHONY: bench-cyclictest
bench-cyclictest:
	$(Q)ci/setup
	$(Q)$(MAKE) --no-print-directory $(parallel) SAN= all agents
	$(Q)ci/images/build $(abspath build) cyclictest
	$(Q)BUILD=build tests/bench/cyclictest-panel
	$(Q)BUILD=build tests/bench/cyclictest

# Every core, unless the user has said otherwise.
parallel = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

# Long runs of their own, beside the Check programs.
$(BUILD)/tests/campaign-%: $(BUILD)/obj/tests/campaign/%.o $(call obj,$(test_lib_src)) $(call obj,$(posix_src)) $(libsameboard)
	$(say) LD $@
	$(Q)$(link) $^ $(check_libs) $(lib_libs) -lm $(LDLIBS) -o $@

## campaign-wire: 1,000 seeded sessions over bad lines, in simulated time
.PHONY: campaign-wire
campaign-wire: $(BUILD)/tests/campaign-wire
	$(Q)$(BUILD)/tests/campaign-wire

## campaign-vboard: 50 pulls over bad lines of the virtual panel, and a raised one
.PHONY: campaign-vboard
campaign-vboard: $(programs) $(BUILD)/tests/campaign-vboard
	$(Q)$(BUILD)/tests/campaign-vboard

## campaign-many: 64 boards (CAMPAIGN_BOARDS=N) pulled at once through one daemon
.PHONY: campaign-many
campaign-many: $(programs) $(BUILD)/tests/campaign-many
	$(Q)$(BUILD)/tests/campaign-many

# Loaded into programs under test: one lets libserialport open vboard's
# pseudo-terminals, one deceives the Linux agent.
preloads := $(patsubst tests/preload/%.c,$(BUILD)/tests/%.so,$(wildcard tests/preload/*.c))
$(preloads): $(BUILD)/tests/%.so: tests/preload/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) -std=c11 $(warnings) -D_GNU_SOURCE $(CPPFLAGS) $(CFLAGS) -fPIC -shared $< -o $@
$(BUILD)/tests/check_run $(BUILD)/tests/check_agent_traps: | $(preloads)

## setup: install what is missing (Debian 12)
setup:
	$(Q)ci/setup

## demo: set up, build, and run the main job on the virtual panel
demo:
	$(Q)ci/setup
	$(Q)$(MAKE) --no-print-directory $(parallel) all images
	$(Q)ci/demo

## check: set up, build, and run all tests (SAN=1: with sanitizers)
check:
	$(Q)ci/setup
	$(Q)$(MAKE) --no-print-directory $(parallel) all agents images vm
	$(Q)$(MAKE) --no-print-directory $(parallel) check-built

.PHONY: check-built
check-built: $(programs) $(benches) $(tests)
	$(Q)BUILD=$(BUILD) tests/run $(tests)

## check-vm: only the lab in a virtual machine: real ttyUSB ports, a card reader, and what is pulled out
.PHONY: check-vm
check-vm:
	$(Q)ci/setup
	$(Q)$(MAKE) --no-print-directory $(parallel) SAN= all images vm $(vm_tests)
	$(Q)BUILD=build tests/run $(vm_tests)

## campaign: kill something under each of 200 jobs (CAMPAIGN=N; goes on where it was stopped)
CAMPAIGN ?= 200
.PHONY: campaign
campaign: $(programs) $(BUILD)/tests/check_campaign images
	$(Q)SAMEBOARD_CAMPAIGN=$(CAMPAIGN) SAMEBOARD_CAMPAIGN_FILE=$(BUILD)/campaign.txt $(BUILD)/tests/check_campaign

## campaign-boots: 200 boots (CAMPAIGN_BOOTS=N) with random faults of the wires; goes on where it was stopped
CAMPAIGN_BOOTS ?= 200
.PHONY: campaign-boots
campaign-boots: $(programs) $(BUILD)/tests/check_boots images
	$(Q)SAMEBOARD_BOOTS=$(CAMPAIGN_BOOTS) SAMEBOARD_BOOTS_FILE=$(BUILD)/boots.txt $(BUILD)/tests/check_boots

## campaign-card: 10,000 writes (CAMPAIGN_CARDS=N) to cards that damage what they are given
CAMPAIGN_CARDS ?= 10000
.PHONY: campaign-card
campaign-card: $(BUILD)/tests/check_card_campaign
	$(Q)SAMEBOARD_CARD_CAMPAIGN=$(CAMPAIGN_CARDS) $(BUILD)/tests/check_card_campaign

## campaign-traps: each trap and each clean system ten times (CAMPAIGN_TRAPS=N); goes on where it was stopped
CAMPAIGN_TRAPS ?= 10
.PHONY: campaign-traps
campaign-traps: $(programs) $(BUILD)/tests/check_traps images
	$(Q)SAMEBOARD_TRAPS=$(CAMPAIGN_TRAPS) SAMEBOARD_TRAPS_FILE=$(BUILD)/traps.txt $(BUILD)/tests/check_traps

## campaign-rt: PREEMPT_RT against its twin in repeatable time; builds their kernels if need be
.PHONY: campaign-rt
campaign-rt: $(programs) $(BUILD)/tests/check_preempt_rt
	$(Q)$(MAKE) --no-print-directory images-rt
	$(Q)SAMEBOARD_RT=compare $(BUILD)/tests/check_preempt_rt

## check-distro: suite smoke on Debian with systemd; makes its image if need be
.PHONY: check-distro
check-distro: $(programs) $(BUILD)/tests/check_distro
	$(Q)$(MAKE) --no-print-directory images-distro
	$(Q)SAMEBOARD_DISTRO=smoke $(BUILD)/tests/check_distro

## check-alone: repeatable time and raised lines, on a machine that does nothing else
.PHONY: check-alone
check-alone: $(programs) $(lone_tests)
	$(Q)$(MAKE) --no-print-directory images
	$(Q)BUILD=$(BUILD) JOBS=1 tests/run $(lone_tests)

## size: print what the code for the targets weighs; fails where a limit that holds is exceeded
# weigh NAME, LIMIT: the last line of what `size` printed must begin with so many bytes at most.
weigh = awk '{ text = $$1 } END { printf "%s: %d of %d bytes of text\n", "$(1)", text, $(2); exit !text || text > $(2) }'
size: agents agent-musl $(call riscv_obj,$(rtsmart_src))
	$(Q)$(RISCV_SIZE) $(BUILD)/baremetal/baremetal.elf $(BUILD)/riscv64/sameboard-agent $(BUILD)/riscv64-musl/sameboard-agent
	$(Q)$(RISCV_SIZE) -t $(patsubst %.c,$(BUILD)/baremetal/baremetal/%.o,$(protocol_src))
	$(Q)$(RISCV_SIZE) -t $(patsubst %.c,$(BUILD)/baremetal/baremetal/%.o,$(protocol_src)) | tail -n 1 | $(call weigh,protocol/ at -Os,6144)
	$(Q)$(RISCV_SIZE) -A $(BUILD)/baremetal/baremetal.elf | awk '$$1 == ".text" { print $$2 }' | $(call weigh,bare metal ($(size_aimed) are aimed at),$(size_baremetal))
	$(Q)$(RISCV_SIZE) -t $(call riscv_obj,$(protocol_src) $(agentcore_src) $(posix_src) $(rtsmart_src)) | tail -n 1 | $(call weigh,RT-Smart agent without its libc,49152)
	$(Q)$(RISCV_SIZE) $(BUILD)/riscv64-musl/sameboard-agent | tail -n 1 | $(call weigh,Linux agent with musl,256000)
# What it must not grow beyond, and what it should come down to.
size_baremetal := 21504
size_aimed := 16384

formatted = $(shell find protocol agents boardctl db harness tests -name '*.[ch]')

## format: run clang-format over the sources
format:
	$(Q)clang-format -i $(formatted)

## format-check: fail where clang-format would change something
format-check:
	$(Q)clang-format --dry-run --Werror $(formatted)

## install: install programs, suites, rules, published results, man pages and shell completion (PREFIX, DESTDIR)
install: all
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(datadir)/suites $(DESTDIR)$(datadir)/rules $(DESTDIR)$(datadir)/schema $(DESTDIR)$(datadir)/reference \
		$(DESTDIR)$(mandir)/man1 $(DESTDIR)$(completiondir) $(DESTDIR)$(udevdir)
	install -m 755 $(BUILD)/sameboard $(BUILD)/sameboardd $(BUILD)/vboard $(BUILD)/vboard-sdmux $(BUILD)/sameboard-agent $(DESTDIR)$(bindir)
	install -m 644 harness/suites/*.json $(DESTDIR)$(datadir)/suites
	install -m 644 harness/rules/*.json $(DESTDIR)$(datadir)/rules
	install -m 644 harness/schema/*.json $(DESTDIR)$(datadir)/schema
	install -m 644 harness/reference/*.json $(DESTDIR)$(datadir)/reference
	install -m 644 harness/man/*.1 $(DESTDIR)$(mandir)/man1
	install -m 644 ci/60-sameboard.rules $(DESTDIR)$(udevdir)
	install -m 644 harness/completion/sameboard.bash $(DESTDIR)$(completiondir)/sameboard

## clean: remove what was built in the tree (the cache stays)
clean:
	rm -rf build build-san

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

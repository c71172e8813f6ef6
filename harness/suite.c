/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/suite.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/utf8.h"
#include "harness/gates.h"
#include "harness/word.h"

/* A window as written. */
struct written {
	const char *bench;
	uint32_t n, period_us, settle_ms, duration_ms, seed;
	enum catalogue_load load;
	enum suite_phase phase;
	const struct document_node *node;
};

/* What document_read() fills. */
struct file {
	struct suite suite;
	const char **primary;
	struct written *windows;
};

static const char *const load_words[] = {"idle", "cpu", "cache", "ipc", "light", "moderate",
	"heavy", "mixed", "io", "rx", "thermal", NULL};
static const char *const time_words[] = {"real", "icount", NULL};
static const char *const phase_words[] = {"aligned", "arbitrary", "both", NULL};
static const char *const statistic_words[] = {"p50", "p90", "p95", "p99", "p99.9", NULL};

static const struct document_key window_keys[] = {
	{.name = "bench",
		.kind = DOCUMENT_STRING,
		.required = true,
		.expected = "the name of a benchmark, like \"wake.idle\"",
		DOCUMENT_AT(struct written, bench)},
	{.name = "n",
		.kind = DOCUMENT_INTEGER,
		.min = 1,
		.max = 100000,
		.unit = "samples",
		DOCUMENT_AT(struct written, n)},
	{.name = "period_us",
		.kind = DOCUMENT_INTEGER,
		.min = 50,
		.max = 1000000,
		.unit = "us",
		DOCUMENT_AT(struct written, period_us)},
	{.name = "load",
		.kind = DOCUMENT_WORD,
		.words = load_words,
		DOCUMENT_AT(struct written, load)},
	{.name = "settle_ms",
		.kind = DOCUMENT_INTEGER,
		.min = 10,
		.max = 60000,
		.unit = "ms",
		DOCUMENT_AT(struct written, settle_ms)},
	{.name = "phase",
		.kind = DOCUMENT_WORD,
		.words = phase_words,
		DOCUMENT_AT(struct written, phase)},
	{.name = "duration_ms",
		.kind = DOCUMENT_INTEGER,
		.min = 100,
		.max = 3600000,
		.unit = "ms",
		DOCUMENT_AT(struct written, duration_ms)},
	{.name = "seed",
		.kind = DOCUMENT_INTEGER,
		.min = 0,
		.max = 4294967295.0,
		DOCUMENT_AT(struct written, seed)},
};

static const struct written window_defaults = {
	.period_us = 1000,
	.settle_ms = 200,
	.phase = SUITE_PHASE_BOTH,
	.seed = 1,
};

static const struct document_shape window_shape = {
	.noun = "a window",
	.keys = window_keys,
	.key_count = sizeof(window_keys) / sizeof(window_keys[0]),
	.size = sizeof(struct written),
	.defaults = &window_defaults,
	.name_offset = SIZE_MAX,
	.node_offset = offsetof(struct written, node),
};

static const struct document_key ppm_value = {
	.name = "",
	.kind = DOCUMENT_NUMBER,
	.min = -100000,
	.max = 100000,
	.unit = "ppm",
	DOCUMENT_AT(struct suite_clock_error, ppm),
};

static const struct document_shape ppm_shape = {
	.noun = "a clock error",
	.size = sizeof(struct suite_clock_error),
	.name_offset = offsetof(struct suite_clock_error, system),
	.node_offset = SIZE_MAX,
	.value = &ppm_value,
};

static const struct document_key trap_value = {
	.name = "",
	.kind = DOCUMENT_STRING,
	.expected = TRAP_EXPECTED,
	DOCUMENT_AT(struct trap, expected),
};

static const struct document_shape trap_shape = {
	.noun = "a trap",
	.size = sizeof(struct trap),
	.name_offset = offsetof(struct trap, system),
	.node_offset = SIZE_MAX,
	.value = &trap_value,
};

static const struct document_key required_value = {
	.name = "",
	.kind = DOCUMENT_STRING,
	.expected = "the value of a fact, or \"*\" for any",
	DOCUMENT_AT(struct suite_required, value),
};

static const struct document_shape required_shape = {
	.noun = "a fact",
	.size = sizeof(struct suite_required),
	.name_offset = offsetof(struct suite_required, fact),
	.node_offset = SIZE_MAX,
	.value = &required_value,
};

static const struct document_key suite_keys[] = {
	{.name = "name",
		.kind = DOCUMENT_STRING,
		.expected = "a name of the suite",
		DOCUMENT_AT(struct file, suite.name)},
	{.name = "description",
		.kind = DOCUMENT_STRING,
		.min = -1,
		.expected = "a sentence on the suite",
		DOCUMENT_AT(struct file, suite.description)},
	{.name = "systems",
		.kind = DOCUMENT_STRINGS,
		.required = true,
		.min = 1,
		.max = 32,
		.expected = "the name of a system, like \"linux\"",
		DOCUMENT_AT(struct file, suite.systems),
		.count_offset = offsetof(struct file, suite.system_count)},
	{.name = "golden",
		.kind = DOCUMENT_STRING,
		.expected = "the name of a system, like \"baremetal\"",
		DOCUMENT_AT(struct file, suite.golden)},
	{.name = "boots",
		.kind = DOCUMENT_INTEGER,
		.min = 1,
		.max = 1000,
		.unit = "boots",
		DOCUMENT_AT(struct file, suite.boots)},
	{.name = "soak_s",
		.kind = DOCUMENT_INTEGER,
		.min = 0,
		.max = 86400,
		.unit = "s",
		DOCUMENT_AT(struct file, suite.soak_s)},
	{.name = "time",
		.kind = DOCUMENT_WORD,
		.words = time_words,
		DOCUMENT_AT(struct file, suite.time)},
	{.name = "primary",
		.kind = DOCUMENT_STRINGS,
		.min = 0,
		.max = SUITE_PRIMARY_MAX,
		.expected = "a primary row, like \"wake.cpu/p99\"",
		DOCUMENT_AT(struct file, primary),
		.count_offset = offsetof(struct file, suite.primary_count)},
	{.name = "allow_unknown",
		.kind = DOCUMENT_STRINGS,
		.min = 0,
		.max = 32,
		.expected = "the name of a gate",
		DOCUMENT_AT(struct file, suite.allow_unknown),
		.count_offset = offsetof(struct file, suite.allow_unknown_count)},
	{.name = "accept_clock_ppm",
		.kind = DOCUMENT_MAP,
		.min = 0,
		.max = 32,
		.shape = &ppm_shape,
		DOCUMENT_AT(struct file, suite.accept_clock_ppm),
		.count_offset = offsetof(struct file, suite.accept_clock_count)},
	{.name = "traps",
		.kind = DOCUMENT_MAP,
		.min = 0,
		.max = 32,
		.shape = &trap_shape,
		DOCUMENT_AT(struct file, suite.traps),
		.count_offset = offsetof(struct file, suite.trap_count)},
	{.name = "require",
		.kind = DOCUMENT_MAP,
		.min = 0,
		.max = 32,
		.shape = &required_shape,
		DOCUMENT_AT(struct file, suite.required),
		.count_offset = offsetof(struct file, suite.required_count)},
	{.name = "windows",
		.kind = DOCUMENT_OBJECTS,
		.required = true,
		.min = 1,
		.max = SUITE_WINDOWS_MAX,
		.shape = &window_shape,
		DOCUMENT_AT(struct file, windows),
		.count_offset = offsetof(struct file, suite.window_count)},
};

const struct document_shape suite_shape = {
	.noun = "a suite",
	.keys = suite_keys,
	.key_count = sizeof(suite_keys) / sizeof(suite_keys[0]),
	.size = sizeof(struct file),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

static int fail(struct suite *suite, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct suite *suite, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(suite->error, sizeof(suite->error), format, args);
	va_end(args);
	utf8_mend_line(suite->error);
	return code;
}

/* The names of the catalogue's benchmarks that have an agent. */
static const char **list_benches(struct document *document)
{
	size_t count, used = 0;
	const struct catalogue_bench *benches = catalogue_benches(&count);
	const char **words = document_allocate(document, (count + 1) * sizeof(*words));

	for (size_t i = 0; words && i < count; i++) {
		if (benches[i].implemented)
			words[used++] = benches[i].name;
	}
	return words;
}

static int find_bench(struct document *document, const struct document_node *node, const char *key,
	const char *name, const struct catalogue_bench **bench)
{
	const char **words = list_benches(document);
	const char *nearest;
	char text[512];

	*bench = catalogue_find(name);
	if (*bench && (*bench)->implemented)
		return 0;
	if (!words)
		return -ENOMEM;
	nearest = *bench ? NULL : document_nearest(name, words);
	if (nearest)
		return document_fail(document, node, key,
			"benchmark \"%s\" is unknown; did you mean \"%s\"?", name, nearest);
	word_join(words, text, sizeof(text));
	return document_fail(document, node, key, "benchmark \"%s\" is %s; expected %s", name,
		*bench ? "not implemented yet" : "unknown", text);
}

/* Keys that mean nothing to this benchmark are mistakes. */
static int check_window(struct document *document, const struct written *written,
	const struct catalogue_bench *bench)
{
	const struct document_node *node = written->node;
	bool is_fixed = bench->id == CATALOGUE_FLOOR_ID || bench->id == CATALOGUE_SLEEP_ID ||
			bench->value == CATALOGUE_PRICE;

	if ((!bench->n || is_fixed) && document_find(node, "n"))
		return document_fail(document, node, "n",
			"%s has no number of samples to choose; expected %s", bench->name,
			bench->n ? "no n" : "duration_ms");
	if (bench->n && bench->id != CATALOGUE_REFERENCE_ID && document_find(node, "duration_ms"))
		return document_fail(document, node, "duration_ms",
			"%s lasts as long as its samples; expected n", bench->name);
	if (!bench->has_grid && document_find(node, "period_us"))
		return document_fail(document, node, "period_us",
			"%s has no period; expected no period_us", bench->name);
	if (!bench->has_grid && document_find(node, "phase"))
		return document_fail(
			document, node, "phase", "%s has no phase; expected no phase", bench->name);
	if (!bench->load_is_free && document_find(node, "load") && written->load != bench->load)
		return document_fail(document, node, "load",
			"%s is defined under load %s; expected \"%s\", or another benchmark",
			bench->name, catalogue_load_name(bench->load),
			catalogue_load_name(bench->load));
	if (bench->id == CATALOGUE_AUDIT_ID && document_find(node, "duration_ms") &&
		written->duration_ms < GATE_AUDIT_SPAN_MIN_S * 1000)
		return document_fail(document, node, "duration_ms",
			"%u ms are too short for the clock-audit gate; expected at least %.0f ms",
			written->duration_ms, GATE_AUDIT_SPAN_MIN_S * 1000);
	return 0;
}

static struct suite_window make_window(
	const struct written *written, const struct catalogue_bench *bench)
{
	return (struct suite_window){
		.bench = bench,
		.name = bench->name,
		.n = written->n ? written->n : bench->n,
		.period_us = written->period_us,
		.load = document_find(written->node, "load") ? written->load : bench->load,
		.settle_ms = written->settle_ms,
		.phase = bench->has_grid ? written->phase : SUITE_PHASE_ALIGNED,
		.duration_ms = written->duration_ms ? written->duration_ms : bench->duration_ms,
		.seed = written->seed,
		.node = written->node,
	};
}

static bool is_same(const struct suite_window *a, const struct suite_window *b)
{
	return a->bench == b->bench && a->load == b->load && a->phase == b->phase &&
	       a->period_us == b->period_us && a->n == b->n && a->seed == b->seed &&
	       a->duration_ms == b->duration_ms;
}

static int add_window(struct suite *suite, const struct suite_window *window)
{
	for (size_t i = 0; i < suite->window_count; i++) {
		if (is_same(&suite->windows[i], window))
			return document_fail(suite->document, window->node, NULL,
				"the same window as in line %u; expected another benchmark, load, "
				"phase, period, n or seed",
				document_line(suite->windows[i].node));
	}
	suite->windows[suite->window_count++] = *window;
	return 0;
}

static int add_windows(struct suite *suite, const struct written *written, size_t count)
{
	suite->window_count = 0;
	suite->windows =
		document_allocate(suite->document, (count * 2 + 1) * sizeof(*suite->windows));
	if (!suite->windows)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct catalogue_bench *bench;
		struct suite_window window;
		bool is_both;
		int result = find_bench(
			suite->document, written[i].node, "bench", written[i].bench, &bench);

		if (!result)
			result = check_window(suite->document, &written[i], bench);
		if (result)
			return result;
		window = make_window(&written[i], bench);
		is_both = window.phase == SUITE_PHASE_BOTH;
		window.phase = is_both ? SUITE_PHASE_ALIGNED : window.phase;
		result = add_window(suite, &window);
		if (!result && is_both) {
			window.phase = SUITE_PHASE_ARBITRARY;
			result = add_window(suite, &window);
		}
		if (result)
			return result;
	}
	return 0;
}

static int check_systems(struct suite *suite)
{
	const struct document_node *root = document_root(suite->document);

	for (size_t i = 0; i < suite->system_count; i++) {
		if (!word_is_name(suite->systems[i]))
			return document_fail(suite->document, root, "systems",
				"\"%s\" is no name of a system; expected " WORD_NAME_RULE,
				suite->systems[i]);
		for (size_t k = 0; k < i; k++) {
			if (!strcmp(suite->systems[i], suite->systems[k]))
				return document_fail(suite->document, root, "systems",
					"\"%s\" is named twice; expected each system once",
					suite->systems[i]);
		}
	}
	if (suite->golden && !word_is_name(suite->golden))
		return document_fail(suite->document, root, "golden",
			"\"%s\" is no name of a system; expected " WORD_NAME_RULE, suite->golden);
	return 0;
}

/* A gate of a later version may be named, a slip of the pen may not. */
static int check_allowed(struct suite *suite)
{
	const char *ids[GATES + 1] = {NULL};

	for (int i = 0; i < GATES; i++)
		ids[i] = gate_describe((enum gate)i)->id;
	for (size_t i = 0; i < suite->allow_unknown_count; i++) {
		const char *id = suite->allow_unknown[i];
		const char *nearest = gate_find(id) < 0 ? document_nearest(id, ids) : NULL;

		if (nearest)
			return document_fail(suite->document, document_root(suite->document),
				"allow_unknown", "gate \"%s\" is unknown; did you mean \"%s\"?", id,
				nearest);
	}
	return 0;
}

static bool has_system(const struct suite *suite, const char *name)
{
	for (size_t i = 0; i < suite->system_count; i++)
		if (strcmp(suite->systems[i], name) == 0)
			return true;
	return false;
}

static int check_traps(struct suite *suite)
{
	const struct document_node *root = document_root(suite->document);

	for (size_t i = 0; i < suite->trap_count; i++) {
		struct trap *trap = &suite->traps[i];

		if (trap_parse(trap) != 0)
			return document_fail(suite->document, root, "traps",
				"\"%s\" is no gate (`sameboard gates` lists them) and no row; "
				"expected " TRAP_EXPECTED,
				trap->expected);
		if (trap->is_rise && !has_system(suite, trap->clean))
			return document_fail(suite->document, root, "traps",
				"\"%s\" is not measured; expected one of \"systems\"", trap->clean);
	}
	return 0;
}

static bool has_bench(const struct suite *suite, const struct catalogue_bench *bench)
{
	for (size_t i = 0; i < suite->window_count; i++) {
		if (suite->windows[i].bench == bench)
			return true;
	}
	return false;
}

static int read_primary(struct suite *suite, const char *text, struct suite_primary *primary)
{
	struct document *document = suite->document;
	const struct document_node *root = document_root(document);
	const char *slash = strchr(text, '/');
	char words[128];
	const char *bench;
	int result;

	word_join(statistic_words, words, sizeof(words));
	if (!slash)
		return document_fail(document, root, "primary",
			"\"%s\" is no row; expected BENCHMARK/STATISTIC, like \"wake.cpu/p99\"",
			text);
	bench = document_format(document, "%.*s", (int)(slash - text), text);
	if (!bench)
		return -ENOMEM;
	result = find_bench(document, root, "primary", bench, &primary->bench);
	if (result)
		return result;
	if (!word_find(statistic_words, slash + 1))
		return document_fail(document, root, "primary",
			"\"%s\" has no statistic \"%s\"; expected %s", text, slash + 1, words);
	if (!has_bench(suite, primary->bench))
		return document_fail(document, root, "primary",
			"\"%s\" is measured by no window; expected a benchmark of \"windows\"",
			bench);
	primary->statistic = slash + 1;
	primary->text = text;
	return 0;
}

static int read_primaries(struct suite *suite, const char *const *texts)
{
	suite->primary = document_allocate(
		suite->document, (suite->primary_count + 1) * sizeof(*suite->primary));
	if (!suite->primary)
		return -ENOMEM;
	for (size_t i = 0; i < suite->primary_count; i++) {
		int result = read_primary(suite, texts[i], &suite->primary[i]);

		if (result)
			return result;
	}
	return 0;
}

/* "DIR/core.json" is named "core". */
static const char *name_file(struct document *document)
{
	const char *slash = strrchr(document_path(document), '/');
	const char *base = slash ? slash + 1 : document_path(document);
	size_t length = strlen(base);

	if (length > 5 && !strcmp(base + length - 5, ".json"))
		length -= 5;
	return document_format(document, "%.*s", (int)length, base);
}

static int fill(struct suite *suite)
{
	struct document *document = suite->document;
	struct file file = {.suite = {.boots = 1, .soak_s = 20, .description = ""}};
	int result = document_read(document, &suite_shape, &file);

	if (result)
		return result;
	*suite = file.suite;
	suite->document = document;
	suite->path = document_path(document);
	suite->text = document_text(document, NULL);
	if (!suite->name)
		suite->name = name_file(document);
	if (!suite->name)
		return -ENOMEM;
	result = add_windows(suite, file.windows, file.suite.window_count);
	if (!result)
		result = check_systems(suite);
	if (!result)
		result = check_allowed(suite);
	if (!result)
		result = check_traps(suite);
	if (!result)
		result = read_primaries(suite, file.primary);
	return result;
}

static int finish(struct suite *suite, int result)
{
	if (!result)
		result = fill(suite);
	if (!result)
		return 0;
	return fail(suite, result, "%s",
		result == -ENOMEM ? "out of memory" : document_error(suite->document));
}

int suite_parse(struct suite **parsed, const char *name, const char *text, size_t size)
{
	struct suite *suite = calloc(1, sizeof(*suite));

	*parsed = suite;
	if (!suite)
		return -ENOMEM;
	return finish(suite, document_parse(&suite->document, name, text, size));
}

int suite_open(struct suite **opened, const char *name)
{
	struct suite *suite = calloc(1, sizeof(*suite));
	char *path = NULL;
	int result;

	*opened = suite;
	if (!suite)
		return -ENOMEM;
	result = word_find_suite(name, &path, suite->error, sizeof(suite->error));
	if (!result)
		result = finish(suite, document_open(&suite->document, path));
	free(path);
	return result;
}

void suite_close(struct suite *suite)
{
	if (!suite)
		return;
	document_close(suite->document);
	free(suite);
}

const char *suite_error(const struct suite *suite)
{
	return suite ? suite->error : "out of memory";
}

const char *suite_phase_name(enum suite_phase phase)
{
	return (unsigned)phase <= SUITE_PHASE_BOTH ? phase_words[phase] : "?";
}

const struct trap *suite_get_trap(const struct suite *suite, const char *system)
{
	for (size_t i = 0; i < suite->trap_count; i++)
		if (strcmp(suite->traps[i].system, system) == 0)
			return &suite->traps[i];
	return NULL;
}

bool suite_allows_unknown(const struct suite *suite, const char *gate)
{
	for (size_t i = 0; i < suite->allow_unknown_count; i++) {
		if (!strcmp(suite->allow_unknown[i], gate))
			return true;
	}
	return false;
}

double suite_accepted_ppm(const struct suite *suite, const char *system)
{
	for (size_t i = 0; i < suite->accept_clock_count; i++) {
		if (!strcmp(suite->accept_clock_ppm[i].system, system))
			return suite->accept_clock_ppm[i].ppm;
	}
	return 0;
}

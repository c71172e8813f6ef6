/* SPDX-License-Identifier: Apache-2.0 */
/* Power over the network: each plug's own protocol, and all that may go wrong on the way. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "boardctl/power.h"
#include "tests/plug_fake.h"
#include "tests/scratch.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PASSWORD     "s3cret/&"

static const struct {
	const char *driver;
	http_fake_handler *handler;
	const char *device;
	unsigned first; /* the number in the imitation of channel 1 */
	bool reads_back, takes_password;
	double watts;
	const char *escaped; /* the password as this imitation has it */
} plugs[] = {
	{"tasmota", plug_fake_tasmota, NULL, 0, true, true, 7, "s3cret%2F%26"},
	{"shelly1", plug_fake_shelly1, NULL, 0, true, true, 3.25, PASSWORD},
	{"shelly2", plug_fake_shelly2, NULL, 0, true, true, 5.5, PASSWORD},
	{"pdudaemon", plug_fake_pdudaemon, "rack 1", 1, false, false, 0, NULL},
};

static struct plug_fake plug;

static struct power_config make_config(size_t i, const char *url)
{
	return (struct power_config){.driver = plugs[i].driver,
		.url = url,
		.device = plugs[i].device,
		.off_ms = 1,
		.answer_ms = 10000};
}

static struct power *open_plug(size_t i, const struct power_config *config)
{
	struct power *power;

	ck_assert_msg(
		power_open(&power, config) == 0, "%s: %s", plugs[i].driver, power_error(power));
	return power;
}

static void start(size_t i, struct power_config *config)
{
	memset(&plug, 0, sizeof(plug));
	*config = make_config(i, http_fake_start(plugs[i].handler, &plug));
}

START_TEST(a_plug_is_switched_and_read_back)
{
	struct power_config config;
	struct power *power;
	bool on = true;

	start((size_t)_i, &config);
	power = open_plug((size_t)_i, &config);
	for (int wanted = 1; wanted >= 0; wanted--) {
		ck_assert_msg(power_set(power, wanted) == 0, "%s", power_error(power));
		ck_assert_int_eq(plug.is_on[plugs[_i].first], wanted);
		ck_assert_int_eq(power_get(power, &on), plugs[_i].reads_back ? 0 : -ENOTSUP);
		ck_assert_int_eq(on, wanted);
	}
	power_close(power);
	ck_assert_uint_eq(plug.refused, 0);
	http_fake_stop();
}
END_TEST

START_TEST(the_second_channel_is_another_one)
{
	struct power_config config;
	struct power *power;

	start((size_t)_i, &config);
	config.channel = 2;
	power = open_plug((size_t)_i, &config);
	ck_assert_int_eq(power_set(power, true), 0);
	ck_assert(plug.is_on[plugs[_i].first + 1] && !plug.is_on[plugs[_i].first]);
	power_close(power);
	http_fake_stop();
}
END_TEST

START_TEST(opening_and_closing_switch_nothing)
{
	struct power_config config;

	start((size_t)_i, &config);
	plug.is_on[plugs[_i].first] = true;
	power_close(open_plug((size_t)_i, &config));
	ck_assert(plug.is_on[plugs[_i].first]);
	http_fake_stop();
}
END_TEST

START_TEST(a_contact_that_does_not_follow_is_told)
{
	struct power_config config;
	struct power *power;

	if (!plugs[_i].reads_back)
		return;
	start((size_t)_i, &config);
	power = open_plug((size_t)_i, &config);
	plug.is_stuck = true;
	ck_assert_int_eq(power_set(power, true), -EIO);
	ck_assert_ptr_nonnull(strstr(power_error(power), "still reports OFF"));
	ck_assert_ptr_nonnull(strstr(power_error(power), config.url));
	power_close(power);
	http_fake_stop();
}
END_TEST

START_TEST(watts_come_where_the_plug_measures_them)
{
	struct power_config config;
	struct power *power;
	double watts = 1;

	start((size_t)_i, &config);
	power = open_plug((size_t)_i, &config);
	ck_assert_int_eq(power_get_watts(power, &watts), -ENOTSUP);
	ck_assert_double_eq(watts, 0);
	ck_assert_ptr_nonnull(strstr(power_error(power), "does not measure"));
	plug.measures = true;
	if (plugs[_i].watts > 0) {
		ck_assert_msg(power_get_watts(power, &watts) == 0, "%s", power_error(power));
		ck_assert_double_eq(watts, plugs[_i].watts);
	}
	power_close(power);
	http_fake_stop();
}
END_TEST

/* What each fault of the way is called. */
static const struct {
	enum http_fake_fault fault;
	int error;
	const char *says;
} faults[] = {
	{HTTP_FAKE_SILENT, -ETIMEDOUT, "no answer within"},
	{HTTP_FAKE_HALF, -EPROTO, "in the network"},
	{HTTP_FAKE_GARBAGE, -EPROTO, "no HTTP"},
	{HTTP_FAKE_CLOSES, -EPROTO, "in the network"},
	{HTTP_FAKE_LATE, -ETIMEDOUT, "no answer within"},
};

START_TEST(what_goes_wrong_on_the_way_is_an_error_with_its_name)
{
	for (size_t k = 0; k < COUNT(faults); k++) {
		struct power_config config;
		struct power *power;
		int ret;

		start((size_t)_i, &config);
		config.answer_ms = 200;
		/* What is proven by a question fails at once; the rest at its first command. */
		http_fake_set_fault(faults[k].fault, 0);
		ret = power_open(&power, &config);
		if (!plugs[_i].reads_back) {
			ck_assert_int_eq(ret, 0);
			ret = power_set(power, true);
		}
		ck_assert_msg(ret == faults[k].error, "%s, fault %zu: %d, %s", plugs[_i].driver, k,
			ret, power_error(power));
		ck_assert_msg(strstr(power_error(power), faults[k].says), "%s: %s",
			plugs[_i].driver, power_error(power));
		ck_assert_ptr_nonnull(strstr(power_error(power), config.url));
		power_close(power);
		http_fake_stop();
	}
}
END_TEST

START_TEST(a_plug_that_goes_away_in_the_middle_is_told)
{
	struct power_config config;
	struct power *power;

	start((size_t)_i, &config);
	power = open_plug((size_t)_i, &config);
	http_fake_stop();
	ck_assert_int_eq(power_set(power, false), -ECONNREFUSED);
	ck_assert_ptr_nonnull(strstr(power_error(power), config.url));
	power_close(power);
}
END_TEST

static void say_text(
	void *context, const struct http_fake_request *request, struct http_fake_answer *answer)
{
	(void)request;
	snprintf(answer->body, sizeof(answer->body), "%s", (const char *)context);
}

START_TEST(an_answer_of_something_else_is_no_state)
{
	static const char *const others[] = {"", "{}", "[]", "<html>router</html>",
		"{\"POWER1\":\"BLINK\",\"ison\":1,\"result\":7}",
		"{\"result\":{\"output\":\"on\"}}"};

	if (!plugs[_i].reads_back)
		return;
	for (size_t k = 0; k < COUNT(others); k++) {
		const char *url = http_fake_start(say_text, (void *)(uintptr_t)others[k]);
		struct power_config config = make_config((size_t)_i, url);
		struct power *power;
		int ret = power_open(&power, &config);

		ck_assert_msg(ret == -EPROTO, "%s took \"%s\": %d, %s", plugs[_i].driver, others[k],
			ret, power_error(power));
		power_close(power);
		http_fake_stop();
	}
}
END_TEST

/* ---------------------------------------------------------------- secrets */

static void check_no_secret(struct power *power)
{
	ck_assert_msg(!strstr(power_error(power), "s3cret"), "%s", power_error(power));
}

START_TEST(a_password_opens_the_plug_and_stands_in_no_error)
{
	struct power_config config;
	struct power *power;
	struct scratch scratch;
	char path[256];

	if (!plugs[_i].takes_password)
		return;
	scratch_init(&scratch);
	snprintf(path, sizeof(path), "%s",
		scratch_write(&scratch, "secret", PASSWORD "\n", strlen(PASSWORD) + 1));
	ck_assert_int_eq(chmod(path, 0600), 0);
	start((size_t)_i, &config);
	plug.password = plugs[_i].escaped;
	ck_assert_int_eq(power_open(&power, &config), -EACCES);
	ck_assert_ptr_nonnull(strstr(power_error(power), "password_file"));
	power_close(power);

	config.password_file = path;
	power = open_plug((size_t)_i, &config);
	ck_assert_msg(power_set(power, true) == 0, "%s", power_error(power));
	http_fake_set_fault(HTTP_FAKE_CLOSES, 0);
	ck_assert_int_ne(power_set(power, false), 0);
	check_no_secret(power);
	power_close(power);

	/* A device that says back what it was asked. */
	http_fake_set_fault(HTTP_FAKE_HEALTHY, 0);
	setenv("PLUG_PASSWORD", "wrong s3cret", 1);
	config.password_file = NULL;
	config.password_env = "PLUG_PASSWORD";
	if (plugs[_i].handler == plug_fake_tasmota) {
		ck_assert_int_eq(power_open(&power, &config), -EACCES);
		ck_assert_ptr_nonnull(strstr(power_error(power), "is wrong"));
		check_no_secret(power);
		power_close(power);
	}
	http_fake_stop();
	scratch_fini(&scratch);
}
END_TEST

static void echo(
	void *context, const struct http_fake_request *request, struct http_fake_answer *answer)
{
	(void)context;
	answer->status = 500;
	snprintf(answer->body, sizeof(answer->body), "cannot do %s (s3cret/&)", request->target);
}

START_TEST(what_a_device_says_back_is_blanked)
{
	struct power_config config = {.driver = "tasmota", .password_env = "PLUG_PASSWORD"};
	struct power *power;

	setenv("PLUG_PASSWORD", PASSWORD, 1);
	config.url = http_fake_start(echo, NULL);
	ck_assert_int_eq(power_open(&power, &config), -EIO);
	ck_assert_ptr_nonnull(strstr(http_fake_last()->target, "password=s3cret%2F%26"));
	ck_assert_ptr_nonnull(strstr(power_error(power), "cannot do"));
	check_no_secret(power);
	power_close(power);
	http_fake_stop();
}
END_TEST

START_TEST(a_password_that_others_may_read_is_refused)
{
	struct power_config config = {.driver = "tasmota", .url = "http://127.0.0.1:1"};
	struct scratch scratch;
	struct power *power;
	char path[256];

	scratch_init(&scratch);
	snprintf(path, sizeof(path), "%s", scratch_write(&scratch, "secret", "x\n", 2));
	ck_assert_int_eq(chmod(path, 0644), 0);
	config.password_file = path;
	ck_assert_int_eq(power_open(&power, &config), -EACCES);
	ck_assert_ptr_nonnull(strstr(power_error(power), "chmod 600"));
	power_close(power);
	config.password_file = "/no/such/secret";
	ck_assert_int_eq(power_open(&power, &config), -ENOENT);
	power_close(power);
	config.password_file = NULL;
	config.password_env = "NO_SUCH_VARIABLE";
	ck_assert_int_eq(power_open(&power, &config), -ENOENT);
	ck_assert_ptr_nonnull(strstr(power_error(power), "$NO_SUCH_VARIABLE"));
	power_close(power);
	scratch_fini(&scratch);
}
END_TEST

/* ---------------------------------------------------------------- Tasmota */

START_TEST(a_tasmota_with_one_relay_or_a_deaf_query_is_understood)
{
	struct power_config config;
	struct power *power;
	bool on = false;

	start(0, &config);
	plug.is_single = true;
	power = open_plug(0, &config);
	ck_assert_msg(power_set(power, true) == 0, "%s", power_error(power));
	power_close(power);
	plug.is_single = false;
	plug.ignores_query = true;
	power = open_plug(0, &config);
	ck_assert_msg(power_get(power, &on) == 0, "%s", power_error(power));
	ck_assert(on);
	power_close(power);
	http_fake_stop();
}
END_TEST

START_TEST(a_wrong_configuration_names_what_is_missing)
{
	static const struct {
		struct power_config config;
		const char *says;
	} rows[] = {
		{{.driver = "tasmota"}, "an url"},
		{{.driver = "pdudaemon", .url = "http://127.0.0.1:1"}, "a device"},
		{{.driver = "shelly1", .url = "http://127.0.0.1:1", .channel = 9}, "1 to 8"},
		{{.driver = "command"}, "a command"},
		{{.driver = "uhubctl"}, "a device"},
		{{.driver = "nosuch"}, "\"pdudaemon\""},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct power *power;

		ck_assert_int_eq(power_open(&power, &rows[i].config), -EINVAL);
		ck_assert_msg(strstr(power_error(power), rows[i].says), "%s", power_error(power));
		power_close(power);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("power_web");
	TCase *tcase = tcase_create("plugs");
	SRunner *runner = srunner_create(suite);
	int failed, count = (int)COUNT(plugs);

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, a_plug_is_switched_and_read_back, 0, count);
	tcase_add_loop_test(tcase, the_second_channel_is_another_one, 0, count);
	tcase_add_loop_test(tcase, opening_and_closing_switch_nothing, 0, count);
	tcase_add_loop_test(tcase, a_contact_that_does_not_follow_is_told, 0, count);
	tcase_add_loop_test(tcase, watts_come_where_the_plug_measures_them, 0, count);
	tcase_add_loop_test(tcase, what_goes_wrong_on_the_way_is_an_error_with_its_name, 0, count);
	tcase_add_loop_test(tcase, a_plug_that_goes_away_in_the_middle_is_told, 0, count);
	tcase_add_loop_test(tcase, an_answer_of_something_else_is_no_state, 0, count);
	tcase_add_loop_test(tcase, a_password_opens_the_plug_and_stands_in_no_error, 0, count);
	tcase_add_test(tcase, what_a_device_says_back_is_blanked);
	tcase_add_test(tcase, a_password_that_others_may_read_is_refused);
	tcase_add_test(tcase, a_tasmota_with_one_relay_or_a_deaf_query_is_understood);
	tcase_add_test(tcase, a_wrong_configuration_names_what_is_missing);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}

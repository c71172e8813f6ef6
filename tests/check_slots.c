/* SPDX-License-Identifier: Apache-2.0 */
/* One card for several systems: written once, whatever boots from it and in whichever job. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/json_fields.h"
#include "tests/lab_rig.h"

#define WAKE "{ \"bench\": \"wake.idle\", \"n\": 200 }"

static bool has_event(struct lab_rig *rig, const char *kind, const char *part)
{
	cJSON *show = lab_rig_show(rig);
	const cJSON *event;
	bool found = false;

	ck_assert_str_eq(text_of(show, "verdict"), "pass");
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(show, "events"))
	{
		found |= strcmp(text_of(event, "kind"), kind) == 0 &&
			 strstr(text_of(event, "text"), part) != NULL;
	}
	cJSON_Delete(show);
	return found;
}

static void expect_writes(struct lab_rig *rig, double writes)
{
	cJSON *boards;
	const cJSON *card;

	lab_rig_expect(rig, 0, (const char *[]){"boards", "--json", NULL});
	boards = lab_rig_json(rig);
	card = cJSON_GetObjectItem(cJSON_GetArrayItem(boards, 0), "card");
	ck_assert_ptr_nonnull(card);
	ck_assert_double_eq(number_of(card, "writes"), writes);
	ck_assert_double_eq(number_of(card, "errors"), 0);
	cJSON_Delete(boards);
}

START_TEST(systems_in_slots_share_a_card_that_is_written_once)
{
	struct lab_rig rig;
	const char *suite;
	char images[600];
	int fd;

	lab_rig_start(&rig, NULL, 64);
	strcat(rig.images, "/slots");
	suite = lab_rig_write_suite(&rig, "\"linux\", \"baremetal\"", WAKE, 1);
	lab_rig_expect(&rig, 0, (const char *[]){"run", suite, NULL});
	ck_assert_msg(strstr(rig.err, "2 runs, 1 card write,") != NULL, "%s", rig.err);
	expect_writes(&rig, 1);
	snprintf(images, sizeof(images), "--images=%s", rig.images);
	lab_rig_expect(&rig, 0, (const char *[]){"plan", suite, images, NULL});
	ck_assert_msg(strstr(rig.out, "2 runs, 1 card write,") != NULL, "%s", rig.out);

	/* The next job reads what the store says is on the card. */
	lab_rig_expect(&rig, 0, (const char *[]){"run", suite, "--os=baremetal", NULL});
	ck_assert(has_event(&rig, "card", "holds the image already, read back"));
	expect_writes(&rig, 1);

	/* A card that was touched behind its back does not return that. */
	fd = open(scratch_path(&rig.scratch, "card.bin"), O_WRONLY);
	ck_assert_int_eq(pwrite(fd, "x", 1, 3 << 20), 1);
	close(fd);
	lab_rig_expect(&rig, 0, (const char *[]){"run", suite, "--os=baremetal", NULL});
	ck_assert(has_event(&rig, "warning", "the card is not as it was left"));
	expect_writes(&rig, 2);
	lab_rig_stop(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slots");
	TCase *cases = tcase_create("slots");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(cases, 900);
	tcase_add_test(cases, systems_in_slots_share_a_card_that_is_written_once);
	suite_add_tcase(suite, cases);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

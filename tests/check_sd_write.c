/* SPDX-License-Identifier: Apache-2.0 */
/* `sameboard sd BOARD write`: from every kind of image to the virtual panel's card. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "boardctl/sha256.h"
#include "tests/case_table.h"
#include "tests/http_fake.h"
#include "tests/json_fields.h"
#include "tests/lab_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SIZE	     (1024 * 1024)

static char image[SIZE], card[SIZE];

static void make_image(void)
{
	for (size_t i = 0; i < SIZE; i++)
		image[i] = (char)(i * 2654435761u >> 13);
	image[510] = 0x55;
	image[511] = (char)0xaa;
}

static void read_card(struct lab_rig *rig)
{
	int fd = open(scratch_path(&rig->scratch, "card.bin"), O_RDONLY);

	ck_assert_int_eq(read(fd, card, SIZE), SIZE);
	close(fd);
}

static void check_mux(struct lab_rig *rig, const char *position)
{
	char answer[64];

	lab_rig_ask(rig, "mux", answer, sizeof(answer));
	ck_assert_msg(strncmp(answer, position, strlen(position)) == 0, "%s", answer);
}

START_TEST(test_what_is_no_image_is_refused_before_anything_moves)
{
	struct lab_rig rig;

	lab_rig_start(&rig, NULL, 2);
	lab_rig_expect(&rig, 0, (const char *[]){"sd", "vpanel", "off", NULL});
	lab_rig_expect(&rig, 2, (const char *[]){"sd", "vpanel", "write", "README.md", NULL});
	ck_assert_ptr_nonnull(strstr(rig.err, "README.md"));
	ck_assert_ptr_nonnull(strstr(rig.err, "no image of a card"));
	ck_assert_ptr_nonnull(strstr(rig.err, "--force"));
	lab_rig_expect(&rig, 2, (const char *[]){"sd", "vpanel", "write", "/no/image", NULL});
	lab_rig_expect(
		&rig, 2, (const char *[]){"sd", "vpanel", "write", "http://127.0.0.1:1/x", NULL});
	ck_assert_ptr_nonnull(strstr(rig.err, "--sha256"));
	check_mux(&rig, "off");
	lab_rig_expect(
		&rig, 0, (const char *[]){"sd", "vpanel", "write", "--force", "README.md", NULL});
	check_mux(&rig, "dut");
	read_card(&rig);
	ck_assert_int_eq(strncmp(card, "# sameboard", 11), 0);
	lab_rig_stop(&rig);
}
END_TEST

static void give(
	void *context, const struct http_fake_request *request, struct http_fake_answer *answer)
{
	(void)context;
	answer->status = strcmp(request->target, "/card.img.zst") == 0 ? 200 : 404;
	answer->bytes = card;
	answer->size = *(size_t *)context;
}

START_TEST(test_a_compressed_image_from_the_network_is_written)
{
	char url[128], option[96], wanted[SHA256_HEX_SIZE], sum[SHA256_HEX_SIZE];
	struct lab_rig rig;
	cJSON *json;
	size_t size;

	make_image();
	size = ZSTD_compress(card, SIZE, image, SIZE, 1);
	ck_assert(!ZSTD_isError(size));
	ck_assert_int_eq(sha256_buffer(card, size, sum), 0);
	ck_assert_int_eq(sha256_buffer(image, SIZE, wanted), 0);
	lab_rig_start(&rig, NULL, 2);
	setenv("SAMEBOARD_CACHE", scratch_path(&rig.scratch, "cache"), 1);
	snprintf(url, sizeof(url), "%s/card.img.zst", http_fake_start(give, &size));
	snprintf(option, sizeof(option), "--sha256=%s", sum);
	lab_rig_expect(
		&rig, 0, (const char *[]){"sd", "vpanel", "write", "--json", option, url, NULL});
	json = lab_rig_json(&rig);
	ck_assert_str_eq(text_of(json, "sha256"), wanted);
	cJSON_Delete(json);
	http_fake_stop();
	read_card(&rig);
	ck_assert_mem_eq(card, image, SIZE);
	check_mux(&rig, "dut");
	lab_rig_stop(&rig);
}
END_TEST

int main(void)
{
	const struct case_row rows[] = {
		{"refused", test_what_is_no_image_is_refused_before_anything_moves, 60},
		{"network", test_a_compressed_image_from_the_network_is_written, 60},
	};

	return case_table_run("sd_write", rows, COUNT(rows));
}

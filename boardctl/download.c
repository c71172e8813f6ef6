/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/download.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boardctl/fail.h"
#include "boardctl/monotonic.h"
#include "boardctl/sha256.h"

#define TRIES		 5
#define RETRY_PAUSE_US	 200000u
#define DEFAULT_STALL_MS 60000u
#define CONNECT_MS	 15000L

struct transfer {
	const struct download *download;
	char shown[256]; /* the url without user, password and query */
	char *error;
	size_t error_size;
	int fd;
	uint64_t have; /* bytes in the file */
	CURL *curl;
	int stop; /* why writing or waiting ended it */
	bool has_moved;
};

static int fail(struct transfer *transfer, int code, const char *what)
{
	return fail_format(
		transfer->error, transfer->error_size, code, "%s: %s", transfer->shown, what);
}

/* Only what people need to know it by. */
static void shorten_url(const char *url, char *shown, size_t size)
{
	const char *host = strstr(url, "://");
	size_t length;
	const char *at;

	host = host ? host + 3 : url;
	length = strcspn(host, "/?#");
	at = memrchr(host, '@', length);
	if (at) {
		length -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	length += strcspn(host + length, "?#");
	snprintf(shown, size, "%.*s", (int)length, host);
}

static void make_folders(const char *folder)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", folder);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	mkdir(path, 0755); /* what is wrong shows when the file is opened */
}

static bool is_hash(const char *text)
{
	return text && strlen(text) == 64 && strspn(text, "0123456789abcdefABCDEF") == 64;
}

/* ---------------------------------------------------------------- transfer */

/* A server that does not know ranges begins anew. */
static int begin_body(struct transfer *transfer)
{
	long status = 0;

	curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
	transfer->has_moved = true;
	if (status == 206 || transfer->have == 0)
		return 0;
	if (ftruncate(transfer->fd, 0) != 0)
		return -errno;
	transfer->have = 0;
	return 0;
}

static size_t take(char *data, size_t unit, size_t count, void *context)
{
	struct transfer *transfer = context;
	size_t size = unit * count, used = 0;

	if (!transfer->has_moved)
		transfer->stop = begin_body(transfer);
	while (!transfer->stop && used < size) {
		ssize_t put = pwrite(transfer->fd, data + used, size - used, (off_t)transfer->have);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0) {
			transfer->stop = put < 0 ? -errno : -ENOSPC;
			break;
		}
		used += (size_t)put;
		transfer->have += (uint64_t)put;
	}
	return transfer->stop ? 0 : size;
}

static int see(void *context, curl_off_t total, curl_off_t now, curl_off_t a, curl_off_t b)
{
	struct transfer *transfer = context;
	const struct download *download = transfer->download;

	(void)a;
	(void)b;
	if (download->check && (transfer->stop = download->check(download->ctx)))
		return 1;
	if (download->see && total > 0)
		download->see(download->ctx, transfer->have,
			transfer->have - (uint64_t)now + (uint64_t)total);
	return 0;
}

static CURLcode run_once(struct transfer *transfer)
{
	CURL *curl = transfer->curl;
	unsigned stall_ms = transfer->download->stall_ms;

	curl_easy_reset(curl);
	transfer->has_moved = false;
	curl_easy_setopt(curl, CURLOPT_URL, transfer->download->url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 10L);
	curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "sameboard");
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME,
		(long)((stall_ms ? stall_ms : DEFAULT_STALL_MS) + 999u) / 1000L);
	curl_easy_setopt(curl, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)transfer->have);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, see);
	curl_easy_setopt(curl, CURLOPT_XFERINFODATA, transfer);
	return curl_easy_perform(curl);
}

static int fail_status(struct transfer *transfer)
{
	long status = 0;
	char text[64];

	curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
	snprintf(text, sizeof(text), "the server answered with HTTP status %ld", status);
	if (status == 401 || status == 403)
		return fail(transfer, -EACCES, text);
	return fail(transfer, status == 404 || status == 410 ? -ENOENT : -EIO, text);
}

static bool is_worth_a_retry(CURLcode code)
{
	return code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR ||
	       code == CURLE_GOT_NOTHING || code == CURLE_SEND_ERROR;
}

/* 1 when the server has nothing behind what is there: it is whole, or another file. */
static int is_range_refused(struct transfer *transfer, CURLcode code)
{
	long status = 0;

	curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
	return code == CURLE_RANGE_ERROR || (code == CURLE_HTTP_RETURNED_ERROR && status == 416);
}

static int run(struct transfer *transfer)
{
	/* A server that gives something each time may break off as often as it likes. */
	for (int fruitless = 0; fruitless < TRIES;) {
		CURLcode code = run_once(transfer);

		if (code == CURLE_OK || is_range_refused(transfer, code))
			return 0;
		if (transfer->stop)
			return fail(transfer, transfer->stop, strerror(-transfer->stop));
		if (code == CURLE_HTTP_RETURNED_ERROR)
			return fail_status(transfer);
		if (code == CURLE_OPERATION_TIMEDOUT)
			return fail(transfer, -ETIMEDOUT, "nothing came for too long");
		if (!is_worth_a_retry(code))
			return fail(transfer, -EIO, curl_easy_strerror(code));
		fruitless = transfer->has_moved ? 0 : fruitless + 1;
		monotonic_sleep_until_us(monotonic_get_us() + RETRY_PAUSE_US);
	}
	return fail(transfer, -EIO, "the connection broke off again and again");
}

/* ------------------------------------------------------------------- cache */

static int check_whole(struct transfer *transfer, const char *part, const char *path)
{
	char sum[SHA256_HEX_SIZE];
	int ret = sha256_file(part, sum, NULL);

	if (ret)
		return fail(transfer, ret, strerror(-ret));
	if (strcasecmp(sum, transfer->download->sha256) != 0) {
		unlink(part);
		return fail_format(transfer->error, transfer->error_size, -EBADMSG,
			"%s: what came has the SHA-256 %s, and %s was expected; it was thrown away",
			transfer->shown, sum, transfer->download->sha256);
	}
	if (fsync(transfer->fd) != 0 || rename(part, path) != 0)
		return fail(transfer, -errno, strerror(errno));
	return 0;
}

static int open_part(struct transfer *transfer, const char *part)
{
	struct stat now;

	transfer->fd = open(part, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (transfer->fd < 0)
		return fail_format(transfer->error, transfer->error_size, -errno,
			"cannot write %s: %s", part, strerror(errno));
	if (flock(transfer->fd, LOCK_EX | LOCK_NB) != 0)
		return fail(transfer, -EBUSY, "another process is fetching it");
	if (fstat(transfer->fd, &now) != 0)
		return fail(transfer, -errno, strerror(errno));
	transfer->have = (uint64_t)now.st_size;
	return 0;
}

static bool is_cached(const char *path, const char *sha256)
{
	char sum[SHA256_HEX_SIZE];

	return sha256_file(path, sum, NULL) == 0 && strcasecmp(sum, sha256) == 0;
}

int download_fetch(
	const struct download *download, char *path, size_t size, char *error, size_t error_size)
{
	struct transfer transfer = {
		.download = download, .error = error, .error_size = error_size, .fd = -1};
	char part[PATH_MAX];
	int ret;

	shorten_url(download->url, transfer.shown, sizeof(transfer.shown));
	if (!is_hash(download->sha256))
		return fail(&transfer, -EINVAL,
			"an image from the network needs its SHA-256, 64 hex digits");
	make_folders(download->folder);
	if ((size_t)snprintf(path, size, "%s/%s", download->folder, download->sha256) >= size ||
		(size_t)snprintf(part, sizeof(part), "%s.part", path) >= sizeof(part))
		return fail(&transfer, -ENAMETOOLONG, "the path of the cache is too long");
	if (is_cached(path, download->sha256))
		return 0;
	ret = open_part(&transfer, part);
	if (ret)
		goto out;
	transfer.curl = curl_easy_init();
	ret = transfer.curl ? run(&transfer) : fail(&transfer, -ENOMEM, "out of memory");
	if (!ret)
		ret = check_whole(&transfer, part, path);
out:
	curl_easy_cleanup(transfer.curl);
	if (transfer.fd >= 0)
		close(transfer.fd);
	return ret;
}

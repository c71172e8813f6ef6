/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/rtc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rtc.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "agents/core/counter.h"
#include "agents/linux/file.h"

#define RTC_PATH    "/dev/rtc0"
#define SPIN_MS	    20u	 /* before the edge of a second; until then it sleeps */
#define PATIENCE_MS 3000 /* for an alarm */

void rtc_init(struct rtc *rtc)
{
	char chip[64];
	struct rtc_wkalrm alarm;
	int fd = open(RTC_PATH, O_RDONLY | O_CLOEXEC);

	*rtc = (struct rtc){.fd = -1};
	if (fd < 0)
		return;
	memset(&alarm, 0, sizeof(alarm));
	rtc->is_usable = ioctl(fd, RTC_WKALM_RD, &alarm) == 0;
	close(fd);
	if (file_read_text("/sys/class/rtc/rtc0/name", chip, sizeof(chip)) <= 0)
		strcpy(chip, "rtc0");
	snprintf(rtc->name, sizeof(rtc->name), "%s, %s", chip, RTC_PATH);
}

int rtc_begin(struct rtc *rtc)
{
	rtc->fd = open(RTC_PATH, O_RDONLY | O_CLOEXEC);
	return rtc->fd >= 0 ? 0 : WIRE_ERROR_FAILED;
}

void rtc_end(struct rtc *rtc)
{
	if (rtc->fd < 0)
		return;
	ioctl(rtc->fd, RTC_AIE_OFF, 0);
	close(rtc->fd);
	rtc->fd = -1;
}

static int read_second(const struct rtc *rtc, struct rtc_time *now)
{
	return ioctl(rtc->fd, RTC_RD_TIME, now);
}

/* The edge between two seconds, in counts, and how far apart the readings were. */
static int find_edge(
	const struct rtc *rtc, struct rtc_time *second, uint64_t *edge, uint64_t *bracket)
{
	struct rtc_time now;

	if (read_second(rtc, second) != 0)
		return -1;
	now = *second;
	do {
		*edge = counter_read();
		if (read_second(rtc, &now) != 0)
			return -1;
		*bracket = counter_read() - *edge;
	} while (now.tm_sec == second->tm_sec);
	*second = now;
	return 0;
}

/* One second later, with all that follows from it. */
static void add_second(struct rtc_time *time)
{
	struct tm tm = {
		.tm_sec = time->tm_sec + 1,
		.tm_min = time->tm_min,
		.tm_hour = time->tm_hour,
		.tm_mday = time->tm_mday,
		.tm_mon = time->tm_mon,
		.tm_year = time->tm_year,
	};
	time_t later = timegm(&tm);

	gmtime_r(&later, &tm);
	time->tm_sec = tm.tm_sec;
	time->tm_min = tm.tm_min;
	time->tm_hour = tm.tm_hour;
	time->tm_mday = tm.tm_mday;
	time->tm_mon = tm.tm_mon;
	time->tm_year = tm.tm_year;
}

/* The reading under way when the second changed began in the old one: that is where the edge is
 * from on. */
int rtc_wait(struct rtc *rtc, uint64_t rate_hz, struct agent_alarm *alarm)
{
	const struct timespec rest = {.tv_nsec = (1000 - SPIN_MS) * 1000000l};
	struct pollfd waited = {.fd = rtc->fd, .events = POLLIN};
	struct rtc_wkalrm wanted = {.enabled = 1};
	unsigned long data;
	uint64_t edge;

	if (find_edge(rtc, &wanted.time, &edge, &alarm->bracket_counts) != 0)
		return WIRE_ERROR_FAILED;
	add_second(&wanted.time);
	if (ioctl(rtc->fd, RTC_WKALM_SET, &wanted) != 0)
		return WIRE_ERROR_FAILED;
	if (poll(&waited, 1, PATIENCE_MS) != 1)
		return WIRE_ERROR_FAILED;
	alarm->thread_counts = counter_read();
	if (read(rtc->fd, &data, sizeof(data)) < 0)
		return WIRE_ERROR_FAILED;
	alarm->due_counts = edge + rate_hz;
	nanosleep(&rest, NULL);
	return 0;
}

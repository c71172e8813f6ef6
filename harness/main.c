/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli.h"
#include "harness/stop.h"

int main(int argc, char **argv)
{
	stop_init();
	return cli_main(argc, argv);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/build.h"

void build_put_facts(struct text *text)
{
#if defined(__clang__)
	text_put(text, "agent_compiler", __VERSION__);
#else
	text_put(text, "agent_compiler", "gcc " __VERSION__);
#endif
#if defined(__OPTIMIZE__)
	text_put(text, "agent_optimised", "yes");
#else
	text_put(text, "agent_optimised", "no");
#endif
#if defined(__SANITIZE_ADDRESS__)
	text_put(text, "agent_sanitized", "yes");
#endif
}

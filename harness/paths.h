/* SPDX-License-Identifier: Apache-2.0 */
/* Where sameboard keeps its own files. */
#ifndef SAMEBOARD_HARNESS_PATHS_H
#define SAMEBOARD_HARNESS_PATHS_H

#include <stddef.h>

/*
 * Path of `name` in the state folder: $SAMEBOARD_STATE, $XDG_STATE_HOME/sameboard
 * or ~/.local/state/sameboard.  0 or -ENAMETOOLONG.
 */
int paths_state_file(const char *name, char *path, size_t size);

/*
 * Path of `name` in the cache: $SAMEBOARD_CACHE, $XDG_CACHE_HOME/sameboard or
 * ~/.cache/sameboard.  0 or -ENAMETOOLONG.
 */
int paths_cache_file(const char *name, char *path, size_t size);

/*
 * A path relative to the folder that the running program is in: "../harness/suites"
 * in the tree that it was built in, "../share/sameboard/suites" where it is
 * installed.  0, -ENAMETOOLONG, or what reading the program's own path gave.
 */
int paths_beside_program(const char *relative, char *path, size_t size);

/* Makes the folders above path; what is wrong shows when the file is opened. */
void paths_make_parents(const char *path);

#endif

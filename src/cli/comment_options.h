/*
 * The options about comments (--comment-…), for all commands that open a data directory.
 */
#ifndef LAUD_CLI_COMMENT_OPTIONS_H
#define LAUD_CLI_COMMENT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/options.h"
#include "comment/policy.h"

/* Are they valid, whatever the data is? The file of words is read, too. False: `problem` is one sentence. */
bool comment_options_check(const struct options *options, char *problem, size_t size);

/* The policy that they describe. The options must outlive it. NULL: `problem` is one sentence. */
struct comment_policy *comment_options_policy(const struct options *options, char *problem,
                                              size_t size);

/* Reads the file of words again, for SIGHUP, and logs one sentence about it. Without such a file: nothing. */
void comment_options_reload(struct comment_policy *policy);

#endif

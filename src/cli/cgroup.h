/*
 * The memory that the kernel allows this process if it runs in a cgroup, for example in a container or
 * in a systemd unit with MemoryMax=. Any thread may call it.
 */
#ifndef LAUD_CLI_CGROUP_H
#define LAUD_CLI_CGROUP_H

#include <stdint.h>

#define CGROUP_NO_LIMIT UINT64_MAX

/*
 * The lowest memory limit of the process's cgroup and of all cgroups above it, or CGROUP_NO_LIMIT.
 * `list` is a file like /proc/self/cgroup, which names the cgroups, and `mount` is the directory with
 * their files, like /sys/fs/cgroup. Version 1 has the cgroups for memory in `memory` below it. A file
 * that is absent or cannot be parsed counts as no limit.
 */
uint64_t cgroup_memory(const char *list, const char *mount);

#endif

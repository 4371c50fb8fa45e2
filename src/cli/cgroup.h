/*
 * The memory that the kernel lets this process have, where it runs in a cgroup: a container, a unit of
 * systemd with MemoryMax=. Any thread.
 */
#ifndef LAUD_CLI_CGROUP_H
#define LAUD_CLI_CGROUP_H

#include <stdint.h>

#define CGROUP_NO_LIMIT UINT64_MAX

/*
 * The least that the process's cgroup or one above it may have. `list` is a file as /proc/self/cgroup,
 * which names its cgroups, and `mount` the directory they are under, as /sys/fs/cgroup; version 1 has
 * those for memory in `memory` in there. What is not there or not understood is no limit.
 */
uint64_t cgroup_memory(const char *list, const char *mount);

#endif

#!/bin/sh
# The first process of a machine (machine.py): in namespaces of its own, makes a root of the directory
# $1 with what systemd wants to find there, and becomes systemd. $2…: arguments for it.
#
# The kernel is everybody's: its settings are read-only in there, and modules and clock out of reach.
set -e
root=$1
shift

mount -t proc proc "$root/proc"
mount --bind -o ro "$root/proc/sys" "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm" "$root/run/outside"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for device in null zero full random urandom tty; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
ip link set lo up

cd "$root"
pivot_root . run/outside
umount -l /run/outside
exec env -i container=laud-test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    setpriv --inh-caps=-all --bounding-set=-sys_module,-sys_time,-sys_rawio,-syslog \
    /lib/systemd/systemd "$@"

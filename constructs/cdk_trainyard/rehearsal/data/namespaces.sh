#!/bin/bash
# Process 1 of the namespaces of a rehearsal (processes, mounts, network). Everything of the rehearsal lives in
# them, so when this process ends, the kernel ends and unmounts everything, whatever happened before. It ends when its
# standard input does: with the Python process that holds the other end, even one that is killed.
set -Eeuo pipefail
mount -t tmpfs -o mode=755,size=60% rehearsal /run # the nodes' state; hides the host's /run from the rehearsal
mkdir -p /run/netns /run/rehearsal
ip link set lo up
printf 'ready\n'
while read -r _; do :; done

#!/bin/sh
# Stand-in for lsblk on a rehearsal node: its disks are this machine's, and no script may touch those.

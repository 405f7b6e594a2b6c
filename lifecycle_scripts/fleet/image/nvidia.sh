#!/bin/bash
# NVIDIA's proprietary driver of one branch, from Ubuntu. V100 is older than what the open kernel modules of Deep
# Learning AMIs begin with (Turing). The modules are made here, for the kernel that runs: those that Ubuntu has made are
# for its newest kernel, and for an older one they want the driver of their day, which its archive has no more.
set -Eeuo pipefail
: "${NVIDIA_BRANCH:?the branch, as 580}"
export DEBIAN_FRONTEND=noninteractive
kernel=$(uname -r)

apt-get -o DPkg::Lock::Timeout=600 update -q
apt-get -o DPkg::Lock::Timeout=600 install -qy --no-install-recommends \
  "linux-headers-${kernel}" "nvidia-dkms-${NVIDIA_BRANCH}-server" "nvidia-headless-no-dkms-${NVIDIA_BRANCH}-server" \
  "nvidia-utils-${NVIDIA_BRANCH}-server"
modinfo --set-version="${kernel}" nvidia >/dev/null

#!/bin/bash
# NVIDIA's proprietary driver of one branch, from Ubuntu. V100 is older than what the open kernel modules of Deep
# Learning AMIs begin with (Turing).
set -Eeuo pipefail
: "${NVIDIA_BRANCH:?the branch, as 580}"
export DEBIAN_FRONTEND=noninteractive

apt-get -o DPkg::Lock::Timeout=600 update -q
apt-get -o DPkg::Lock::Timeout=600 install -qy --no-install-recommends \
  linux-modules-nvidia-"${NVIDIA_BRANCH}"-server-aws "nvidia-headless-no-dkms-${NVIDIA_BRANCH}-server" \
  "nvidia-utils-${NVIDIA_BRANCH}-server"
modinfo nvidia >/dev/null

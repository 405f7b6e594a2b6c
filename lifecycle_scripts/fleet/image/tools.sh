#!/bin/bash
# What the set-up of nodes calls and a plain image of Ubuntu lacks. A Deep Learning AMI has it all.
set -Eeuo pipefail
export DEBIAN_FRONTEND=noninteractive

if command -v apt-get >/dev/null; then
  apt-get -o DPkg::Lock::Timeout=600 update -q
  apt-get -o DPkg::Lock::Timeout=600 install -qy --no-install-recommends \
    ca-certificates curl gnupg mdadm unzip xfsprogs python3 openssh-server
else
  dnf install -qy mdadm unzip xfsprogs python3 openssh-server tar
fi
if ! command -v aws >/dev/null; then
  directory=$(mktemp -d)
  machine=$(uname -m)
  curl -fsS --retry 5 -o "${directory}/awscli.zip" "https://awscli.amazonaws.com/awscli-exe-linux-${machine}.zip"
  unzip -q "${directory}/awscli.zip" -d "${directory}"
  "${directory}/aws/install"
  rm -rf -- "${directory}"
fi
aws --version

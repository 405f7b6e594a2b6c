#!/bin/bash
# The Lustre client for the kernel that the image has, and no other: FSx for Lustre user guide, "Installing the Lustre
# client". An update of the kernel without its client could not mount: kernel.sh holds it before. Image Builder runs both
# for an image, and a node whose image has no client runs them itself.
set -Eeuo pipefail
root=${TRAINYARD_ROOT:-}
export DEBIAN_FRONTEND=noninteractive
kernel=$(uname -r)
ID='' VERSION_CODENAME=''
# shellcheck source=/dev/null
source "${root}/etc/os-release"

if modinfo lustre >/dev/null 2>&1; then
  echo "the kernel ${kernel} has a Lustre client already"
elif [[ ${ID} == ubuntu ]]; then
  key=${root}/usr/share/keyrings/fsx-ubuntu-public-key.gpg
  curl -fsS --retry 5 https://fsx-lustre-client-repo-public-keys.s3.amazonaws.com/fsx-ubuntu-public-key.asc \
    | gpg --dearmor --yes --output "${key}"
  echo "deb [signed-by=${key}] https://fsx-lustre-client-repo.s3.amazonaws.com/ubuntu ${VERSION_CODENAME} main" \
    >"${root}/etc/apt/sources.list.d/fsxlustreclientrepo.list"
  apt-get -o DPkg::Lock::Timeout=600 update -q
  apt-get -o DPkg::Lock::Timeout=600 install -qy "lustre-client-modules-${kernel}" || {
    echo "no Lustre client is published for the kernel ${kernel} of this image; it is for:" >&2
    apt-cache search --names-only '^lustre-client-modules-[0-9]' | sort --version-sort | tail -n 10 >&2
    exit 1
  }
else
  dnf install -qy lustre-client
fi
depmod -a
modinfo lustre >/dev/null

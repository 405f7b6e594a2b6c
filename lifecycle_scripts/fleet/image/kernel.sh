#!/bin/bash
# The kernel stays what it is: drivers and the Lustre client are made for it. It is held first, so that nothing brings
# another while they are installed. Image Builder runs this for an image, and a node that installs the Lustre client.
# KERNEL is what the image is known to have, and what everything else was chosen for. Default - whatever runs.
set -Eeuo pipefail
root=${TRAINYARD_ROOT:-}
kernel=$(uname -r)
[[ ${kernel} == "${KERNEL:-${kernel}}" ]] || {
  echo "this image has kernel ${kernel}, and the versions that are installed were chosen for ${KERNEL}" >&2
  exit 1
}
ID=''
# shellcheck source=/dev/null
source "${root}/etc/os-release"
[[ ${ID} == ubuntu ]] || exit 0 # Amazon Linux keeps to the release that it was made with

# shellcheck disable=SC2016  # dpkg-query expands it
known=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' 'linux-aws*' 'linux-image-*' \
  'linux-headers-*' 'linux-modules-*' 2>/dev/null) || [[ -n ${known} ]] # not every image has packages of every name
installed=$(awk '$1 == "installed" { print $2 }' <<<"${known}")
mapfile -t packages <<<"${installed}"
tries=60 # Ubuntu updates itself after its first boot, and has dpkg's lock meanwhile
until apt-mark hold "${packages[@]}"; do
  ((--tries > 0))
  sleep 10
done

#!/bin/bash
# EFA: driver, libfabric, Open MPI and the plugin of NCCL, from AWS's installer of exactly one version, byte for byte.
# EFA user guide, "Get started with EFA and MPI". EFA_KEEP=yes leaves alone what the base image has.
set -Eeuo pipefail
: "${EFA_INSTALLER:?the version}" "${EFA_SHA256:?of the archive}" "${EFA_KEEP:?yes or no}"
archive=aws-efa-installer-${EFA_INSTALLER}.tar.gz
packages=/opt/amazon/efa_installed_packages

if [[ -e ${packages} ]]; then
  installed=$(head -n 1 "${packages}")
  if [[ ${EFA_KEEP} == yes || ${installed} == *" ${EFA_INSTALLER}" ]]; then
    echo "the image has EFA already: ${installed}"
    exit 0
  fi
fi
directory=$(mktemp -d)
cd -- "${directory}"
curl -fsS --retry 5 -O "https://efa-installer.amazonaws.com/${archive}"
sha256sum --check --strict <<<"${EFA_SHA256}  ${archive}"
tar -xf "${archive}"
cd -- aws-efa-installer
./efa_installer.sh -y --skip-limit-conf # the set-up of nodes writes the limits
rm -rf -- "${directory}"
modinfo efa >/dev/null
test -x /opt/amazon/efa/bin/fi_info

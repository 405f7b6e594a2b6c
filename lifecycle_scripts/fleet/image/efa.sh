#!/bin/bash
# EFA: driver, libfabric, Open MPI and the plugin of NCCL, from AWS's installer of exactly one version, signed by AWS.
# EC2 user guide, "Get started with EFA and NCCL". EFA_KEEP=yes leaves alone what the base image has.
set -Eeuo pipefail
: "${EFA_INSTALLER:?the version}" "${EFA_KEY:?fingerprint of the key that signs it}" "${EFA_KEEP:?yes or no}"
site=https://efa-installer.amazonaws.com
archive=aws-efa-installer-${EFA_INSTALLER}.tar.gz
packages=${TRAINYARD_ROOT:-}/opt/amazon/efa_installed_packages

if [[ -e ${packages} ]]; then
  installed=$(head -n 1 "${packages}")
  if [[ ${EFA_KEEP} == yes || ${installed} == *" ${EFA_INSTALLER}" ]]; then
    echo "the image has EFA already: ${installed}"
    exit 0
  fi
fi
directory=$(mktemp -d)
cd -- "${directory}"
for file in "${archive}" "${archive}.sig" aws-efa-installer.key; do
  curl -fsS --retry 5 -O "${site}/${file}"
done
export GNUPGHOME=${directory}/keys
mkdir -m 700 -- "${GNUPGHOME}"
gpg --batch --quiet --import aws-efa-installer.key
said=$(gpg --batch --status-fd 1 --verify "${archive}.sig" "${archive}") || said=''
signer=$(awk '$2 == "VALIDSIG" { print $NF }' <<<"${said}")
[[ ${signer} == "${EFA_KEY}" ]] || {
  echo "${archive} is signed by ${signer:-nobody}, and must be by ${EFA_KEY}; nothing was installed" >&2
  exit 1
}
if [[ -n ${EFA_SHA256-} ]]; then
  sha256sum --check --strict <<<"${EFA_SHA256}  ${archive}"
fi
tar -xf "${archive}"
cd -- aws-efa-installer
./efa_installer.sh -y --skip-limit-conf # the set-up of nodes writes the limits
rm -rf -- "${directory}"
modinfo efa >/dev/null
test -x "${TRAINYARD_ROOT:-}/opt/amazon/efa/bin/fi_info"

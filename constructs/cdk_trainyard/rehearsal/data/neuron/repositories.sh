#!/bin/bash
# Makes stubs of Neuron's package repository, signed with a key made for it: repositories.sh BUNDLE DIRECTORY SYSTEM.
# SYSTEM is the codename of an Ubuntu, or dnf. Runs in a copy of the node image, with its tools. The scripts in BUNDLE say
# which packages: a stub has name, version and a suffix of the maker's, and a program that says what it is. There is a
# later version of each, too, which nobody asks for. DIRECTORY gets apt/ or yum/, the key's fingerprint, and the list of
# the Python packages that are pinned.
set -Eeuo pipefail
here=$1 directory=$2 system=$3
export ROOT='' GNUPGHOME
GNUPGHOME=$(mktemp -d)
# shellcheck source-path=SCRIPTDIR source=../../../../../lifecycle_scripts/parallelcluster/neuron_node.sh
source "${here}/neuron_node.sh"
packages=("${NEURON_DRIVER[@]:?nothing is pinned}" "${NEURON_RUNTIME[@]}")
printf '%s\n' "${NEURON_PYTHON[@]}" >"${directory}/python-packages"
work=$(mktemp -d)

# say_what PACKAGE VERSION: the program in a stub.
say_what() {
  printf '#!/bin/sh\necho "%s %s is a stub"\n' "$1" "$2"
}

# make_deb PACKAGE VERSION
make_deb() {
  local root=${work}/$1
  mkdir -p -- "${root}/DEBIAN" "${root}/opt/aws/neuron/bin"
  say_what "$@" >"${root}/opt/aws/neuron/bin/$1"
  chmod 755 -- "${root}/opt/aws/neuron/bin/$1"
  printf '%s\n' "Package: $1" "Version: $2-rehearsal" 'Architecture: amd64' \
    'Maintainer: rehearsal <rehearsal@localhost>' 'Description: stub of a rehearsal' >"${root}/DEBIAN/control"
  dpkg-deb --build --root-owner-group "${root}" "${directory}/apt/pool/$1_$2.deb" >/dev/null
}

# make_rpm PACKAGE VERSION: without what rpm finds out of itself, as the need for a shell: Debian's is in no package of rpm.
make_rpm() {
  say_what "$@" >"${work}/program"
  printf '%s\n' "Name: $1" "Version: $2_rehearsal" 'Release: 1' 'Summary: stub of a rehearsal' 'License: none' \
    'AutoReqProv: no' '%description' '%install' "install -D -m 755 ${work}/program %{buildroot}/opt/aws/neuron/bin/$1" \
    '%files' "/opt/aws/neuron/bin/$1" >"${work}/$1.spec"
  rpmbuild -bb --quiet --target x86_64 --define "_topdir ${work}" --define "_rpmdir ${directory}/yum" \
    --define 'debug_package %{nil}' --define '__os_install_post %{nil}' "${work}/$1.spec"
}

# index_apt CODENAME: the lists of the archive, and who vouches for them.
index_apt() {
  local codename=$1 index=dists/$1/main/binary-amd64/Packages file sum size date
  cd -- "${directory}/apt"
  for file in pool/*.deb; do
    dpkg-deb --field "${file}"
    sum=$(sha256sum "${file}")
    size=$(stat --format=%s "${file}")
    printf 'Filename: %s\nSize: %s\nSHA256: %s\n\n' "${file}" "${size}" "${sum%% *}"
  done >"${index}"
  cd -- "dists/${codename}"
  sum=$(sha256sum main/binary-amd64/Packages)
  size=$(stat --format=%s main/binary-amd64/Packages)
  date=$(date --utc --rfc-email)
  printf '%s\n' 'Origin: rehearsal' "Suite: ${codename}" "Codename: ${codename}" "Date: ${date/+0000/UTC}" 'Architectures: amd64' \
    'Components: main' 'SHA256:' " ${sum%% *} ${size} main/binary-amd64/Packages" >Release
  gpg --batch --quiet --clearsign --output InRelease Release
}

# index_dnf: every package is signed, as the maker's are; the lists are not.
index_dnf() {
  rpmsign --addsign --define '_gpg_name rehearsal' --define '__gpg /usr/bin/gpg' "${directory}"/yum/x86_64/*.rpm >/dev/null
  createrepo_c --quiet "${directory}/yum"
}

case ${system} in
  dnf) site=yum make=make_rpm index=(index_dnf) ;;
  *)
    site=apt make=make_deb index=(index_apt "${system}")
    mkdir -p -- "${directory}/apt/pool" "${directory}/apt/dists/${system}/main/binary-amd64"
    ;;
esac
gpg --batch --quiet --passphrase '' --quick-generate-key 'rehearsal <rehearsal@localhost>' rsa3072 sign never
gpg --batch --quiet --armor --export >"${directory}/${site}/GPG-PUB-KEY-AMAZON-AWS-NEURON.PUB"
listed=$(gpg --batch --with-colons --list-keys)
awk -F: '$1 == "fpr" { print $10; exit }' <<<"${listed}" >"${directory}/fingerprint"
for ((number = 0; number < ${#packages[@]}; number += 2)); do
  for version in "${packages[number + 1]}" 99.0; do
    "${make}" "${packages[number]}" "${version}"
  done
done
"${index[@]}"
gpgconf --kill all

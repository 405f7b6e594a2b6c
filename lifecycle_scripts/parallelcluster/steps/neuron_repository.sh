# shellcheck shell=bash
# Neuron's package repository, with the one key that may sign it.
: "${ROOT?}" "${NEURON_KEY?}"
NEURON_REPOSITORY_KEY=GPG-PUB-KEY-AMAZON-AWS-NEURON.PUB

step neuron_repository "add Neuron's package repository" \
  'the subnet has no way to *.repos.neuron.amazonaws.com (NAT, proxy), or the repository is down'

step_neuron_repository_done() {
  # shellcheck disable=SC2154  # an array of neuron_node.sh
  driver_is_settled && all_installed "${NEURON_RUNTIME[@]}"
}

step_neuron_repository_run() {
  local system key
  system=$(neuron_system)
  case ${system} in
    apt) key=${ROOT}/etc/apt/keyrings/neuron.asc ;;
    *) key=${ROOT}/etc/pki/rpm-gpg/neuron.asc ;;
  esac
  mkdir -p -- "${key%/*}"
  wait_until 120 "Neuron's key" fetch_neuron_key "${system}" "${key}.new"
  check_neuron_key "${key}.new"
  mv -f -- "${key}.new" "${key}"
  "add_${system}_repository" "${key}"
  wait_until 300 "Neuron's repository" "refresh_${system}"
}

step_neuron_repository_verify() { :; }

fetch_neuron_key() {
  local host=apt
  [[ $1 == apt ]] || host=yum
  curl --fail --silent --show-error --proto '=https' --max-time 30 --output "$2" \
    "https://${host}.repos.neuron.amazonaws.com/${NEURON_REPOSITORY_KEY}"
}

# check_neuron_key FILE: the key is the one whose fingerprint we know, and there is no other in the file.
check_neuron_key() {
  local listed keys
  listed=$(gpg --batch --with-colons --show-keys "$1") || listed=''
  keys=$(awk -F: '$1 == "pub" { wanted = 1 } $1 == "fpr" && wanted { print $10; wanted = 0 }' <<<"${listed}")
  [[ ${keys} == "${NEURON_KEY}" ]] || {
    rm -f -- "$1"
    fail "the key of Neuron's repository is ${keys:-none}, and must be ${NEURON_KEY}; nothing was installed"
  }
}

add_apt_repository() {
  local codename
  codename=$(neuron_codename)
  put_file "${ROOT}/etc/apt/sources.list.d/neuron.list" 0644 \
    "deb [signed-by=${1#"${ROOT}"}] https://apt.repos.neuron.amazonaws.com ${codename} main"
}

add_dnf_repository() {
  put_file "${ROOT}/etc/yum.repos.d/neuron.repo" 0644 "[neuron]
name=Neuron
baseurl=https://yum.repos.neuron.amazonaws.com
enabled=1
gpgcheck=1
gpgkey=file://${1#"${ROOT}"}
metadata_expire=0"
  with_lock 300 rpm --import "$1"
}

# Neuron's list alone, and an error when it cannot be had: apt-get would call that a warning.
refresh_apt() {
  timeout 120 apt-get --quiet --yes -o APT::Update::Error-Mode=any -o Dir::Etc::sourcelist=sources.list.d/neuron.list \
    -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0 update
}

# An error when it cannot be had, even where dnf is configured to go on without a repository that is down.
refresh_dnf() {
  timeout 120 dnf --quiet --disablerepo='*' --enablerepo=neuron --setopt=neuron.skip_if_unavailable=False makecache
}

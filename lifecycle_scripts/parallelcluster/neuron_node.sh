# shellcheck shell=bash
# What the steps share: which versions, which system, which node, and packages by either package manager.
#
# Versions are those of Neuron 2.33.0, released on October 19, 2026 (release-notes/releasecontent in the Neuron
# documentation). The key is the one whose fingerprint AWS publishes; Bottlerocket pins the same.
: "${ROOT?}"
NEURON_KEY=00FA2C1079260870A76D2C285749CAD8646D9185
NEURON_DRIVER=(aws-neuronx-dkms 2.31.7.0)
NEURON_RUNTIME=(aws-neuronx-collectives 2.35.43.0 aws-neuronx-runtime-lib 2.35.30.0 aws-neuronx-tools 2.33.38.0)
NEURON_PYTHON_INDEX=$(awk '$1 == "--extra-index-url" { print $2 }' "${here?}/lib/neuron-requirements.txt")
NEURON_PYTHON=$(grep '^[a-z]' -- "${here}/lib/neuron-requirements.txt")
mapfile -t NEURON_PYTHON <<<"${NEURON_PYTHON}"
export NEURON_KEY NEURON_DRIVER NEURON_RUNTIME NEURON_PYTHON NEURON_PYTHON_INDEX
# Inferentia (7064 to 7067) and later Neuron devices of Amazon (vendor 1d0f), as the driver lists them.
NEURON_PCI=' 0x7064 0x7065 0x7066 0x7067 0x7164 0x7264 0x7364 0x7564 0x7565 '

# neuron_system: apt or dnf; fails on a system for which Neuron is not published.
neuron_system() {
  local system
  # shellcheck source=/dev/null disable=SC2154  # the file sets them
  system=$(source "${ROOT}/etc/os-release" && printf '%s-%s' "${ID}" "${VERSION_ID}")
  case ${system} in
    ubuntu-22.04 | ubuntu-24.04) echo apt ;;
    amzn-2023) echo dnf ;;
    *)
      log "ERROR: Neuron is published for Amazon Linux 2023, Ubuntu 22.04 and Ubuntu 24.04, this is ${system}" >&2
      return 1
      ;;
  esac
}

# neuron_codename: jammy or noble.
neuron_codename() {
  # shellcheck source=/dev/null disable=SC2154  # the file sets it
  (source "${ROOT}/etc/os-release" && printf '%s' "${VERSION_CODENAME}")
}

# node_type: HeadNode, ComputeFleet or LoginNode.
node_type() {
  # shellcheck source=/dev/null
  (source "${ROOT}/etc/parallelcluster/cfnconfig" && printf '%s' "${cfn_node_type:?}")
}

# has_neuron_device: whether the hardware is there, driver or not.
has_neuron_device() {
  local path vendor device
  for path in "${ROOT}"/sys/bus/pci/devices/*; do
    [[ -r ${path}/vendor && -r ${path}/device ]] || continue
    vendor=$(<"${path}/vendor")
    device=$(<"${path}/device")
    [[ ${vendor} == 0x1d0f && ${NEURON_PCI} == *" ${device} "* ]] && return 0
  done
  return 1
}

# driver_is_settled: whether no driver is needed, or one is there.
driver_is_settled() {
  ! has_neuron_device || installed "${NEURON_DRIVER[0]}" >/dev/null
}

# installed PACKAGE: its version; fails when there is none. dpkg knows the version of a package that is half installed too.
installed() {
  local system found
  system=$(neuron_system) || return 1
  case ${system} in
    apt)
      # shellcheck disable=SC2016  # dpkg-query expands it
      found=$(dpkg-query --show --showformat='${db:Status-Status} ${Version}' "$1" 2>/dev/null) \
        && [[ ${found} == 'installed '* ]] && printf '%s' "${found#installed }"
      ;;
    *) rpm --query --queryformat='%{VERSION}' "$1" 2>/dev/null ;;
  esac
}

# is_installed PACKAGE VERSION: whether this version is there; what the maker adds for a build does not count.
is_installed() {
  local found
  found=$(installed "$1") && [[ ${found} == "$2" || ${found} == "$2"[-+_.]* ]]
}

# all_installed PACKAGE VERSION...: whether every one is.
all_installed() {
  while (($# > 0)); do
    is_installed "$1" "$2" || return 1
    shift 2
  done
}

# install_packages SECONDS PACKAGE VERSION...: installs exactly these versions.
install_packages() {
  local seconds=$1 system
  local -a wanted=()
  shift
  system=$(neuron_system)
  while (($# > 0)); do
    case ${system} in
      apt) wanted+=("$1=$2*") ;;
      *) wanted+=("$1-$2*") ;;
    esac
    shift 2
  done
  case ${system} in
    apt)
      finish_packages
      DEBIAN_FRONTEND=noninteractive timeout "${seconds}" apt-get --quiet --yes -o DPkg::Lock::Timeout=120 install \
        --no-install-recommends --allow-downgrades --allow-change-held-packages -- "${wanted[@]}"
      ;;
    *) with_lock "${seconds}" dnf --assumeyes install -- "${wanted[@]}" ;; # quiet, it would not say why a download failed
  esac
}

# finish_packages: what a run that was cut off left half done; before that apt installs nothing. What dpkg cannot finish,
# apt may: by another version, or by what was missing.
finish_packages() {
  # shellcheck disable=SC2310  # apt says what is wrong
  LC_ALL=C DEBIAN_FRONTEND=noninteractive with_lock 900 dpkg --configure -a \
    || log 'dpkg cannot finish what was begun before'
}

# with_lock SECONDS COMMAND...: runs it, and again while another program has the lock of rpm or dpkg, as the SSM agent's
# update at the first boot: dpkg gives up at once, rpm does when nobody is at the terminal, and dnf waits for another dnf only.
with_lock() {
  local deadline=$((SECONDS + $1)) said code whose
  shift
  while true; do
    code=0
    said=$(timeout "$((deadline - SECONDS))" "$@" 2>&1) || code=$?
    case ${said} in
      *"can't create transaction lock"*) whose=rpm ;;
      *'lock was locked by another process'*) whose=dpkg ;;
      *) whose='' ;;
    esac
    if ((code == 0 || SECONDS + 5 >= deadline)) || [[ -z ${whose} ]]; then
      [[ -z ${said} ]] || printf '%s\n' "${said}"
      return "${code}"
    fi
    log "another program has ${whose}'s lock"
    sleep 2
  done
}

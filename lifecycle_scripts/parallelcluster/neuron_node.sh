# shellcheck shell=bash
# What the steps share: which versions, which system, which node, and packages by either package manager.
#
# The key is the one whose fingerprint AWS publishes; Bottlerocket pins the same.
: "${ROOT?}"
# shellcheck source-path=SCRIPTDIR source=neuron_versions.sh
source "${here?}/neuron_versions.sh"
# shellcheck source-path=SCRIPTDIR source=node.sh
source "${here}/node.sh"
NEURON_KEY=00FA2C1079260870A76D2C285749CAD8646D9185
export NEURON_KEY

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

# driver_is_settled: whether no driver is needed, or one is there.
driver_is_settled() {
  ! has_neuron_device || installed "${NEURON_DRIVER[0]}" >/dev/null
}

# python_fits: fails with both sides when the packages are for another Python than this node's. pip would name neither.
python_fits() {
  local python
  python=$(python3 -c 'import sys; print("{}.{}".format(*sys.version_info))')
  [[ " ${NEURON_PYTHONS?} " == *" ${python} "* ]] \
    || fail "this node has Python ${python}, and ${NEURON_PYTHON[*]} are for Python ${NEURON_PYTHONS// /, }: use Ubuntu 24.04, or leave --venv out and train in containers"
}

# driver_fits: fails with both sides when the driver that is there is ruled out for the runtime that is pinned.
driver_fits() {
  local driver from=${NEURON_DRIVERS[0]} before=${NEURON_DRIVERS[1]}
  # shellcheck disable=SC2310  # there may be none
  has_neuron_device && driver=$(installed "${NEURON_DRIVER[0]}") || return 0
  # shellcheck disable=SC2310  # questions
  if { [[ -n ${from} ]] && is_older "${driver}" "${from}"; } || { [[ -n ${before} ]] && ! is_older "${driver}" "${before}"; }; then
    fail "this node has Neuron driver ${driver}, and ${NEURON_RUNTIME[2]} ${NEURON_RUNTIME[3]} needs${from:+ ${from} or later}${before:+, before ${before}}: use an image with another driver, or with none"
  fi
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
      apt_install "${seconds}" --no-install-recommends --allow-downgrades --allow-change-held-packages -- "${wanted[@]}"
      ;;
    *) with_lock "${seconds}" dnf --assumeyes install -- "${wanted[@]}" ;; # quiet, it would not say why a download failed
  esac
}

# apt_install SECONDS WORD...: installs, and again with the package lists of today: an image has those of the day on which it
# was made, and an archive has what they name no more once there is a newer one.
apt_install() {
  local -a command=(apt-get --quiet --yes -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 install "${@:2}")
  DEBIAN_FRONTEND=noninteractive timeout "$1" "${command[@]}" || {
    log 'once more, with the package lists of today'
    # shellcheck disable=SC2310  # apt says which list it is, and what is installed may need nothing of it
    wait_until 120 'the package lists' timeout 120 apt-get --quiet --yes -o APT::Update::Error-Mode=any update || true
    DEBIAN_FRONTEND=noninteractive timeout "$1" "${command[@]}"
  }
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

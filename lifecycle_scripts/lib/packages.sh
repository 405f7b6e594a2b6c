# shellcheck shell=bash
# What a node gets from elsewhere, for steps whose option asks for it: packages of the system's own repositories, and
# files that are pinned by their SHA-256.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE

PACKAGE_LOCKS=(var/lib/dpkg/lock-frontend var/lib/dpkg/lock var/lib/apt/lists/lock var/cache/apt/archives/lock)
# What may pass by itself. Anything else that apt complains of is said at once, and not waited for.
PACKAGE_TROUBLE='Temporary failure|Could not connect|Connection (failed|refused|timed out|reset)|Unable to connect|Cannot initiate'
PACKAGE_TROUBLE+='|Could not get lock|Unable to (acquire|lock)|Hash Sum mismatch|File has unexpected size|50[0234] |timed out'

# install_packages PACKAGE...: installs those that are missing.
install_packages() {
  local -a missing=()
  local package
  take_turn
  for package in "$@"; do
    # shellcheck disable=SC2310  # a question
    is_installed "${package}" || missing+=("${package}")
  done
  ((${#missing[@]} == 0)) || {
    finish_packages
    wait_until 300 'the package lists' refresh_packages
    wait_until 300 "the packages ${missing[*]}" try_packages "${missing[@]}"
    package_manager 1500 apt-get "${PACKAGE_INSTALL[@]}" "${missing[@]}"
  }
  exec {PACKAGE_LOG}>&- 9>&-
}

PACKAGE_OPTIONS=(--quiet=2 --yes -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)
# Nothing asks again after this one, and somebody may hold the lock for minutes. Of two equal options the last counts.
PACKAGE_INSTALL=("${PACKAGE_OPTIONS[@]}" -o DPkg::Lock::Timeout=600 install --no-install-recommends --)

# Steps run beside one another, and the package manager works for one of them at a time.
take_turn() {
  mkdir -p -- "${ROOT}/run/lock"
  exec {PACKAGE_LOG}>&1 9>"${ROOT}/run/lock/trainyard-packages"
  flock 9
}

is_installed() {
  local state
  # shellcheck disable=SC2016  # dpkg-query expands it
  state=$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) && [[ ${state} == installed ]]
}

# is_half_installed PACKAGE: whether a run was cut off while it installed that.
is_half_installed() {
  local state
  # shellcheck disable=SC2016  # dpkg-query expands it
  state=$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) \
    && [[ ${state} != installed && ${state} != not-installed && ${state} != config-files ]]
}

# The programs that hold a lock are named: on a new machine mostly unattended-upgrades.
package_manager_is_free() {
  python3 -ISB "${BUNDLE}/lib/lock_holder.py" "${PACKAGE_LOCKS[@]/#/${ROOT}/}"
}

# What a run that was cut off left half done. wait_until knows no failure that will stay: this one is kept for after it.
finish_packages() {
  local result=${ROOT}/run/lock/trainyard-packages.result code
  wait_until 600 "the package manager's lock" try_finish_packages "${result}"
  code=$(<"${result}")
  ((code == 0)) || fail "dpkg --configure -a ended with ${code}, see above: put that right, or nothing can be installed"
}

# A lock that is free may be taken the next moment: unattended-upgrades lets it go and takes it again between packages.
try_finish_packages() {
  local told code=0
  package_manager_is_free || return
  told=$(package_manager 300 dpkg --configure -a 2>&1) || code=$?
  ((code == 0)) || ! grep -F 'locked by another process' <<<"${told}" || return
  [[ -z ${told} ]] || printf '%s\n' "${told}" >&"${PACKAGE_LOG}"
  printf '%s\n' "${code}" >"$1"
}

# package_manager SECONDS COMMAND...: asks no questions, and restarts no daemon beside the package's own. What it leaves
# running has no part in the turn, and its words are those that are looked for here.
package_manager() {
  LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=l timeout "$@" 9>&-
}

refresh_packages() {
  # a repository that is down or unsigned stops nobody who needs nothing of it
  passes_or_never 'the package lists are not all new' package_manager 120 apt-get "${PACKAGE_OPTIONS[@]}" \
    -o APT::Update::Error-Mode=any update
}

# Only fetches them, so that nothing is half installed when the network fails.
try_packages() {
  passes_or_never 'the packages cannot all be had' package_manager 300 apt-get "${PACKAGE_OPTIONS[@]}" --download-only \
    install --no-install-recommends -- "$@"
}

# passes_or_never WARNING COMMAND...: fails while waiting may help; a failure that will stay is only told.
passes_or_never() {
  local warning=$1 told code=0
  shift
  told=$("$@" 2>&1) || code=$?
  if ((code == 0)); then
    return 0
  fi
  told=$(grep -E '^(E|W|Err):?' <<<"${told}") || true
  if ((code == 124)) || [[ ${told} =~ ${PACKAGE_TROUBLE} ]]; then
    printf '%s\n' "${told%%$'\n'*}"
    return 1
  fi
  warn "${warning}: ${told%%$'\n'*}" >&"${PACKAGE_LOG}" # wait_until keeps what a question prints to itself
}

# install_package_files FILE...: installs packages from files, and what they need from the system's repositories.
install_package_files() {
  take_turn
  finish_packages
  package_manager 1500 apt-get "${PACKAGE_INSTALL[@]}" "$@"
  exec {PACKAGE_LOG}>&- 9>&-
}

# movable_packages PATTERN...: the installed ones of these names that the package manager may change.
movable_packages() {
  local listed
  # shellcheck disable=SC2016  # dpkg-query expands it
  listed=$(dpkg-query --show --showformat='${db:Status-Want} ${db:Status-Status} ${binary:Package}\n' -- "$@" 2>/dev/null) || true
  awk '$1 != "hold" && $2 == "installed" { print $3 }' <<<"${listed}"
}

# hold_packages PATTERN...: they stay as they are, whatever is installed or upgraded.
hold_packages() {
  take_turn
  wait_until 600 "the package manager's lock" try_hold_packages "$@"
  exec {PACKAGE_LOG}>&- 9>&-
}

try_hold_packages() {
  local movable
  package_manager_is_free && movable=$(movable_packages "$@") || return
  [[ -z ${movable} ]] || package_manager 60 dpkg --set-selections <<<"${movable//$'\n'/ hold$'\n'} hold"
}

# ---------------------------------------------------------------- pinned files
# tool NAME FIELD: url or sha256 of what the settings pin for this node's processor; nothing when they pin none.
tool() {
  local machine
  machine=$(uname -m)
  printf '%s' "${NODE[tools_$1_${machine/aarch64/arm64}_$2]-}"
}

# fetch_tool NAME PATH WORDS: the pinned file, or the end of the run with what the image has not.
fetch_tool() {
  local url sum
  url=$(tool "$1" url)
  sum=$(tool "$1" sha256)
  [[ -n ${url} ]] || fail "this image has no $3: give a file of it among the tools, or use HyperPod's own image"
  fetch_file "${url}" "${sum}" "$2"
}

# fetch_program TOOL NAME FOLDER: a program by its name out of the pinned archive of a tool, whole or not at all.
fetch_program() {
  local archive=$3/$1.tar.gz
  fetch_tool "$1" "${archive}" "$1"
  tar --extract --gzip --to-stdout --no-anchored --file="${archive}" "$2" >"$3/$2.new"
  chmod -- 0755 "$3/$2.new"
  mv -f -- "$3/$2.new" "$3/$2"
  rm -f -- "${archive}"
}

# fetch_file URL SHA256 PATH: a file of exactly this content, whole or not at all; from https:// or s3://.
fetch_file() {
  local url=$1 sum=$2 path=$3
  # shellcheck disable=SC2310  # a question
  if has_sum "${path}" "${sum}"; then
    return 0
  fi
  mkdir -p -- "${path%/*}"
  wait_until 300 "the file ${url##*/}" download "${url}" "${path}.part"
  # shellcheck disable=SC2310  # a question
  if ! has_sum "${path}.part" "${sum}"; then
    rm -f -- "${path}.part"
    fail "${url} is not the file that was pinned: its SHA-256 must be ${sum}; nothing of it was used"
  fi
  mv -f -- "${path}.part" "${path}"
}

download() {
  case $1 in
    s3://*) aws s3 cp --only-show-errors -- "$1" "$2" ;;
    *) curl --fail --silent --show-error --location --proto '=https' --max-time 300 --output "$2" -- "$1" ;;
  esac
}

has_sum() {
  local found
  [[ -e $1 ]] && found=$(sha256sum -- "$1") && [[ ${found%% *} == "$2" ]]
}

# ---------------------------------------------------------------- what is built once for all nodes
# build_once SECONDS READY BUILD LOCK: runs BUILD on one node, unless READY; every other node waits until that one is
# done. A node that dies gives its lock up by dying, and another one builds.
build_once() {
  local seconds=$1 ready=$2 build=$3 lock=$4 handle
  refuse_local_locks "${lock}"
  mkdir -p -- "${lock%/*}"
  exec {handle}>>"${lock}"
  wait_until "${seconds}" 'the node that builds it' take_lock "${handle}" "${lock}"
  flock --nonblock "${handle}" || fail "${lock} cannot be locked: mount its file system so that it has flock"
  # shellcheck disable=SC2310  # a question
  if ! "${ready}"; then
    "${build}"
  fi
  exec {handle}>&-
}

# take_lock HANDLE LOCK: fails while somebody has it. Any other failure will stay: it ends the waiting, and whoever then
# asks for the lock again meets it.
take_lock() {
  local code=0
  flock --nonblock "$1" || code=$?
  case ${code} in
    0) printf '%s\n' "${HOST?}" >"$2" ;;
    1)
      printf '%s has the lock %s\n' "$(<"$2")" "$2"
      return 1
      ;;
    *) ;;
  esac
}

# refuse_local_locks LOCK: a lock that only this node sees would let every node build at once, in one place.
refuse_local_locks() {
  local path kind options
  [[ -e ${ROOT}/proc/mounts ]] || return 0
  while read -r _ path kind options _; do
    [[ ${kind} != lustre || $1 != "${ROOT}${path%/}"/* || ! ,${options}, =~ ,(localflock|noflock), ]] \
      || fail "${path} is mounted with ${BASH_REMATCH[1]}, so no node sees another's locks: mount it with flock"
  done <"${ROOT}/proc/mounts"
}

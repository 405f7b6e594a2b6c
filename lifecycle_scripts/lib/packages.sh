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
  for package in "$@"; do
    # shellcheck disable=SC2310  # a question
    is_installed "${package}" || missing+=("${package}")
  done
  ((${#missing[@]} > 0)) || return 0
  exec {PACKAGE_LOG}>&1
  wait_until 600 "the package manager's lock" package_manager_is_free
  package_manager 300 dpkg --configure -a # what a run that was cut off left half done
  wait_until 300 'the package lists' refresh_packages
  wait_until 300 "the packages ${missing[*]}" try_packages "${missing[@]}"
  package_manager 900 apt-get "${PACKAGE_OPTIONS[@]}" install --no-install-recommends -- "${missing[@]}"
  exec {PACKAGE_LOG}>&-
}

PACKAGE_OPTIONS=(--quiet=2 --yes -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)

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
  python3 -B "${BUNDLE}/lib/lock_holder.py" "${PACKAGE_LOCKS[@]/#/${ROOT}/}"
}

# package_manager SECONDS COMMAND...: asks no questions, and restarts no daemon beside the package's own.
package_manager() {
  DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=l timeout "$@"
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
  wait_until 600 "the package manager's lock" package_manager_is_free
  package_manager 300 dpkg --configure -a
  package_manager 900 apt-get "${PACKAGE_OPTIONS[@]}" install --no-install-recommends -- "$@"
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
  mkdir -p -- "${lock%/*}"
  exec {handle}>>"${lock}"
  wait_until "${seconds}" 'the node that builds it' take_lock "${handle}" "${lock}"
  # shellcheck disable=SC2310  # a question
  if ! "${ready}"; then
    "${build}"
  fi
  exec {handle}>&-
}

take_lock() {
  if flock --nonblock "$1"; then
    printf '%s\n' "${HOST?}" >"$2"
  else
    printf '%s has the lock %s\n' "$(<"$2")" "$2"
    return 1
  fi
}

#!/bin/bash
# Stands in for every program that would change, or ask, the machine that the tests run on. It is linked under each of
# their names, keeps what it is told in the fake root, and writes down how it was called.
#   STUB_FAIL=NAME:N    NAME fails its first N times
#   state/unfinished    dpkg was interrupted: what is installed is half configured
#   state/locked        another program has dpkg's lock
#   STUB_OLD_LISTS=NAME the package lists name a file of this package that the archive has no more
#   STUB_NO_LISTS=1     no package lists can be had
#   STUB_PYTHON=3.10    the version of python3
#   STUB_KEY=FPR        fingerprint of the key that is served; nothing stands for no key at all
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lifecycle_scripts/stub_lib.sh
source "${TRAINYARD_ROOT:?}/../bin/stub_lib.sh"

if [[ ${STUB_FAIL:-} == "${name}":* ]]; then
  touch "${state}/failures"
  failed=$(grep -c . "${state}/failures") || true
  if ((failed < ${STUB_FAIL#*:})); then
    echo "${name}" >>"${state}/failures"
    echo "${name}: told to fail" >&2
    exit 1
  fi
fi

# keep MANAGER PACKAGE...: packages with a version are installed from now on, each with the suffix of a build.
keep() {
  local separator='=' package name version
  [[ $1 != dnf ]] || separator='-'
  shift
  for package in "$@"; do
    name=${package%"${separator}"*}
    version=${package##*"${separator}"}
    version=${version%'*'}
    if [[ ${version} == [0-9]* && ${package} == *"${separator}"* ]]; then
      mkdir -p "${state}/packages"
      printf '%s' "${version}-1a2b3c4" >"${state}/packages/${name}"
    fi
  done
}

# packages ARGUMENT...: what stands behind --.
packages() {
  while [[ ${1:---} != -- ]]; do shift; done
  shift
  printf '%s\n' "$@"
}

case ${name} in
  hostname) echo ip-10-1-0-5 ;;
  sync) ;;
  uname) echo 6.8.0-test ;;
  timeout) shift && exec "$@" ;;
  curl)
    while [[ $1 != --output ]]; do shift; done
    printf 'key\n' >"$2"
    ;;
  gpg)
    printf 'pub:-:2048:1:5749CAD8646D9185:::::\n'
    [[ -z ${STUB_KEY-none} ]] || printf 'fpr:::::::::%s:\n' "${STUB_KEY:-00FA2C1079260870A76D2C285749CAD8646D9185}"
    ;;
  rpm)
    case $1 in
      --import) changed ;;
      *) version=$(cat "${state}/packages/${!#}") && printf '%s' "${version//-/_}" ;;
    esac
    ;;
  dpkg)
    if [[ -e ${state}/locked ]]; then
      echo 'dpkg: error: dpkg frontend lock was locked by another process with pid 7' >&2
      exit 2
    fi
    if [[ -e ${state}/unfinished ]]; then
      rm "${state}/unfinished"
      changed
    fi
    ;;
  dpkg-query)
    version=$(cat "${state}/packages/${!#}")
    status=installed
    [[ ! -e ${state}/unfinished ]] || status=half-configured
    format=${2#--showformat=}
    # shellcheck disable=SC2016  # the names of fields
    format=${format//'${Version}'/"${version}"}
    # shellcheck disable=SC2016
    printf '%s' "${format//'${db:Status-Status}'/"${status}"}"
    ;;
  apt-get | dnf)
    case " $* " in
      *' install '*)
        [[ ! -e ${state}/unfinished ]] || { echo 'E: dpkg was interrupted' >&2 && exit 100; }
        listed=$(packages "$@")
        mapfile -t wanted <<<"${listed}"
        if [[ -n ${STUB_OLD_LISTS:-} && ! -e ${state}/lists && " ${wanted[*]} " == *" ${STUB_OLD_LISTS}"* ]]; then
          echo "E: Failed to fetch http://archive.example/${STUB_OLD_LISTS}.deb  404  Not Found" >&2
          exit 100
        fi
        [[ ${wanted[*]} != python3-venv ]] || : >"${state}/venv"
        keep "${name}" "${wanted[@]}"
        changed
        ;;
      *sourceparts=-*) ;;
      *' update '*)
        [[ -z ${STUB_NO_LISTS:-} ]] || { echo 'E: Failed to fetch http://archive.example/InRelease' >&2 && exit 100; }
        : >"${state}/lists"
        ;;
      *) ;;
    esac
    ;;
  modprobe)
    touch "${TRAINYARD_ROOT}/dev/neuron0"
    changed
    ;;
  python3)
    if [[ ${2:-} == 'import ensurepip, venv' ]]; then
      [[ -e ${state}/venv ]]
      exit
    fi
    [[ $1 != -c ]] || { echo "${STUB_PYTHON:-3.12}" && exit; }
    mkdir -p "${!#}/bin"
    : >"${!#}/pyvenv.cfg"
    ln -sf "$0" "${!#}/bin/python"
    changed
    ;;
  python) changed ;;
  aws)
    # cp ... -- s3://bucket/key target: the bucket is a folder
    source=${*: -2:1}
    target=${*: -1}
    cp -R "${state}/s3/${source#s3://}." "${target}" 2>/dev/null || cp "${state}/s3/${source#s3://}" "${target}"
    ;;
  *) exit 64 ;;
esac

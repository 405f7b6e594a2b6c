#!/bin/bash
# Stand-in for modprobe on a rehearsal node: nodes share this machine's kernel and may not load modules into it.
# /etc/rehearsal/modules says, a line each, which modules there are: MODULE DEVICE COUNT [PACKAGE]. Loading one makes COUNT
# files DEVICE0, DEVICE1, ...; with a PACKAGE, only once that is installed, as a module that DKMS builds.
set -Eeuo pipefail

has_package() {
  local status
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) && [[ ${status} == installed ]] \
    || rpm --query --quiet "$1" 2>/dev/null
}

wanted=''
for word in "$@"; do
  [[ ${word} == -* ]] || wanted=${wanted:-${word}}
done
while read -r module device count package; do
  [[ ${module} == "${wanted}" ]] || continue
  # shellcheck disable=SC2310  # a question
  [[ -z ${package} ]] || has_package "${package}" || break
  mkdir -p -- "${device%/*}"
  for ((number = 0; number < count; number++)); do
    : >"${device}${number}" # not a device: nothing may mistake it for one that works
  done
  exit 0
done </etc/rehearsal/modules
release=$(uname -r)
printf 'modprobe: FATAL: Module %s not found in directory /lib/modules/%s\n' "${wanted}" "${release}" >&2
exit 1

#!/bin/bash
# Stands in for every program that would change, or ask, the machine that the tests run on. It is linked under each of
# their names, keeps what it is told in the fake root, and writes down how it was called.
#   STUB_KILL_AFTER=N   kills the whole process group right after the N-th change, as a power cut would
#   STUB_FAIL=NAME:N:C  NAME fails its first N times, with exit code C
#   STUB_NO_DNS=1       no name is known
#   STUB_LATE=UNIT      UNIT starts, and ends again
#   STUB_EFA=N          there are N EFA interfaces
set -euo pipefail

name=${0##*/}
action=${1:-}
state=${TRAINYARD_ROOT:?}/state
subject=${!#}
printf '%s%s\n' "${name}" "${*:+ $*}" >>"${state}/calls"

if [[ ${STUB_FAIL:-} == "${name}":* ]]; then
  IFS=: read -r _ times code <<<"${STUB_FAIL}"
  touch "${state}/failures"
  failed=$(grep -c . "${state}/failures") || true
  if ((failed < times)); then
    echo "${name}" >>"${state}/failures"
    echo "${name}: told to fail" >&2
    exit "${code}"
  fi
fi

# changed: what was done is done; the cut may come now.
changed() {
  local done_before
  echo "${name} ${action}" >>"${state}/changes"
  if [[ -n ${STUB_KILL_AFTER:-} ]]; then
    mapfile -t done_before <"${state}/changes"
    if ((${#done_before[@]} == STUB_KILL_AFTER)); then
      kill -KILL 0
    fi
  fi
}

# option NAME ARGUMENT...: what stands behind --NAME.
option() {
  local wanted=--$1
  shift
  while (($# > 1)); do
    if [[ $1 == "${wanted}" ]]; then
      printf '%s' "$2"
      return
    fi
    shift
  done
}

# edit DATABASE KEY FIELD VALUE: changes a field of an entry.
edit() {
  local file=${TRAINYARD_ROOT}/etc/$1
  awk -F: -v OFS=: -v key="$2" -v field="$3" -v value="$4" '$1 == key { $field = value } 1' "${file}" >"${file}.edit"
  mv "${file}.edit" "${file}"
}

case ${name} in
  hostname) echo ip-10-1-0-5 ;;
  sync) ;;
  chown) ;;
  getent)
    case $1 in
      hosts) [[ -z ${STUB_NO_DNS:-} ]] && echo "10.1.9.9 $2" ;;
      *) awk -F: -v key="$2" '$1 == key || $3 == key { print; found = 1; exit } END { exit found ? 0 : 2 }' \
        "${TRAINYARD_ROOT}/etc/$1" ;;
    esac
    ;;
  id) awk -F: -v user="${subject}" '$1 == user || ("," $4 ",") ~ ("," user ",") { printf "%s ", $1 }' \
    "${TRAINYARD_ROOT}/etc/group" ;;
  groupadd)
    number=$(option gid "$@")
    echo "${subject}:x:${number}:" >>"${TRAINYARD_ROOT}/etc/group"
    changed
    ;;
  useradd)
    number=$(option uid "$@")
    group=$(option gid "$@")
    home=$(option home-dir "$@")
    echo "${subject}:x:${number}:${group}::${home}:/bin/bash" >>"${TRAINYARD_ROOT}/etc/passwd"
    changed
    ;;
  usermod)
    home=$(option home "$@")
    group=$(option groups "$@")
    if [[ -n ${home} ]]; then edit passwd "${subject}" 6 "${home}"; fi
    if [[ -n ${group} ]]; then edit group "${group}" 4 "${subject}"; fi
    changed
    ;;
  mountpoint) [[ -e ${state}/mounted ]] ;;
  mount)
    grep -q " ${subject#"${TRAINYARD_ROOT}"} lustre " "${TRAINYARD_ROOT}/etc/fstab"
    touch "${state}/mounted"
    changed
    ;;
  systemctl)
    case $1 in
      daemon-reload) changed ;;
      is-active)
        [[ ${subject} != "${STUB_LATE:-}" && -e ${state}/active.${subject} ]]
        ;;
      cat) cat "${TRAINYARD_ROOT}/etc/systemd/system/$2.service" ;;
      is-enabled) [[ -e ${state}/enabled.${subject} ]] ;;
      enable)
        for unit in "${@:2}"; do
          if [[ ${unit} == --now ]]; then
            touch "${state}/active.${subject}"
          else
            touch "${state}/enabled.${unit}"
          fi
        done
        changed
        ;;
      disable)
        rm -f "${state}/active.${subject}" "${state}/enabled.${subject}"
        changed
        ;;
      restart)
        touch "${state}/active.${subject}"
        changed
        ;;
      *) exit 64 ;;
    esac
    ;;
  scontrol)
    [[ -e ${state}/active.slurmctld ]]
    case $1 in
      ping) echo 'Slurmctld(primary) at ip-10-1-0-5 is UP' ;;
      *) cat "${TRAINYARD_ROOT}/opt/slurm/etc/slurm.conf" ;;
    esac
    ;;
  fi_info)
    [[ ${STUB_EFA:-0} != 0 ]]
    for ((device = 0; device < STUB_EFA; device++)); do
      printf 'provider: efa\n    domain: rdmap%s-rdm\nprovider: efa\n    domain: rdmap%s-rdm\n' "${device}" "${device}"
    done
    ;;
  *) exit 64 ;;
esac

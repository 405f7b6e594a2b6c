#!/bin/bash
# Stands in for every program that would change, or ask, the machine that the tests run on. It is linked under each of
# their names, keeps what it is told in the fake root, and writes down how it was called.
#   STUB_FAIL=NAME:N:C  NAME fails its first N times, with exit code C
#   STUB_NO_DNS=1       no name is known
#   STUB_LATE=UNIT      UNIT is active, and never listens
#   STUB_NODE_STATE=X   what slurmctld says of a node
#   STUB_EFA=N          there are N EFA interfaces
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=stub_lib.sh
source "${TRAINYARD_ROOT:?}/../bin/stub_lib.sh"
subject=${!#}

if [[ ${STUB_FAIL:-} == "${name}":* ]]; then
  IFS=: read -r _ times code <<<"${STUB_FAIL}"
  : >>"${state}/failures"
  failed=$(grep -c . "${state}/failures") || true
  if ((failed < times)); then
    echo "${name}" >>"${state}/failures"
    echo "${name}: told to fail" >&2
    exit "${code}"
  fi
fi

# edit DATABASE KEY FIELD VALUE: changes a field of an entry.
edit() {
  local file=${TRAINYARD_ROOT}/etc/$1
  awk -F: -v OFS=: -v key="$2" -v field="$3" -v value="$4" '$1 == key { $field = value } 1' "${file}" >"${file}.edit"
  mv "${file}.edit" "${file}"
}

# entry DATABASE KEY: the line of a name or a number; without another program, as this is asked most often.
entry() {
  local line fields
  while IFS= read -r line; do
    IFS=: read -r -a fields <<<"${line}"
    if [[ ${fields[0]} == "$2" || ${fields[2]:-} == "$2" ]]; then
      printf '%s\n' "${line}"
      return
    fi
  done <"${TRAINYARD_ROOT}/etc/$1"
  return 2
}

# groups_of USER: the names of the user's own group and of those that list the user.
groups_of() {
  local group members _
  while IFS=: read -r group _ _ members; do
    if [[ ${group} == "$1" || ",${members}," == *",$1,"* ]]; then printf '%s ' "${group}"; fi
  done <"${TRAINYARD_ROOT}/etc/group"
}

# extras: what few programs need is read when it is needed.
extras() {
  # shellcheck source-path=SCRIPTDIR source=stub_extras.sh
  source "${TRAINYARD_ROOT:?}/../bin/stub_extras.sh"
}

case ${name} in
  hostname) echo ip-10-1-0-5 ;;
  sync) ;;
  chown) ;;
  getent)
    case $1 in
      hosts) [[ -z ${STUB_NO_DNS:-} ]] && echo "10.1.9.9 $2" ;;
      *) entry "$1" "$2" ;;
    esac
    ;;
  id) groups_of "${subject}" ;;
  groupadd)
    number=$(behind --gid "$@")
    echo "${subject}:x:${number}:" >>"${TRAINYARD_ROOT}/etc/group"
    changed
    ;;
  useradd)
    number=$(behind --uid "$@")
    group=$(behind --gid "$@")
    home=$(behind --home-dir "$@")
    echo "${subject}:x:${number}:${group}::${home}:/bin/bash" >>"${TRAINYARD_ROOT}/etc/passwd"
    changed
    ;;
  usermod)
    home=$(behind --home "$@")
    group=$(behind --groups "$@")
    if [[ -n ${home} ]]; then edit passwd "${subject}" 6 "${home}"; fi
    if [[ -n ${group} ]]; then edit group "${group}" 4 "${subject}"; fi
    changed
    ;;
  mountpoint)
    case ${subject} in
      */opt/* | */data/* | */home) [[ -e ${state}/mounted.${subject##*/} ]] ;;
      *) [[ -e ${state}/mounted ]] ;;
    esac
    ;;
  mount)
    grep -qE " ${subject#"${TRAINYARD_ROOT}"} (lustre|nfs) " "${TRAINYARD_ROOT}/etc/fstab"
    case ${subject} in
      */home)
        : >>"${state}/mounted.home"
        rm -rf "${subject:?}"/*
        ;;
      *) : >>"${state}/mounted" ;;
    esac
    changed
    ;;
  umount)
    [[ ! -e ${state}/busy ]] || { echo 'umount: target is busy' >&2 && exit 32; }
    rm -f "${state}/mounted" "${TRAINYARD_ROOT}/proc/mounts"
    changed
    ;;
  systemctl)
    subject=${subject%.service}
    case $1 in
      daemon-reload) changed ;;
      is-active) [[ -e ${state}/active.${subject} ]] ;;
      cat) cat "${TRAINYARD_ROOT}/etc/systemd/system/$2.service" ;;
      is-enabled) [[ -e ${state}/enabled.${subject} ]] ;;
      enable)
        for unit in "${@:2}"; do
          if [[ ${unit} == --now ]]; then
            : >>"${state}/active.${subject}"
          else
            : >>"${state}/enabled.${unit}"
          fi
        done
        changed
        ;;
      disable)
        rm -f "${state}/active.${subject}" "${state}/enabled.${subject}"
        changed
        ;;
      start | restart)
        : >"${state}/active.${subject}"
        extras
        started
        changed
        ;;
      try-restart)
        if [[ -e ${state}/active.${subject} ]]; then changed; fi
        ;;
      *) exit 64 ;;
    esac
    ;;
  ssh-keygen)
    if [[ $1 == -y ]]; then
      if ! grep -q private "${subject}"; then
        echo "Load key \"${subject}\": error in libcrypto" >&2
        exit 255
      fi
      sed 's/private/public/' "${subject}"
    else
      echo "ssh-ed25519 private of ${subject##*/}" >"${subject}"
      changed
    fi
    ;;
  runuser)
    [[ $4 == ssh ]] || exec "${@:4}"
    [[ -e ${TRAINYARD_ROOT}/fsx/trainyard/ssh-hosts/${*: -2:1} && -e ${TRAINYARD_ROOT}/fsx/ubuntu/.ssh/authorized_keys ]]
    ;;
  logrotate) grep -q '^/var/log' "${subject}" ;;
  mariadb-install-db)
    folder=${TRAINYARD_ROOT}/var/lib/mysql
    for word in "$@"; do [[ ${word} != --datadir=* ]] || folder=${word#*=}; done
    if [[ ! -d ${folder}/mysql ]]; then
      mkdir -p "${folder}/mysql" "${folder}/sys"
      changed
      touch "${folder}/mysql/accounts"
    fi
    changed
    ;;
  mysql)
    [[ -e ${state}/active.mariadb && -e ${TRAINYARD_ROOT}/var/lib/mysql/mysql/accounts ]]
    cat >>"${state}/sql"
    changed
    ;;
  sacctmgr)
    [[ -e ${state}/active.slurmdbd ]]
    : >>"${state}/clusters"
    case $* in
      *'add cluster'*)
        echo "${subject}" >>"${state}/clusters"
        changed
        ;;
      *) cat "${state}/clusters" ;;
    esac
    ;;
  journalctl) [[ ! -e ${state}/journal ]] || tail -n 1 "${state}/journal" ;;
  scontrol)
    [[ -e ${state}/active.slurmctld || $1 == --oneliner ]]
    case $1 in
      --oneliner) echo "NodeName=${subject} State=${STUB_NODE_STATE:-IDLE} SlurmdStartTime=2026-11-20T09:53:56" ;;
      ping) echo 'Slurmctld(primary) at ip-10-1-0-5 is UP' ;;
      *) cat "${TRAINYARD_ROOT}/opt/slurm/etc/slurm.conf" ;;
    esac
    ;;
  ss)
    for unit in "${state}"/active.*; do
      unit=${unit##*/active.}
      [[ ${unit} == "${STUB_LATE:-}" ]] || printf 'LISTEN 0 128 0.0.0.0:6818 0.0.0.0:* users:(("%s",pid=7,fd=5))\n' "${unit}"
    done
    ;;
  fi_info)
    [[ ${STUB_EFA:-0} != 0 ]]
    for ((device = 0; device < STUB_EFA; device++)); do
      printf 'provider: efa\n    domain: rdmap%s-rdm\nprovider: efa\n    domain: rdmap%s-rdm\n' "${device}" "${device}"
    done
    ;;
  *)
    extras
    extra "$@"
    ;;
esac

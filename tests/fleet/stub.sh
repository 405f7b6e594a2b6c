#!/bin/bash
# Stands in for every program that would change, or ask, the machine that the tests run on. It is linked under each of
# their names, keeps what it is told in the fake root, and writes down how it was called.
#   STUB_FAIL=NAME      NAME fails
#   STUB_THROTTLED=CALL:FIRST:LAST   of the calls that begin with CALL, these are refused for now
#   STUB_EFA=N          there are N EFA interfaces
#   STUB_DISKS=N        there are N disks of the instance store
#   STUB_DLAMI=1        the image has mounted them itself
#   STUB_LUSTRE=absent  the image has no client of Lustre
#   STUB_UNIT=sshd      the unit of the SSH server
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lifecycle_scripts/stub_lib.sh
source "${TRAINYARD_ROOT:?}/../bin/stub_lib.sh"
subject=${!#}

if [[ ${STUB_FAIL:-} == "${name}" || ${STUB_FAIL:-} == "${name} ${action}" ]]; then
  echo "${name}: told to fail" >&2
  exit 9
fi

if [[ -n ${STUB_THROTTLED:-} ]]; then
  IFS=: read -r call first last <<<"${STUB_THROTTLED}"
  if [[ "${name} $*" == "${call}"* ]]; then
    number=$(grep -c "^${call}" "${state}/calls")
    if ((number >= first && number <= last)); then
      echo 'An error occurred (RequestLimitExceeded): Request limit exceeded.' >&2
      exit 254
    fi
  fi
fi

case ${name} in
  hostname) echo ip-10-1-0-7 ;;
  sync) ;;
  chown) changed ;;
  getent) echo "10.1.9.9 $2" ;;
  sysctl)
    mkdir -p "${TRAINYARD_ROOT}/proc/sys/vm"
    cut -d= -f2 "${subject}" >"${TRAINYARD_ROOT}/proc/sys/vm/nr_hugepages"
    changed
    ;;
  modprobe)
    mkdir -p "${TRAINYARD_ROOT}/dev/infiniband"
    for ((device = 0; device < ${STUB_EFA:-0}; device++)); do
      touch "${TRAINYARD_ROOT}/dev/infiniband/uverbs${device}"
    done
    changed
    ;;
  fi_info)
    [[ ${STUB_EFA:-0} != 0 ]]
    for ((device = 0; device < STUB_EFA; device++)); do
      printf 'provider: efa\n    domain: rdmap%s-rdm\n' "${device}"
    done
    ;;
  lsblk)
    echo '/dev/nvme0n1 Amazon Elastic Block Store'
    for ((disk = 1; disk <= ${STUB_DISKS:-0}; disk++)); do
      echo "/dev/nvme${disk}n1 Amazon EC2 NVMe Instance Storage"
    done
    ;;
  mdadm)
    [[ $1 == --create || -e ${state}/array ]] # there is nothing to assemble before it was created
    mkdir -p "${TRAINYARD_ROOT}/dev/md"
    touch "${TRAINYARD_ROOT}/dev/md/trainyard" "${state}/array"
    changed
    ;;
  mkfs.xfs)
    : >>"${state}/file-system"
    changed
    ;;
  mountpoint)
    path=${subject#"${TRAINYARD_ROOT}"}
    [[ ${path} == /opt/dlami/nvme && -n ${STUB_DLAMI:-} ]] || [[ -e ${state}/mounted${path//\//-} ]]
    ;;
  mount)
    path=${subject#"${TRAINYARD_ROOT}"}
    [[ ${path} != /scratch || -e ${state}/file-system ]]
    : >>"${state}/mounted${path//\//-}"
    changed
    ;;
  install)
    mkdir -p "${subject}"
    behind -o "$@" >"${state}/owner-${subject##*/}"
    changed
    ;;
  stat) cat "${state}/owner-${subject##*/}" ;;
  systemctl)
    case $1 in
      daemon-reload | daemon-reexec) changed ;;
      try-reload-or-restart)
        [[ ${subject} == "${STUB_UNIT:-ssh}" ]]
        changed
        ;;
      enable)
        : >>"${state}/active.${subject}"
        changed
        ;;
      is-active) [[ -e ${state}/active.${subject} ]] ;;
      *) exit 64 ;;
    esac
    ;;
  ssh-keygen)
    case $* in
      '-y '*)
        [[ -s ${subject} ]]
        echo 'ssh-ed25519 AAAAfleet'
        ;;
      *' -s '*)
        names=$(behind -n "$@")
        printf 'certificate of %s\n' "${names}" >"${subject%.pub}-cert.pub"
        changed
        ;;
      *)
        path=$(behind -f "$@")
        mkdir -p "${path%/*}"
        echo host-key >"${path}"
        echo host-key.pub >"${path}.pub"
        changed
        ;;
    esac
    ;;
  runuser) # a log-in of the node to itself works when the server has been told and the host key is signed
    [[ -e ${TRAINYARD_ROOT}/etc/ssh/sshd_config.d/10-trainyard.conf ]]
    [[ -e ${TRAINYARD_ROOT}/etc/ssh/ssh_host_ed25519_key-cert.pub ]]
    [[ -e ${TRAINYARD_ROOT}/etc/trainyard/ssh/authorized_keys/ubuntu ]]
    ;;
  modinfo) [[ ${STUB_LUSTRE:-} != absent || -e ${state}/lustre-client ]] ;;
  uname) echo 6.8.0-1021-aws ;;
  curl) echo 'the key' ;;
  gpg)
    cat >"$(behind --output "$@")"
    changed
    ;;
  apt-get | dnf)
    [[ $* != *lustre-client* ]] || : >>"${state}/lustre-client"
    changed
    ;;
  apt-mark | apt-cache | depmod) ;;
  dpkg-query) echo 'installed linux-aws' ;;
  aws)
    case "$1 $2" in
      'ssm get-parameter')
        if [[ $* == *the-failures* ]]; then
          cat "${state}/failures" 2>/dev/null || echo 0
        else
          echo 'the-private-key'
        fi
        ;;
      'ssm put-parameter') behind --value "$@" >"${state}/failures" ;;
      'autoscaling suspend-processes') behind --scaling-processes "$@" >"${state}/suspended" ;;
      'ec2 describe-instances')
        if [[ $* == *--instance-ids* ]]; then
          echo the-group
        else
          cat "${state}/instances.json"
        fi
        ;;
      'ec2 create-tags')
        : >>"${state}/ready"
        changed
        ;;
      'logs create-log-stream') ;;
      'logs put-log-events') cp "${TRAINYARD_ROOT}/etc/trainyard/events.json" "${state}/shipped.json" ;;
      'autoscaling complete-lifecycle-action') behind --lifecycle-action-result "$@" >"${state}/answer" ;;
      *) exit 64 ;;
    esac
    ;;
  *) exit 64 ;;
esac

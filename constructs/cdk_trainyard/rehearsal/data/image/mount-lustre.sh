#!/bin/bash
# Stand-in for Lustre's mount helper: mount.lustre SPEC DIRECTORY [-o OPTIONS]. mount(8) and systemd call it for the type
# lustre with their real arguments, so fstab entries, options, units and retries of the scripts are exercised. What is not:
# LNet, the kernel's client, flock, EFA.
# Behind it: /run/lustre-backing/<file system>/<mount name>, shared by all nodes; where it is missing, no server answers.
# A file `fault` in /run/lustre-backing with an exit code makes every mount fail with it, or slow: "sleep SECONDS".
set -Eeuo pipefail

backing=/run/lustre-backing
accepted='^(rw|ro|noatime|relatime|flock|localflock|noflock|user_xattr|_netdev|defaults|lazystatfs|nodev|nosuid|nofail)$'

printf '%q ' "$@" >>/var/log/mount.lustre.log
printf '\n' >>/var/log/mount.lustre.log

refuse() {
  printf 'mount.lustre: %s\n' "$2" >&2
  exit "$1"
}

inject_fault() {
  local kind value
  read -r kind value <"${backing}/fault"
  if [[ ${kind} == sleep ]]; then
    sleep "${value}"
  else
    refuse "${kind}" "mount ${spec} at ${directory} failed: ${value}"
  fi
}

spec=${1:?the source is missing} directory=${2:?the directory is missing}
shift 2
options=''
while getopts 'fnsvo:' option; do
  case ${option} in
    o) options=${OPTARG} ;;
    f) exit 0 ;;
    *) ;;
  esac
done

[[ ${spec} =~ ^([A-Za-z0-9.-]+)@(tcp|efa)[0-9]*:/([A-Za-z0-9]{1,8})$ ]] || refuse 1 "${spec}: malformed mount source"
host=${BASH_REMATCH[1]} name=${BASH_REMATCH[3]}
getent hosts "${host}" >/dev/null || refuse 19 "can't parse NID '${spec%%:*}'"
for option in ${options//,/ }; do
  [[ ${option} =~ ${accepted} || ${option} == x-systemd.* ]] \
    || refuse 22 "mount ${spec} at ${directory} failed: Invalid argument (option ${option})"
done
[[ ! -f ${backing}/fault ]] || inject_fault
store=${backing}/${host%%.*}/${name}
[[ -d ${store} ]] || refuse 110 "mount ${spec} at ${directory} failed: Connection timed out"
exec /bin/mount -i -n --bind "${store}" "${directory}"

#!/bin/bash
# hostfile.sh PATH: writes the hosts that run jobs, one in a line, as mpirun, pdsh and ssh take them. Whole or not at all,
# and only when it differs: a job may be reading it. While slurmctld does not answer the file stays as it is.
# HyperPod's partition `dev` has log-in nodes too; nodes for jobs have a partition beside it.
set -Eeuo pipefail
path=${1:?the path of the hostfile is missing}
hosts=$("${TRAINYARD_ROOT:-}/opt/slurm/bin/sinfo" --noheader --Node --responding --format='%N %R' \
  | awk '{ all[$1] = all[$1] $2 } $2 != "dev" { found = 1 } END { for (host in all) if (!found || all[host] != "dev") print host }' \
  | LC_ALL=C sort -uV)
[[ -n ${hosts} ]] || exit 0
known=''
[[ ! -e ${path} ]] || known=$(<"${path}")
[[ ${hosts} != "${known}" ]] || exit 0
printf '%s\n' "${hosts}" >"${path}.new"
chmod -- 0644 "${path}.new"
mv -f -- "${path}.new" "${path}"

#!/bin/bash
# Writes down who is in the fleet now: the hostfile of MPI, the list of hosts, and whom SSH trusts. Run by a timer: nodes
# that are lost disappear, and their successors appear, without anybody's help.
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
ROOT=${TRAINYARD_ROOT:-}
SETTINGS=${ROOT}/etc/trainyard/settings.json
HOME_DIRECTORY=${ROOT}/opt/trainyard
export AWS_RETRY_MODE=standard AWS_MAX_ATTEMPTS=10

node() {
  python3 -B "${here}/node.py" --settings "${SETTINGS}" "$@"
}

# replace PATH TEXT: whole or not at all, and nothing when it is the same: a job may be reading it.
replace() {
  local path=$1 text=$2 known=''
  if [[ -e ${path} ]]; then
    known=$(<"${path}")
  fi
  [[ -e ${path} && ${known} == "${text}" ]] || {
    mkdir -p -- "${path%/*}"
    printf '%s\n' "${text}" >"${path}.new"
    chmod 0644 -- "${path}.new"
    mv -f -- "${path}.new" "${path}"
  }
}

fleet=$(node setting fleet)
AWS_DEFAULT_REGION=$(node setting region)
export AWS_DEFAULT_REGION
answer=$(aws ec2 describe-instances --output json \
  --filters "Name=tag:trainyard:fleet,Values=${fleet}" 'Name=tag-key,Values=trainyard:ready' \
  'Name=instance-state-name,Values=running')

for list in hostfile hosts ssh-config; do
  text=$(node "${list}" <<<"${answer}")
  case ${list} in
    ssh-config) replace "${ROOT}/etc/ssh/ssh_config.d/10-trainyard.conf" "${text}" ;;
    *) replace "${HOME_DIRECTORY}/${list}" "${text}" ;;
  esac
done

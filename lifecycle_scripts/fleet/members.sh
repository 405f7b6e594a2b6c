#!/bin/bash
# Writes down who is in the fleet now: the hostfile of MPI, the list of hosts, and whom SSH trusts. Run by a timer: nodes
# that are lost disappear, and their successors appear, without anybody's help.
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source-path=SCRIPTDIR source=../lib/steps.sh
source "${here}/lib/steps.sh"
SETTINGS=${ROOT}/etc/trainyard/settings.json
HOME_DIRECTORY=${ROOT}/opt/trainyard
export AWS_RETRY_MODE=standard AWS_MAX_ATTEMPTS=10

node() {
  python3 -ISB "${here}/node.py" --settings "${SETTINGS}" "$@"
}

# The set-up, boot.sh and the timer can come together. One at a time asks and writes: no file is written by two, and none
# is replaced by an older answer.
mkdir -p -- "${ROOT}/run/lock"
exec {lock}>"${ROOT}/run/lock/trainyard-members"
flock "${lock}"

fleet=$(node setting fleet)
AWS_DEFAULT_REGION=$(node setting region)
export AWS_DEFAULT_REGION
answer=$(aws ec2 describe-instances --output json \
  --filters "Name=tag:trainyard:fleet,Values=${fleet}" 'Name=tag-key,Values=trainyard:ready' \
  'Name=instance-state-name,Values=running')

# An equal file is not written again: a job may be reading it.
for list in hostfile hosts ssh-config; do
  lines=$(node "${list}" <<<"${answer}")
  case ${list} in
    ssh-config) put_file "${ROOT}/etc/ssh/ssh_config.d/10-trainyard.conf" 0644 "${lines}" ;;
    *) put_file "${HOME_DIRECTORY}/${list}" 0644 "${lines}" ;;
  esac
done

#!/bin/bash
# What user data starts: sets the node up, ships its log, and says how it went: to the other members by a tag, and to the
# Auto Scaling group, which gives a node back whose set-up failed and launches another.
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
ROOT=${TRAINYARD_ROOT:-}
LOG_FILE=${ROOT}/var/log/provision/provisioning.log
export AWS_RETRY_MODE=standard AWS_MAX_ATTEMPTS=10
export AWS_METADATA_SERVICE_TIMEOUT=5 AWS_METADATA_SERVICE_NUM_ATTEMPTS=5 # the AWS CLI's own are 1 s, and once

node() {
  python3 -B "${here}/node.py" --settings "${ROOT}/etc/trainyard/settings.json" "$@"
}

# One stream for each start of the set-up.
ship_log() {
  local stream
  stream=${FACTS[instance]}/$(date -u +%Y%m%dT%H%M%SZ)
  node events "${LOG_FILE}" >"${ROOT}/etc/trainyard/events.json"
  aws logs create-log-stream --log-group-name "${FACTS[log_group]}" --log-stream-name "${stream}"
  aws logs put-log-events --log-group-name "${FACTS[log_group]}" --log-stream-name "${stream}" \
    --log-events "file://${ROOT}/etc/trainyard/events.json" --output text
}

say_ready() {
  aws ec2 create-tags --resources "${FACTS[instance]}" --tags "Key=trainyard:ready,Value=yes"
  "${here}/members.sh" # now that this node is one
}

answer_group() {
  local group
  [[ -n ${FACTS[hook]} ]] || return 0
  group=$(aws ec2 describe-instances --instance-ids "${FACTS[instance]}" --output text \
    --query "Reservations[].Instances[].Tags[?Key=='aws:autoscaling:groupName'].Value[]")
  aws autoscaling complete-lifecycle-action --lifecycle-hook-name "${FACTS[hook]}" --auto-scaling-group-name "${group}" \
    --instance-id "${FACTS[instance]}" --lifecycle-action-result "$1"
}

declare -A FACTS=()
lines=$(node facts)
while IFS='=' read -r key value; do
  FACTS[${key}]=${value}
done <<<"${lines}"
AWS_DEFAULT_REGION=${FACTS[region]}
export AWS_DEFAULT_REGION

code=0
TRAINYARD_LOG_GRACE=0 "${here}/setup.sh" || code=$?
# shellcheck disable=SC2310  # a log that cannot be shipped is no reason to give a node back
ship_log || echo 'the log could not be shipped' >&2
if ((code == 0)); then
  say_ready
  answer_group CONTINUE
else
  answer_group ABANDON
fi
exit "${code}"

#!/bin/bash
# What user data starts, and a unit at every later boot: sets the node up, ships its log, and says how it went: to the other members by a tag, and to the
# Auto Scaling group, which gives a node back whose set-up failed and launches another. The group waits an hour, and then
# takes the node away, with the job that it may have by then: so whatever can fail once is asked again.
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source-path=SCRIPTDIR source=../lib/steps.sh
source "${here}/lib/steps.sh"
: "${ROOT?}" "${LOG_FILE?}"
# shellcheck disable=SC2034  # log says it
CURRENT_STEP='boot'
export AWS_RETRY_MODE=standard AWS_MAX_ATTEMPTS=10

node() {
  python3 -ISB "${here}/node.py" --settings "${ROOT}/etc/trainyard/settings.json" "$@"
}

# cloud-init runs user data once for an instance. A set-up that the power ended goes on at the next boot, and what no boot
# survives, as the mount of the instance store, comes back.
enable_at_boot() {
  local unit
  unit=$(printf '%s\n' '[Unit]' 'Description=Set this member of the fleet up' 'Wants=network-online.target' \
    'After=network-online.target' '[Service]' 'Type=oneshot' 'TimeoutStartSec=infinity' "ExecStart=${here}/boot.sh" \
    '[Install]' 'WantedBy=multi-user.target')
  put_file "${ROOT}/etc/systemd/system/trainyard-boot.service" 0644 "${unit}"
  systemctl enable trainyard-boot.service
}

# has_answered: whether the group of this very instance, and not of one whose image this is, has been told that it is ready.
has_answered() {
  holds "${ANSWERED}" "${FACTS[instance]}"
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
}

own_group() {
  aws ec2 describe-instances --instance-ids "${FACTS[instance]}" --output text \
    --query "Reservations[].Instances[].Tags[?Key=='aws:autoscaling:groupName'].Value[]"
}

# shellcheck disable=SC2310  # asked again by who calls it
answer_group() {
  local group
  [[ -n ${FACTS[hook]} ]] || return 0
  group=$(own_group) || return
  aws autoscaling complete-lifecycle-action --lifecycle-hook-name "${FACTS[hook]}" \
    --auto-scaling-group-name "${group}" --instance-id "${FACTS[instance]}" --lifecycle-action-result "$1"
}

# ---------------------------------------------------------------- failures in a row
# A cause that every node meets would let the group launch instances for ever, each of them paid for. The fleet's
# parameter counts the failures since the last success; two nodes that count at once may count as one.
failures() {
  aws ssm get-parameter --name "${FACTS[failures]}" --query Parameter.Value --output text
}

write_failures() {
  aws ssm put-parameter --name "${FACTS[failures]}" --value "$1" --overwrite --output text
}

# shellcheck disable=SC2310  # called where a failure ends nothing: each line that needs the one before says so
count_failure() {
  local number group
  COUNTED=yes
  [[ -n ${FACTS[failures]} ]] || return 0 # nobody replaces this node
  number=$(failures) || return
  number=$((number + 1))
  write_failures "${number}" || return
  ((number >= MOST_FAILURES)) || return 0
  group=$(own_group) || return
  aws autoscaling suspend-processes --auto-scaling-group-name "${group}" --scaling-processes Launch || return
  log "${number} set-ups in a row have failed: the group launches no more instances until its process Launch is resumed"
}

# shellcheck disable=SC2310  # as above
forget_failures() {
  local number
  number=$(failures) || return
  [[ ${number} == 0 ]] || write_failures 0
}

# give_back CODE: ends a run that has not come as far as to say CONTINUE, however it ended.
give_back() {
  trap - EXIT
  # shellcheck disable=SC2310  # a failure that cannot be counted is no reason to keep the node
  [[ -n ${COUNTED} ]] || count_failure || true
  # shellcheck disable=SC2310  # a group that cannot be told finds out after an hour
  wait_until 600 'the group to hear that this node is given back' answer_group ABANDON || true
  exit "$1"
}

MOST_FAILURES=3
COUNTED=''
ANSWERED=${ROOT}/var/lib/trainyard/answered
enable_at_boot
declare -A FACTS=()
# Longer than the step node waits: who does not know what node this is can answer nobody. Only 75 may pass with time.
deadline=$(seconds_up)
deadline=$((deadline + ${TRAINYARD_DEADLINE:-600}))
while true; do
  code=0
  # shellcheck disable=SC2310  # its code is looked at
  lines=$(node facts) || code=$?
  now=$(seconds_up)
  ((code == 75 && now < deadline)) || break
  sleep 1
done
((code == 0)) || exit "${code}"
while IFS= read -r setting; do # with '=' in IFS, read takes one off a value's end
  FACTS[${setting%%=*}]=${setting#*=}
done <<<"${lines}"
AWS_DEFAULT_REGION=${FACTS[region]}
export AWS_DEFAULT_REGION
# shellcheck disable=SC2310  # a question
has_answered || trap 'give_back "$?"' EXIT

TRAINYARD_LOG_GRACE=0 "${here}/setup.sh" || code=$?
if ((code == 0)); then
  # shellcheck disable=SC2310  # what it says goes into the log, which is shipped before the node is given back
  wait_until 600 'the tag that says that this node is ready' say_ready | tee -a -- "${LOG_FILE}" || code=$?
fi
# shellcheck disable=SC2310  # questions, and a failure that cannot be counted is no reason to keep the node
((code == 0)) || has_answered || count_failure >>"${LOG_FILE}" 2>&1 || echo 'the failure could not be counted' >&2
# shellcheck disable=SC2310  # a log that cannot be shipped is no reason to give a node back
ship_log || echo 'the log could not be shipped' >&2
((code == 0)) || exit "${code}"

trap - EXIT # from here on this node may have a job: nothing gives it back any more
# shellcheck disable=SC2310  # a question
has_answered || {
  wait_until 3600 'the group to hear that this node is ready' answer_group CONTINUE
  put_file "${ANSWERED}" 0644 "${FACTS[instance]}"
  [[ -z ${FACTS[failures]} ]] || forget_failures || echo 'the count of failures stays until the next node is ready' >&2
}
"${here}/members.sh" || echo 'the list of members is not renewed yet; the timer does it' >&2 # now that this node is one

# shellcheck shell=bash
# What this node is, and whether it can reach what it needs. Every other step reads NODE.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE=()

SETTINGS=${ROOT}/etc/trainyard/settings.json

step node 'find out what this node is' \
  'the metadata service is off, or the subnet has no DNS, or user data and scripts are of different versions'

step_node_done() {
  false # what this node is has to be read by every run
}

step_node_run() {
  local facts setting
  wait_until 120 'the metadata of this instance' node_facts_or_never
  facts=$(node_facts)
  while IFS= read -r setting; do # with '=' in IFS, read takes one off a value's end
    NODE[${setting%%=*}]=${setting#*=}
  done <<<"${facts}"
  export AWS_DEFAULT_REGION=${NODE[region]} AWS_RETRY_MODE=standard AWS_MAX_ATTEMPTS=10
  log "fleet ${NODE[fleet]}, role ${NODE[role]}, ${NODE[instance]}, ${NODE[instance_type]}, ${NODE[address]}"
}

step_node_verify() {
  local name=${NODE[lustre_dns_name]}
  [[ -z ${name} ]] || wait_until 300 "the name ${name}" getent hosts "${name}"
}

node_facts() {
  python3 -ISB "${BUNDLE}/node.py" --settings "${SETTINGS}" facts
}

# Exit code 75 may pass with time. Anything else will not: then waiting ends, and asking again says why.
node_facts_or_never() {
  local code=0
  node_facts || code=$?
  ((code != 75))
}

# shellcheck shell=bash
# What this node is, and whether it can reach what it needs. Every other step reads NODE.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE=()

RESOURCE_CONFIG=${SAGEMAKER_RESOURCE_CONFIG_PATH:-${ROOT}/opt/ml/config/resource_config.json}

step network 'find out what this node is, and wait for its network' \
  'the subnet has no route out or no DNS, or the scripts were made for another cluster than this'

step_network_done() {
  false # what this node is has to be read by every run
}

step_network_run() {
  local facts setting
  # shellcheck disable=SC2310  # a question
  facts=$(network_facts 2>/dev/null) || {
    wait_until 300 'this node in resource_config.json' network_facts_or_never
    facts=$(network_facts)
  }
  while IFS= read -r setting; do # with '=' in IFS, read takes one off a value's end
    NODE[${setting%%=*}]=${setting#*=}
  done <<<"${facts}"
  log "cluster ${NODE[cluster]}, group ${NODE[group]}, role ${NODE[role]}, ${NODE[instance_type]}, ${NODE[address]}"
}

step_network_verify() {
  local name=${NODE[lustre_dns_name]-}
  [[ -z ${name} ]] || wait_until 300 "the name ${name}" getent hosts "${name}"
}

network_facts() {
  python3 -ISB "${BUNDLE}/resource_config.py" --config "${RESOURCE_CONFIG}" --settings "${BUNDLE}/settings.json" \
    ${TRAINYARD_ADDRESS:+--address "${TRAINYARD_ADDRESS}"}
}

# network_hosts: the nodes that run jobs, as far as HyperPod has listed them, one in a line.
network_hosts() {
  python3 -ISB "${BUNDLE}/resource_config.py" --config "${RESOURCE_CONFIG}" --settings "${BUNDLE}/settings.json" --hosts
}

# Exit code 75 may pass with time. Anything else will not: then waiting ends, and asking again says why.
network_facts_or_never() {
  local code=0
  network_facts || code=$?
  ((code != 75))
}

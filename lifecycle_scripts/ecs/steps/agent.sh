# shellcheck shell=bash
# Options of the ECS agent, in the place of lines for the same options; others, as the AMI has them, stay.
: "${ROOT?}"
declare -gA SETTINGS

ECS_CONFIG=${ROOT}/etc/ecs/ecs.config

step agent 'set the options of the ECS agent' 'the root file system is full or read-only'

step_agent_done() {
  local wanted
  wanted=$(agent_config) && holds "${ECS_CONFIG}" "${wanted}"
}

step_agent_run() {
  local wanted
  wanted=$(agent_config)
  put_file "${ECS_CONFIG}" 0600 "${wanted}"
}

step_agent_verify() {
  step_agent_done
}

agent_config() {
  local key
  # shellcheck disable=SC2310  # there may be none yet
  [[ ! -e ${ECS_CONFIG} ]] || agent_other_options
  # shellcheck disable=SC2312  # neither can fail
  for key in "${!SETTINGS[@]}"; do
    [[ ${key} != ECS_* ]] || printf '%s=%s\n' "${key}" "${SETTINGS[${key}]}"
  done | LC_ALL=C sort
}

agent_other_options() {
  local line
  while IFS= read -r line || [[ -n ${line} ]]; do
    [[ -z ${line} || -v SETTINGS[${line%%=*}] ]] || printf '%s\n' "${line}"
  done <"${ECS_CONFIG}"
}

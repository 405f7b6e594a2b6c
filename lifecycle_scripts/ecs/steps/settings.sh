# shellcheck shell=bash
# What this host serves. Every other step reads SETTINGS, which the user data wrote as lines of key=value.
: "${BUNDLE?}"
declare -gA SETTINGS=()

step settings 'read what this host serves' 'the user data was cut off: look at /var/log/cloud-init-output.log'

step_settings_done() {
  false # has to be read by every run
}

step_settings_run() {
  local setting
  while IFS= read -r setting; do # with '=' in IFS, read takes one off a value's end
    SETTINGS[${setting%%=*}]=${setting#*=}
  done <"${BUNDLE}/settings"
}

step_settings_verify() {
  log "cluster ${SETTINGS[ECS_CLUSTER]}, weights ${SETTINGS[source]}"
}

#!/bin/bash
set -Eeuo pipefail
mkdir -p -- /etc/systemd/system /etc/systemd/system/ecs.service.d /opt/trainyard /opt/trainyard/lib /opt/trainyard/steps
cat >/opt/trainyard/settings <<'TRAINYARD_END_OF_FILE'
ECS_AWSVPC_BLOCK_IMDS=true
ECS_CLUSTER=serving
ECS_CONTAINER_START_TIMEOUT=10m
ECS_CONTAINER_STOP_TIMEOUT=120s
ECS_ENABLE_SPOT_INSTANCE_DRAINING=true
ECS_IMAGE_PULL_BEHAVIOR=prefer-cached
cache=/var/cache/trainyard/model
devices=1
driver_before=2.29
driver_from=
mount=/mnt/trainyard/model
region=us-west-2
source=s3://some-models/models/llama/
TRAINYARD_END_OF_FILE
cat >/opt/trainyard/lib/steps.sh <<'TRAINYARD_END_OF_FILE'
set -Eeuo pipefail
export AWS_METADATA_SERVICE_TIMEOUT=5 AWS_METADATA_SERVICE_NUM_ATTEMPTS=5
ROOT=${TRAINYARD_ROOT:-}
LOG_FILE=${ROOT}/var/log/provision/provisioning.log # HyperPod ships this file, and no other
BUNDLE=''                                           # the folder of the entry script
HOST=$(hostname)
declare -A STEP_TITLE=() STEP_CAUSE=() STEP_NEEDS=() STEP_STATE=() STEP_PROCESS=()
BESIDE=() # process ids of what was started beside this shell
RUNNING=0 # how many of them have not ended
FAILED_STEPS=''
FAILED_CODE=0
SHELL_LEVEL=0 # of the shell that a step runs in
CURRENT_STEP='start'
FAILED_COMMAND=''
log() {
  printf '%(%Y-%m-%dT%H:%M:%S%z)T [%s] %s\n' -1 "${CURRENT_STEP}" "$*"
}
warn() {
  log "WARNING: $*"
}
fail() {
  log "ERROR: $*"
  exit 1
}
wait_until() {
  local what=$2 delay=0.2 now deadline last
  now=$(seconds_up)
  deadline=$((now + ${TRAINYARD_DEADLINE:-$1}))
  shift 2
  until last=$("$@" 2>&1); do
    now=$(seconds_up)
    if ((now >= deadline)); then
      log "waited in vain for ${what}${last:+: ${last##*$'\n'}}"
      return 1
    fi
    sleep "${delay}"
    case ${delay} in
      0.2) delay=0.5 ;;
      0.5) delay=1 ;;
      1) delay=2 ;;
      *) delay=$((2 + RANDOM % 3)) ;; # a thousand nodes that start together do not ask together
    esac
  done
}
seconds_up() {
  local up
  read -r up _ </proc/uptime
  printf '%s' "${up%.*}"
}
put_file() {
  local path=$1 mode=$2 text=$3 temporary=$1.trainyard-new
  if ! holds "${path}" "${text}"; then
    mkdir -p -- "${path%/*}"
    printf '%s\n' "${text}" >"${temporary}"
    chmod -- "${mode}" "${temporary}"
    mv -f -- "${temporary}" "${path}"
  fi
}
rewrite() {
  local path=$1 mode=$2 lines
  shift 2
  mkdir -p -- "${ROOT}/run/lock"
  (
    flock 9
    lines=$("$@")
    put_file "${path}" "${mode}" "${lines}"
  ) 9>"${ROOT}/run/lock/trainyard${path//\//-}"
}
holds() {
  local text
  [[ -e $1 ]] && text=$(cat -- "$1") && [[ ${text} == "$2" ]]
}
make_home() {
  local path=$1 user=$2 template=$3 temporary=$1.new-${HOST}
  [[ -d ${path} ]] || {
    rm -rf -- "${temporary}" \
      && mkdir -p -- "${path%/*}" \
      && cp -a -- "${template}" "${temporary}" \
      && chown -R -- "${user}:" "${temporary}" \
      && chmod -- 0750 "${temporary}" \
      && { mv -nT -- "${temporary}" "${path}" || [[ -d ${path} ]]; } \
      && rm -rf -- "${temporary}" # left over when another node was faster
  }
}
account() {
  local entry
  entry=$(getent "$1" "$2") && cut -d: -f"$3" <<<"${entry}"
}
step() {
  STEP_TITLE[$1]=$2
  STEP_CAUSE[$1]=$3
  [[ $# -lt 4 ]] || STEP_NEEDS[$1]=$4
}
provision() {
  local name
  BUNDLE=$1
  shift
  start_log
  take_run
  for name in "$@"; do
    STEP_STATE[${name}]=waiting
    source "${BUNDLE}/steps/${name}.sh"
  done
  exec {ENDS}<> <(:) # a pipe whose two ends are here: a step that ends says so in it
  while true; do
    start_steps "$@"
    ((RUNNING > 0)) || break
    await_step
  done
  CURRENT_STEP='end'
  ((FAILED_CODE == 0)) || exit "${FAILED_CODE}"
  for name in "$@"; do
    [[ ${STEP_STATE[${name}]} == 'done' ]] || fail "the step ${name} cannot start: it needs ${STEP_NEEDS[${name}]}"
  done
  log "all steps are done, after ${SECONDS} s"
}
take_run() {
  mkdir -p -- "${ROOT}/run/lock"
  exec 8>>"${ROOT}/run/lock/trainyard-run"
  flock --nonblock 8 || {
    log 'another run has not ended on this node: it is waited for'
    wait_until 3600 'the end of the run before' flock --nonblock 8
  }
}
start_steps() {
  local name before=''
  for name in "$@"; do
    if may_start "${name}" "${STEP_NEEDS[${name}]-${before}}"; then
      start_step "${name}"
    fi
    before+=" ${name}"
  done
}
may_start() {
  local need
  ((FAILED_CODE == 0 && RUNNING < ${TRAINYARD_AT_ONCE:-64})) && [[ ${STEP_STATE[$1]} == waiting ]] || return 1
  for need in $2; do
    [[ ${STEP_STATE[${need}]:-done} == 'done' ]] || return 1
  done
}
start_step() {
  if [[ -n ${STEP_NEEDS[$1]+given} ]]; then
    STEP_STATE[$1]=running
    RUNNING=$((RUNNING + 1))
    run_beside "$1" &
    BESIDE+=("$!")
    STEP_PROCESS[$1]=$!
  else
    run_step "$1" 8>&-
    STEP_STATE[$1]='done'
  fi
}
await_step() {
  local name code lost
  CURRENT_STEP='end'
  until read -r -t 5 name code <&"${ENDS}"; do
    if lost=$(lost_step); then
      read -r -t 1 name code <&"${ENDS}" && break
      name=${lost} code=137
      log "ERROR: the shell that waits for the step ${name} was killed"
      break
    fi
  done
  RUNNING=$((RUNNING - 1))
  STEP_STATE[${name}]='done'
  ((code == 0)) || {
    FAILED_STEPS+="${FAILED_STEPS:+, }${name}"
    ((FAILED_CODE)) || FAILED_CODE=${code}
    ((RUNNING == 0)) || log "${name} failed; what runs beside it is waited for, and nothing else is started"
  }
}
lost_step() {
  local name
  for name in "${!STEP_PROCESS[@]}"; do
    if [[ ${STEP_STATE[${name}]} == running ]] && ! kill -0 "${STEP_PROCESS[${name}]}" 2>/dev/null; then
      printf '%s' "${name}"
      return
    fi
  done
  return 1
}
run_beside() {
  set +e
  trap - ERR EXIT TERM INT
  step_shell "$1" 2>&1 8>&- | label "$1" 8>&-
  printf '%s %s\n' "$1" "${PIPESTATUS[0]}" >&"${ENDS}"
}
step_shell() {
  set -e
  SHELL_LEVEL=${BASH_SUBSHELL}
  log() {
    printf '%s\n' "$*"
  }
  trap 'note_failure "$?" "${BASH_SOURCE[0]}" "${LINENO}"' ERR
  trap 'exit 143' TERM
  trap 'end_of_step "$?"' EXIT
  run_step "$1"
}
end_of_step() {
  trap - ERR EXIT
  (($1 == 0)) || report "$1"
  exit "$1"
}
label() {
  local line CURRENT_STEP=$1
  while IFS= read -r line || [[ -n ${line} ]]; do
    log "${line}"
  done
}
run_step() {
  local started=${SECONDS}
  CURRENT_STEP=$1
  if "step_$1_done"; then
    log "${STEP_TITLE[$1]}: nothing to do"
    return
  fi
  log "${STEP_TITLE[$1]}"
  "step_$1_run"
  "step_$1_verify"
  log "done in $((SECONDS - started)) s"
}
start_log() {
  mkdir -p -- "${LOG_FILE%/*}"
  exec 3>&1
  exec > >(exec tee -a -- "${LOG_FILE}") 2>&1
  LOG_WRITER=$!
  trap 'note_failure "$?" "${BASH_SOURCE[0]}" "${LINENO}"' ERR
  trap 'exit 143' TERM
  trap 'exit 130' INT
  trap 'finish "$?"' EXIT
  log "$0 starts on ${HOST}"
}
note_failure() {
  local code=$1 file=$2 line=$3 text
  ((BASH_SUBSHELL == SHELL_LEVEL)) || exit "${code}" # the command that waits for this subshell fails too, and is the one to name
  mapfile -t -s $((line - 1)) -n 1 text <"${file}"
  FAILED_COMMAND="${text[0]#"${text[0]%%[![:blank:]]*}"} (at ${file##*/}:${line})"
}
likely_cause() {
  local free
  free=$(df --output=avail -- "${ROOT:-/}" 2>/dev/null) || free=''
  free=${free##*[!0-9]} # the last line, in KiB
  if [[ -n ${free} ]] && ((free < 1024)); then
    printf 'no space is left on %s (%s KiB)' "${ROOT:-/}" "${free}"
  else
    printf '%s' "${STEP_CAUSE[${CURRENT_STEP}]:-not known}"
  fi
}
report() {
  local cause
  log "FAILED in step '${CURRENT_STEP}' with exit code $1${FAILED_COMMAND:+, in the command: ${FAILED_COMMAND}}"
  cause=$(likely_cause)
  log "likely cause: ${cause}"
}
finish() {
  local code=$1
  trap - ERR EXIT
  ((${#BESIDE[@]} == 0)) || wait "${BESIDE[@]}" || true
  if ((code != 0)); then
    [[ -n ${FAILED_STEPS} ]] || report "${code}"
    log "${FAILED_STEPS:+failed: ${FAILED_STEPS}, see above; }nothing is undone; run $0 again and it goes on from here"
  fi
  exec >&3 2>&3
  wait "${LOG_WRITER}" || true
  if ((code != 0)); then
    sync
    sleep "${TRAINYARD_LOG_GRACE:-60}" # HyperPod takes a failed node away, and its log with it
  fi
  exit "${code}"
}
TRAINYARD_END_OF_FILE
cat >/opt/trainyard/boot.sh <<'TRAINYARD_END_OF_FILE'
#!/bin/bash
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
source "${here}/lib/steps.sh"
provision "${here}" settings agent devices mountpoint weights
TRAINYARD_END_OF_FILE
cat >/opt/trainyard/steps/agent.sh <<'TRAINYARD_END_OF_FILE'
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
  [[ ! -e ${ECS_CONFIG} ]] || agent_other_options
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
TRAINYARD_END_OF_FILE
cat >/opt/trainyard/steps/devices.sh <<'TRAINYARD_END_OF_FILE'
: "${ROOT?}"
declare -gA SETTINGS
NEURON_LS=${ROOT}/opt/aws/neuron/bin/neuron-ls
step devices 'ask the Neuron driver for its version and its devices' \
  'another AMI than the pinned one, or broken hardware: terminate the instance and let the group replace it'
step_devices_done() {
  false # hardware is asked at every boot
}
step_devices_run() {
  local version
  wait_until 120 "${SETTINGS[devices]} Neuron devices" devices_present
  version=$(cat -- "${ROOT}/sys/module/neuron/version")
  log "Neuron driver ${version}"
  if [[ -n ${SETTINGS[driver_from]} ]] && ! devices_at_least "${version}" "${SETTINGS[driver_from]}"; then
    fail "driver ${version} is older than ${SETTINGS[driver_from]}, which the engine's runtime library needs"
  fi
  if [[ -n ${SETTINGS[driver_before]} ]] && devices_at_least "${version}" "${SETTINGS[driver_before]}"; then
    fail "driver ${version} is not older than ${SETTINGS[driver_before]}: the engine's runtime library is too old for it"
  fi
}
step_devices_verify() {
  timeout 60 "${NEURON_LS}" --json-output >/dev/null || fail 'neuron-ls cannot talk to the devices'
}
devices_present() {
  local found
  found=("${ROOT}"/dev/neuron[0-9]*)
  [[ -e ${found[0]} ]] && ((${#found[@]} >= SETTINGS[devices]))
}
devices_at_least() {
  local sorted
  sorted=$(sort -V <<<"$1"$'\n'"$2") && [[ ${sorted%%$'\n'*} == "$2" ]]
}
TRAINYARD_END_OF_FILE
cat >/opt/trainyard/steps/mountpoint.sh <<'TRAINYARD_END_OF_FILE'
: "${ROOT?}"
step mountpoint 'install Mountpoint for Amazon S3' \
  "no way to Amazon Linux's repository: it needs a route out, or an S3 endpoint whose policy lets al2023-repos-* through"
step_mountpoint_done() {
  command -v mount-s3 >/dev/null
}
step_mountpoint_run() {
  wait_until 600 'dnf, which the SSM agent may hold at the first boot' dnf -q -y install mount-s3
}
step_mountpoint_verify() {
  mount-s3 --version
}
TRAINYARD_END_OF_FILE
cat >/opt/trainyard/steps/settings.sh <<'TRAINYARD_END_OF_FILE'
: "${BUNDLE?}"
declare -gA SETTINGS=()
step settings 'read what this host serves' 'the user data was cut off: look at /var/log/cloud-init-output.log'
step_settings_done() {
  false # has to be read by every run
}
step_settings_run() {
  local key value
  while IFS='=' read -r key value; do
    SETTINGS[${key}]=${value}
  done <"${BUNDLE}/settings"
}
step_settings_verify() {
  log "cluster ${SETTINGS[ECS_CLUSTER]}, weights ${SETTINGS[source]}"
}
TRAINYARD_END_OF_FILE
cat >/opt/trainyard/steps/weights.sh <<'TRAINYARD_END_OF_FILE'
: "${ROOT?}"
declare -gA SETTINGS
step weights 'mount the weights and read them once' \
  "the host's role may not list or read the prefix, its key may not decrypt, or the prefix is empty"
step_weights_done() {
  weights_mounted 2>/dev/null && [[ -e ${ROOT}/run/trainyard-weights-read ]]
}
step_weights_run() {
  local path=${ROOT}${SETTINGS[mount]} mounts
  mountpoint -q -- "${path}" || umount --lazy -- "${path}" 2>/dev/null || true
  mkdir -p -- "${path}" "${ROOT}${SETTINGS[cache]}"
  chmod -- 0700 "${ROOT}${SETTINGS[cache]}" # objects lie in it as they are; the volume is encrypted
  mounts=$(weights_fstab)
  put_file "${ROOT}/etc/fstab" 0644 "${mounts}"
  systemctl daemon-reload
  wait_until 300 "the mount of ${SETTINGS[source]}" weights_mount "${path}"
  if ! weights_there; then
    fail "${SETTINGS[source]} is empty: upload the model there, or give the prefix that has it"
  fi
  find "${path}" -type f -exec cat -- '{}' + >/dev/null
  touch "${ROOT}/run/trainyard-weights-read" # gone after a reboot, as Mountpoint's cache is
}
step_weights_verify() {
  weights_mounted
}
weights_mount() {
  mountpoint -q -- "$1" || mount -- "$1"
}
weights_mounted() {
  mountpoint -q -- "${ROOT}${SETTINGS[mount]}" && weights_there
}
weights_there() {
  local first
  first=$(timeout 60 find "${ROOT}${SETTINGS[mount]}" -type f -print -quit) && [[ -n ${first} ]]
}
weights_fstab() {
  [[ ! -e ${ROOT}/etc/fstab ]] \
    || awk -v path="${SETTINGS[mount]}" '$2 != path || /^[[:space:]]*#/' "${ROOT}/etc/fstab"
  printf '%s %s mount-s3 %s 0 0\n' "${SETTINGS[source]}" "${SETTINGS[mount]}" \
    "_netdev,nosuid,nodev,nofail,ro,allow-other,region=${SETTINGS[region]},cache=${SETTINGS[cache]},metadata-ttl=indefinite"
}
TRAINYARD_END_OF_FILE
cat >/etc/systemd/system/trainyard-host.service <<'TRAINYARD_END_OF_FILE'
[Unit]
Description=Make this host fit to serve: driver, weights, settings of the ECS agent
Documentation=file:/var/log/provision/provisioning.log
Wants=network-online.target
After=network-online.target
Before=ecs.service
[Service]
Type=oneshot
RemainAfterExit=yes
Environment=TRAINYARD_LOG_GRACE=0
ExecStart=/opt/trainyard/boot.sh
ExecStartPost=-/usr/bin/systemctl start --no-block ecs.service
Restart=on-failure
RestartSec=60
TimeoutStartSec=infinity
[Install]
WantedBy=multi-user.target
TRAINYARD_END_OF_FILE
cat >/etc/systemd/system/ecs.service.d/10-trainyard.conf <<'TRAINYARD_END_OF_FILE'
[Unit]
Requires=trainyard-host.service
After=trainyard-host.service
TRAINYARD_END_OF_FILE
FOLDER=/opt/trainyard
chmod -- 0755 "${FOLDER:?}/boot.sh"
systemctl daemon-reload
systemctl enable trainyard-host.service
systemctl start trainyard-host.service

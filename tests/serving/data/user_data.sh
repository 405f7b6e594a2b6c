#!/bin/bash
set -Eeuo pipefail
ROOT=/
python3 -c 'import base64, io, sys, tarfile; packed = io.BytesIO(base64.b64decode(sys.stdin.read())); tarfile.open(fileobj=packed, mode="r:bz2").extractall(sys.argv[1])' "${ROOT}" 
==== 644 etc/systemd/system/ecs.service.d/10-trainyard.conf
# No agent, and so no task, on a host that is not fit to serve.
[Unit]
Requires=trainyard-host.service
After=trainyard-host.service
==== 644 etc/systemd/system/trainyard-host.service
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
# what failed may pass: a permission that comes late, a bucket that is filled; then the agent starts after all
ExecStartPost=-/usr/bin/systemctl start --no-block ecs.service
Restart=on-failure
RestartSec=60
TimeoutStartSec=infinity

[Install]
WantedBy=multi-user.target
==== 755 opt/trainyard/boot.sh
#!/bin/bash
# Every boot of an ECS host: run by trainyard-host.service, which the ECS agent waits for.
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source-path=SCRIPTDIR source=../lib/steps.sh
source "${here}/lib/steps.sh"

# The weights come last, since reading them takes longest: whatever else is wrong shows within seconds.
provision "${here}" settings agent devices mountpoint weights
==== 644 opt/trainyard/lib/steps.sh
# shellcheck shell=bash
# Runs named steps, so that a node converges however often, and wherever, it was stopped before.
#
# A step NAME is a file steps/NAME.sh beside the entry script. It calls `step NAME TITLE CAUSE [NEEDS]` and defines
#   step_NAME_done    succeeds when there is nothing to do: quick, changes nothing
#   step_NAME_run     does it
#   step_NAME_verify  fails when it did not work after all
# CAUSE says, for a person reading the log, what usually is wrong when the step fails. In `run` and `verify` a command
# that fails ends the run; in `done`, and in whatever is called after `||`, `&&`, `if` or by wait_until, it does not.
#
# NEEDS names the steps that must be done before; those that the entry script does not run count as done. Such a step
# runs beside others, in a shell of its own: what it sets, no other step sees. A step without NEEDS comes after every
# step that is named before it and runs in the script's own shell, so that later steps see what it set. When a step fails
# no other is started, and those that run are waited for.
#
# Environment, for tests and rehearsals: TRAINYARD_ROOT stands before every absolute path; TRAINYARD_DEADLINE replaces
# every deadline, in seconds; TRAINYARD_LOG_GRACE is how long a failed run stays alive so that its log is shipped;
# TRAINYARD_AT_ONCE is how many steps may run beside one another.

set -Eeuo pipefail

# The AWS CLI asks a node's metadata service for its role's credentials once, and for 1 s: on a busy node that is too little.
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

# ---------------------------------------------------------------- words
log() {
  printf '%(%Y-%m-%dT%H:%M:%S%z)T [%s] %s\n' -1 "${CURRENT_STEP}" "$*"
}

warn() {
  log "WARNING: $*"
}

# Ends the run with a sentence for a person.
fail() {
  log "ERROR: $*"
  exit 1
}

# ---------------------------------------------------------------- waiting
# wait_until SECONDS WHAT COMMAND...: asks until COMMAND succeeds; fails after SECONDS.
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

# Seconds since the boot: Bash's own SECONDS jump when the clock is set, which a step may do while others wait.
seconds_up() {
  local up
  read -r up _ </proc/uptime
  printf '%s' "${up%.*}"
}

# ---------------------------------------------------------------- files and accounts
# put_file PATH MODE TEXT: writes lines of text to a file, whole or not at all; leaves an equal file alone.
put_file() {
  local path=$1 mode=$2 text=$3 temporary=$1.trainyard-new
  # shellcheck disable=SC2310  # a question
  if ! holds "${path}" "${text}"; then
    mkdir -p -- "${path%/*}"
    printf '%s\n' "${text}" >"${temporary}"
    chmod -- "${mode}" "${temporary}"
    mv -f -- "${temporary}" "${path}"
  fi
}

# rewrite PATH MODE COMMAND...: puts what COMMAND prints in the place of a file that other steps change too.
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

# holds PATH TEXT: whether the file holds these lines and no other.
holds() {
  local text
  [[ -e $1 ]] && text=$(cat -- "$1") && [[ ${text} == "$2" ]]
}

# make_home PATH USER TEMPLATE: a home directory, whole or not at all; other nodes may be making the same one.
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

# account DATABASE KEY FIELDS: fields of an entry of passwd or group, with colons between; fails when there is none.
account() {
  local entry
  entry=$(getent "$1" "$2") && cut -d: -f"$3" <<<"${entry}"
}

# ---------------------------------------------------------------- steps
# step NAME TITLE CAUSE [NEEDS]: registers a step.
step() {
  STEP_TITLE[$1]=$2
  STEP_CAUSE[$1]=$3
  [[ $# -lt 4 ]] || STEP_NEEDS[$1]=$4
}

# provision DIRECTORY STEP...: runs the steps of DIRECTORY/steps. The one call of an entry script.
provision() {
  local name
  BUNDLE=$1
  shift
  start_log
  take_run
  for name in "$@"; do
    STEP_STATE[${name}]=waiting
    # shellcheck source=/dev/null
    source "${BUNDLE}/steps/${name}.sh"
  done
  # shellcheck disable=SC2312  # it does nothing
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

# One run at a time. One whose first shell alone was killed lives on in the shells that wait for its steps, which have the
# lock too; what steps start has not, since daemons stay.
take_run() {
  mkdir -p -- "${ROOT}/run/lock"
  exec 8>>"${ROOT}/run/lock/trainyard-run"
  flock --nonblock 8 || {
    log 'another run has not ended on this node: it is waited for'
    wait_until 3600 'the end of the run before' flock --nonblock 8
  }
}

# start_steps STEP...: starts whatever has what it needs.
start_steps() {
  local name before=''
  for name in "$@"; do
    # shellcheck disable=SC2310  # a question
    if may_start "${name}" "${STEP_NEEDS[${name}]-${before}}"; then
      start_step "${name}"
    fi
    before+=" ${name}"
  done
}

# may_start STEP NEEDS
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

# await_step: waits for the next step that ends.
await_step() {
  local name code lost
  CURRENT_STEP='end'
  until read -r -t 5 name code <&"${ENDS}"; do
    # shellcheck disable=SC2310  # a question
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

# lost_step: a step that runs, and whose shell beside this one is no more: it was killed, or has said so this very moment.
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

# Nothing but the pipe of ends hears of this shell, not even when the step's own is killed.
run_beside() {
  set +e
  trap - ERR EXIT TERM INT
  step_shell "$1" 2>&1 8>&- | label "$1" 8>&-
  printf '%s %s\n' "$1" "${PIPESTATUS[0]}" >&"${ENDS}"
}

# The shell of one step. What it and its programs print goes through label.
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

# Whole lines: those of two steps never mix, and each says whose it is.
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

# ---------------------------------------------------------------- log and end
start_log() {
  mkdir -p -- "${LOG_FILE%/*}"
  exec 3>&1
  # shellcheck disable=SC2312  # finish waits for it
  exec > >(exec tee -a -- "${LOG_FILE}") 2>&1
  LOG_WRITER=$!
  trap 'note_failure "$?" "${BASH_SOURCE[0]}" "${LINENO}"' ERR
  trap 'exit 143' TERM
  trap 'exit 130' INT
  trap 'finish "$?"' EXIT
  log "$0 starts on ${HOST}"
}

# The line as it is written: no value of a variable, and with it no secret, can get into the log.
note_failure() {
  local code=$1 file=$2 line=$3 text
  ((BASH_SUBSHELL == SHELL_LEVEL)) || exit "${code}" # the command that waits for this subshell fails too, and is the one to name
  mapfile -t -s $((line - 1)) -n 1 text <"${file}"
  FAILED_COMMAND="${text[0]#"${text[0]%%[![:blank:]]*}"} (at ${file##*/}:${line})"
}

# What the step says of itself, unless the disk explains everything.
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

# report CODE: what went wrong in the current step.
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
==== 755 opt/trainyard/model_files.py
#!/usr/bin/env python3
"""What a model's folder must hold: all of its manifest, as it was written, and what the engine reads.

Arguments: the folder, and what the engine reads (JSON): patterns of files, pieces of weights by rank, values of
neuron_config.json. Or ``--write`` and the folder, to make the manifest of a model that is uploaded by hand. Every file
is read once, which also fills the cache of a mounted bucket. A manifest says of each file how many bytes it has and
their SHA-256: a part of an upload never passes, in whatever order its files arrive.

Hosts run this with their system's Python (3.9 on Amazon Linux 2023), builds with their image's.
"""

from __future__ import annotations

import hashlib
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

MANIFEST = "trainyard-manifest.json"
CONFIG = "neuron_config.json"
_BLOCK = 1 << 20
_AT_ONCE = 4


def facts(path: Path) -> dict[str, Any]:
    """Return what a manifest says of a file; reads all of it."""
    total = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            total.update(block)
    return {"bytes": path.stat().st_size, "sha256": total.hexdigest()}


def files_of(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what a manifest says of every file of a folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return _all_facts({path.relative_to(folder).as_posix(): path for path in paths})


def missing(folder: Path, there: Collection[str], wanted: Mapping[str, Any]) -> list[str]:
    """Return what the engine reads and the folder does not have, or has otherwise."""
    pieces = [wanted["pieces"].replace("*", str(rank)) for rank in range(wanted["ranks"])]
    needed = [*wanted["files"], *pieces]
    found = [f"there is no {name}" for name in needed if not any(fnmatch(known, name) for known in there)]
    if found or not wanted["config"]:
        return found
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    told = {key: str(config.get(key)).replace("torch.", "") for key in wanted["config"]}
    return [
        f"{key} of {CONFIG} is {told[key]}, and the service asks for {value}"
        for key, value in wanted["config"].items()
        if told[key] != str(value)
    ]


def cut_off(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return which files of a manifest are not there, or have not all of their bytes."""
    absent = [name for name in files if not (folder / name).is_file()]
    if absent:
        return [f"{len(absent)} of {len(files)} files are not there, {absent[0]} among them"]
    return [
        f"{name} has not the {fact['bytes']} bytes of the manifest"
        for name, fact in files.items()
        if (folder / name).stat().st_size != fact["bytes"]
    ]


def changed(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return which files of a manifest have other bytes; reads all of them."""
    found = _all_facts({name: folder / name for name in files})
    return [f"{name} has not the SHA-256 of the manifest" for name in files if found[name] != files[name]]


def _all_facts(paths: Mapping[str, Path]) -> dict[str, dict[str, Any]]:
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        asked = {name: pool.submit(facts, path) for name, path in paths.items()}
        return {name: told.result() for name, told in asked.items()}


def problems(folder: Path, wanted: Mapping[str, Any]) -> list[str]:
    """Return everything that is wrong with a folder."""
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return [f"there is no {MANIFEST}, without which nobody knows whether the upload has ended"]
    files = json.loads(manifest.read_text(encoding="utf-8"))["files"]
    return cut_off(folder, files) or missing(folder, files, wanted) or changed(folder, files)


def write(folder: Path, **facts_of_it: object) -> bytes:
    """Write the manifest of a folder, and return it."""
    text = json.dumps({"version": 1, **facts_of_it, "files": files_of(folder)}, indent=2, sort_keys=True)
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    return text.encode()


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        write(Path(sys.argv[2]))
    else:
        sys.exit("; ".join(problems(Path(sys.argv[1]), json.loads(sys.argv[2]))) or 0)
==== 644 opt/trainyard/steps/agent.sh
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
==== 644 opt/trainyard/steps/devices.sh
# shellcheck shell=bash
# The Neuron driver, and the devices that the task is given. A driver that the engine's runtime library cannot talk to
# shows only as a task that dies at nrt_init(), again and again: so it is asked here.
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
  # shellcheck disable=SC2310  # questions
  if [[ -n ${SETTINGS[driver_from]} ]] && ! devices_at_least "${version}" "${SETTINGS[driver_from]}"; then
    fail "driver ${version} is older than ${SETTINGS[driver_from]}, which the engine's runtime library needs"
  fi
  # shellcheck disable=SC2310
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

# devices_at_least VERSION OTHER
devices_at_least() {
  local sorted
  sorted=$(sort -V <<<"$1"$'\n'"$2") && [[ ${sorted%%$'\n'*} == "$2" ]]
}
==== 644 opt/trainyard/steps/mountpoint.sh
# shellcheck shell=bash
# Mountpoint for Amazon S3, from Amazon Linux's own repository (since 2023.9.20251110).
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
==== 644 opt/trainyard/steps/settings.sh
# shellcheck shell=bash
# What this host serves. Every other step reads SETTINGS, which the user data wrote as lines of key=value.
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
==== 644 opt/trainyard/steps/weights.sh
# shellcheck shell=bash
# The weights: a folder of the model bucket, mounted read-only before the agent starts, so that every task finds it
# and none keeps the handle of an older mount. It is compared with its manifest, byte by byte: that fills Mountpoint's
# cache on the volume (engines map the files, and map them slowly over the network), and a host that boots during an
# upload stays without an agent until the upload has ended.
: "${ROOT?}" "${BUNDLE?}"
declare -gA SETTINGS

step weights 'mount the weights and compare them with their manifest' \
  "the upload has not ended, the folder is another, or the host's role may not list, read or decrypt it"

step_weights_done() {
  weights_mounted 2>/dev/null && [[ -e ${ROOT}/run/trainyard-weights-read ]]
}

step_weights_run() {
  local path=${ROOT}${SETTINGS[mount]} mounts
  # What mount-s3 leaves when it dies, as when memory runs out, answers nothing and lets nothing be mounted in its place.
  mountpoint -q -- "${path}" || umount --lazy -- "${path}" 2>/dev/null || true
  mkdir -p -- "${path}" "${ROOT}${SETTINGS[cache]}"
  chmod -- 0700 "${ROOT}${SETTINGS[cache]}" # objects lie in it as they are; the volume is encrypted
  mounts=$(weights_fstab)
  put_file "${ROOT}/etc/fstab" 0644 "${mounts}"
  systemctl daemon-reload
  wait_until 300 "the mount of ${SETTINGS[source]}" weights_mount "${path}"
  python3 "${BUNDLE}/model_files.py" "${path}" "${SETTINGS[layout]}" \
    || fail "${SETTINGS[source]} cannot be served, see above: upload the model there, its manifest last, or name the folder that has it"
  touch "${ROOT}/run/trainyard-weights-read" # gone after a reboot, as Mountpoint's cache is
}

step_weights_verify() {
  weights_mounted
}

weights_mount() {
  mountpoint -q -- "$1" || mount -- "$1"
}

weights_mounted() {
  mountpoint -q -- "${ROOT}${SETTINGS[mount]}" && weights_answer
}

weights_answer() {
  timeout 60 ls -- "${ROOT}${SETTINGS[mount]}/" >/dev/null
}

# nofail: a host whose bucket is away still boots and can be looked at; the agent waits for boot.sh, not for the mount.
# Times to live that end: what is uploaded after a look is seen by the next one.
weights_fstab() {
  # shellcheck disable=SC2310  # there may be none yet
  [[ ! -e ${ROOT}/etc/fstab ]] \
    || awk -v path="${SETTINGS[mount]}" '$2 != path || /^[[:space:]]*#/' "${ROOT}/etc/fstab"
  printf '%s %s mount-s3 %s 0 0\n' "${SETTINGS[source]}" "${SETTINGS[mount]}" \
    "_netdev,nosuid,nodev,nofail,ro,allow-other,region=${SETTINGS[region]},cache=${SETTINGS[cache]},metadata-ttl=60,negative-metadata-ttl=10"
}
====
cat >"${ROOT}/opt/trainyard/settings" <<'TRAINYARD_END_OF_FILE'
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
layout={"files": ["config.json", "tokenizer.[jm]*", "tokenizer_config.json", "neuron_config.json", "model.pt"], "pieces": "checkpoint/weights/tp*_sharded_checkpoint.safetensors", "ranks": 2, "config": {"batch_size": 4, "sequence_length": 4096, "tp_degree": 2, "torch_dtype": "bfloat16"}}
mount=/mnt/trainyard/model
region=us-west-2
source=s3://some-models/models/llama/3f9a0c51d7e2/
TRAINYARD_END_OF_FILE
# shellcheck shell=bash
# The end of the user data, after the files were written: from here on systemd runs boot.sh, now and at every boot.
# The agent's unit requires trainyard-host.service: where that fails, the agent stays down and no task is placed.
systemctl daemon-reload
systemctl enable trainyard-host.service
systemctl start trainyard-host.service

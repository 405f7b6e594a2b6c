# shellcheck shell=bash
# Runs named steps, so that a node converges however often, and wherever, it was stopped before.
#
# A step NAME is a file steps/NAME.sh beside the entry script, or of this library. It calls `step NAME TITLE CAUSE [NEEDS]` and defines
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

# is_older VERSION OTHER: by the first four numbers, so 2.9.1 is older than 2.25; what stands behind numbers does not count.
is_older() {
  local -a one other
  local number
  IFS=. read -ra one <<<"${1%%[!0-9.]*}"
  IFS=. read -ra other <<<"${2%%[!0-9.]*}"
  for number in {0..3}; do
    ((10#${one[number]:-0} == 10#${other[number]:-0})) || break
  done
  ((10#${one[number]:-0} < 10#${other[number]:-0}))
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
    [[ -d ${path%/*} ]] || mkdir -p -- "${path%/*}"
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

# provision DIRECTORY STEP...: runs the steps of DIRECTORY/steps and DIRECTORY/lib/steps. The one call of an entry script.
provision() {
  local name file
  BUNDLE=$1
  shift
  start_log
  take_run
  for name in "$@"; do
    STEP_STATE[${name}]=waiting
    file=${BUNDLE}/steps/${name}.sh
    [[ -e ${file} ]] || file=${BUNDLE}/lib/steps/${name}.sh
    # shellcheck source=/dev/null
    source "${file}"
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

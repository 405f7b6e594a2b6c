#!/bin/bash
# Runs node scripts from S3: ParallelCluster fetches this one file and nothing beside it.
#
#   bootstrap.sh run s3://BUCKET/FOLDER/ ENTRY [ARGUMENT...]   fetches the folder and runs ENTRY of it
#   bootstrap.sh plan s3://BUCKET/KEY [VERSION]                runs what each line of a plan says
#
# A line of a plan: once or always, folder, entry and arguments, with tabs between. A line that says once is run until it
# has succeeded, and then never again on this node. VERSION is for ParallelCluster, which calls only what has changed.
#
# Environment, for tests and rehearsals: TRAINYARD_ROOT stands before every absolute path, TRAINYARD_DEADLINE is how many
# seconds a fetch is tried.

set -Eeuo pipefail

ROOT=${TRAINYARD_ROOT:-}
HOME_DIRECTORY=${ROOT}/opt/trainyard # survives a reboot, and is the node's own
export AWS_RETRY_MODE=standard AWS_MAX_ATTEMPTS=10
export AWS_METADATA_SERVICE_TIMEOUT=5 AWS_METADATA_SERVICE_NUM_ATTEMPTS=5 # the AWS CLI's own are 1 s, and once

say() {
  printf '%(%Y-%m-%dT%H:%M:%S%z)T [bootstrap] %s\n' -1 "$*"
}

fail() {
  say "ERROR: $*" >&2
  exit 1
}

# fetch SOURCE TARGET [OPTION...]: copies from S3, or says why not. It is tried for a while: routes and permissions of a
# new stack can be late, and the AWS CLI gives all files of a folder together one allowance of retries.
fetch() {
  local source=$1 target=$2 deadline=$((SECONDS + ${TRAINYARD_DEADLINE:-300}))
  shift 2
  until aws s3 cp --only-show-errors "$@" -- "${source}" "${target}"; do
    ((SECONDS < deadline)) || fail "cannot fetch ${source}: may the node's role read it, and does the subnet reach S3?"
    sleep 5
  done
}

# run_entry FOLDER ENTRY [ARGUMENT...]: fetches the folder, once for each version of it, and runs ENTRY.
run_entry() {
  local folder=${1%/} entry=$2 name directory
  shift 2
  name=${folder##*/}
  directory=${HOME_DIRECTORY}/scripts/${name}
  if [[ ! -d ${directory} ]]; then
    rm -rf -- "${directory}.new"
    mkdir -p -- "${directory}.new"
    fetch "${folder}/" "${directory}.new/" --recursive
    mv -T -- "${directory}.new" "${directory}"
  fi
  [[ -f ${directory}/${entry} ]] || fail "${folder} has no file ${entry}"
  chmod +x -- "${directory}/${entry}"
  say "${entry} of ${name} runs"
  "${directory}/${entry}" "$@"
}

# follow PLAN: runs the lines of a plan from the top; the first that fails ends it.
follow() {
  local plan=${HOME_DIRECTORY}/plan.$$ done_before=${HOME_DIRECTORY}/done line
  local -a fields
  mkdir -p -- "${HOME_DIRECTORY}"
  touch -- "${done_before}"
  fetch "$1" "${plan}"
  while IFS= read -r line <&3 || [[ -n ${line} ]]; do
    [[ -n ${line} ]] || continue
    if [[ ${line} == once$'\t'* ]] && grep --quiet --fixed-strings --line-regexp -- "${line}" "${done_before}"; then
      say "done before: ${line//$'\t'/ }"
      continue
    fi
    mapfile -d $'\t' -t fields < <(printf '%s' "${line}")
    run_entry "${fields[@]:1}"
    [[ ${line} == once$'\t'* ]] && printf '%s\n' "${line}" >>"${done_before}"
  done 3<"${plan}"
  rm -f -- "${plan}"
}

command -v aws >/dev/null || fail 'there is no AWS CLI on this image'
case ${1:-} in
  run)
    (($# >= 3)) || fail "usage: $0 run s3://BUCKET/FOLDER/ ENTRY [ARGUMENT...]"
    run_entry "${@:2}"
    ;;
  plan)
    (($# >= 2)) || fail "usage: $0 plan s3://BUCKET/KEY [VERSION]"
    follow "$2"
    ;;
  *) fail "usage: $0 run|plan ..., got '${1:-nothing}'" ;;
esac

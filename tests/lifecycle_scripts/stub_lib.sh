# shellcheck shell=bash
# What all stand-ins have: each writes down how it was called, and which changes it makes.
#   STUB_KILL_AFTER=N   kills the whole process group right after the N-th change, as a power cut would
#   STUB_KEEP=FOLDER    keeps root and programs as they are right after the N-th change, in FOLDER/N

name=${0##*/}
action=${1:-}
state=${TRAINYARD_ROOT:?}/state
words="${name}${*:+ $*}"
printf '%s\n' "${words//$'\n'/ }" >>"${state}/calls"

# changed: what was done is done; the cut may come now.
changed() {
  local done_before
  echo "${name} ${action}" >>"${state}/changes"
  echo "${CURRENT_STEP:-}" >>"${state}/steps"
  if [[ -n ${STUB_KILL_AFTER:-}${STUB_KEEP:-} ]]; then
    mapfile -t done_before <"${state}/changes"
    if [[ -n ${STUB_KEEP:-} ]]; then
      mkdir "${STUB_KEEP}/${#done_before[@]}"
      cp -a "${TRAINYARD_ROOT}" "${TRAINYARD_ROOT}/../bin" "${STUB_KEEP}/${#done_before[@]}"
    elif ((${#done_before[@]} == STUB_KILL_AFTER)); then
      read -r -a stat </proc/$$/stat
      kill -KILL -- "-${stat[5]}" 0 # the script's group, and that of timeout
    fi
  fi
}

# behind OPTION ARGUMENT...: what stands behind an option.
behind() {
  local wanted=$1
  shift
  while (($# > 1)); do
    if [[ $1 == "${wanted}" ]]; then
      printf '%s' "$2"
      return
    fi
    shift
  done
}

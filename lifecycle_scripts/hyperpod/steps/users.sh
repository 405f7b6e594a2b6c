# shellcheck shell=bash
# Users and groups with the same names and numbers on every node, from shared_users.txt. Every entry is tried; every one
# that cannot be made is named, and fails the step.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE

USERS_LISTED='' # every entry of the file, once it is read

step users 'users and groups of shared_users.txt' \
  'a name or number of shared_users.txt belongs to somebody else on this node, or the home directories cannot be written' \
  'lustre openzfs'

step_users_done() {
  [[ -z ${NODE[users_file]-} ]] || users_each users_has >/dev/null 2>&1
}

step_users_run() {
  users_each users_add
}

step_users_verify() {
  users_each users_has
}

# users_each FUNCTION: calls FUNCTION KIND NAME VALUE [HOME] for every entry; fails when one call did.
users_each() {
  local kind name value home wrong=0
  [[ -n ${USERS_LISTED} ]] || USERS_LISTED=$(python3 -ISB "${BUNDLE}/shared_users.py" "${BUNDLE}/${NODE[users_file]}") || return
  while IFS=$'\t' read -r kind name value home; do
    "$1" "${kind}" "${name}" "${value}" "${home}" || wrong=$((wrong + 1))
  done <<<"${USERS_LISTED}"
  ((wrong == 0)) || {
    log "ERROR: ${wrong} entries of ${NODE[users_file]} are not as they should be, see above"
    return 1
  }
}

users_has() {
  local kind=$1 name=$2 value=$3 home=$4 known=''
  case ${kind} in
    group) known=$(account group "${name}" 3) && [[ ${known} == "${value}" ]] ;;
    user) known=$(account passwd "${name}" 3,6) && [[ ${known} == "${value}:${home}" && -d ${ROOT}${home} ]] ;;
    member) known=$(id -nG -- "${name}") && [[ " ${known} " == *" ${value} "* ]] ;;
    *) false ;;
  esac || {
    log "ERROR: expected ${kind} ${name} ${value} ${home}, found ${known:-nothing}"
    return 1
  }
}

users_add() {
  local kind=$1 name=$2 value=$3 home=$4
  case ${kind} in
    group) users_free group "${name}" "${value}" && users_add_group "${name}" "${value}" ;;
    user) users_free passwd "${name}" "${value}" && users_add_user "${name}" "${value}" "${home}" ;;
    member) usermod --append --groups "${value}" -- "${name}" ;;
    *) false ;;
  esac
}

users_add_group() {
  account group "$1" 3 >/dev/null || groupadd --gid "$2" -- "$1"
}

users_add_user() {
  local name=$1 number=$2 home=$3 known
  if known=$(account passwd "${name}" 6); then
    [[ ${known} == "${home}" ]] || usermod --home "${home}" -- "${name}"
  else
    useradd --uid "${number}" --gid "${number}" --home-dir "${home}" --no-create-home --shell /bin/bash -- "${name}"
  fi && make_home "${ROOT}${home}" "${name}" "${ROOT}/etc/skel"
}

# users_free DATABASE NAME NUMBER: fails when the name has another number, or the number another name.
users_free() {
  local known
  known=$(account "$1" "$2" 3) || known=$3
  [[ ${known} == "$3" ]] || {
    log "ERROR: $2 must have the number $3 in $1, but has ${known} on this node"
    return 1
  }
  known=$(account "$1" "$3" 1) || known=$2
  [[ ${known} == "$2" ]] || {
    log "ERROR: the number $3 of $2 belongs to ${known} in $1 on this node"
    return 1
  }
}

# shellcheck shell=bash
# Keys of the users of shared_users.txt, in their homes on shared storage, as step ssh makes one for the user of jobs. A home
# is its owner's: what they have made of their keys fails no node.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE
# shellcheck source-path=SCRIPTDIR source=../../lib/ssh_key.sh
source "${BUNDLE}/lib/ssh_key.sh"

USER_KEYS_LISTED='' # every entry of the file, once it is read

step user_keys 'keys of the users of shared_users.txt' 'the file of users cannot be read' 'users'

step_user_keys_done() {
  [[ -z ${NODE[ssh]-} || -z ${NODE[users_file]-} ]] || { user_keys_each check >/dev/null 2>&1; }
}

step_user_keys_run() {
  user_keys_each || true # verify says so
}

step_user_keys_verify() {
  user_keys_each check || log 'who has none logs in to nodes by a key of their own'
}

# user_keys_each [check]: for every user whose home all nodes share; fails when one has no key, and warns of each.
user_keys_each() {
  local kind name home said wrong=0
  [[ -n ${USER_KEYS_LISTED} ]] || USER_KEYS_LISTED=$(python3 -ISB "${BUNDLE}/shared_users.py" "${BUNDLE}/${NODE[users_file]}")
  while IFS=$'\t' read -r kind name _ home; do
    [[ ${kind} == user ]] || continue
    # shellcheck disable=SC2310  # a question
    user_keys_is_shared "${home}" || continue
    said=$(ssh_key "${name}" "${home}" "$@" 2>&1) || {
      wrong=1
      said=${said##*$'\n'}
      [[ $# -gt 0 ]] || warn "${name} has no key for log-ins from node to node: ${said#ERROR: }"
    }
  done <<<"${USER_KEYS_LISTED}"
  ((wrong == 0))
}

user_keys_is_shared() {
  local path
  for path in "${NODE[lustre_mount_path]-}" "${NODE[openzfs_mount_path]-}"; do
    [[ -z ${path} || $1 != "${path}"/* ]] || return 0
  done
  return 1
}

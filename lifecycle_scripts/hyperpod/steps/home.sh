# shellcheck shell=bash
# The home of the user that people and jobs work as, on the shared file system: the same on every node.
: "${ROOT?}"
declare -gA NODE

HOME_USER=ubuntu

step home "home directory of ${HOME_USER} on shared storage" \
  "somebody is logged in as ${HOME_USER}, or root may not write to the shared file system" 'lustre openzfs users'

step_home_done() {
  local now
  [[ -z ${NODE[home]-} ]] \
    || { now=$(account passwd "${HOME_USER}" 6) && [[ ${now} == "${NODE[home]}" && -d ${ROOT}${now} ]]; }
}

step_home_run() {
  local now template
  now=$(account passwd "${HOME_USER}" 6) || fail "this machine image has no user ${HOME_USER}"
  template=$(home_template "${now}")
  make_home "${ROOT}${NODE[home]}" "${HOME_USER}" "${template}"
  usermod --home "${NODE[home]}" -- "${HOME_USER}"
}

step_home_verify() {
  step_home_done
}

# The home as the image has it, which a shared file system at /home hides; else the one of new users.
home_template() {
  local path
  for path in "${ROOT}/var/lib/trainyard/homes${1#"${NODE[openzfs_mount_path]-}"}" "${ROOT}$1" "${ROOT}/etc/skel"; do
    [[ ! -d ${path} ]] || break
  done
  printf '%s' "${path}"
}

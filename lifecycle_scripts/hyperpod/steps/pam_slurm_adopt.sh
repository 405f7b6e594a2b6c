# shellcheck shell=bash
# Log-in by SSH only for users with a job on the node, whose processes then belong to the job; root and the admin groups
# always. Slurm's module looks for the job's extern step, which there is with PrologFlags=Contain only: without that flag
# nobody at all would get in. And Slurm can end that step, with the log-ins in it, by control groups alone: with another
# ProctrackType no job ends, and its node is drained. So the controller sets both before slurmctld starts.
# Where the option is off, what it had changed is changed back.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE
# shellcheck source-path=SCRIPTDIR source=../../lib/packages.sh
source "${BUNDLE}/lib/packages.sh"
# shellcheck source-path=SCRIPTDIR source=../../lib/restarts.sh
source "${BUNDLE}/lib/restarts.sh"
# shellcheck source-path=SCRIPTDIR source=../../lib/slurm_conf.sh
source "${BUNDLE}/lib/slurm_conf.sh"

PAM_SLURM_ADOPT_SSHD=${ROOT}/etc/pam.d/sshd
PAM_SLURM_ADOPT_SESSION=${ROOT}/etc/pam.d/trainyard-session
PAM_SLURM_ADOPT_MARK='# trainyard: only users with a job on this node'

step pam_slurm_adopt 'let users with a job on the node log in, and nobody else' \
  "the image has no pam_slurm_adopt.so of its Slurm, sshd does not ask PAM, or an admin group is missing" \
  'network clock users ssh slurm_conf slurm_topology accounting'

step_pam_slurm_adopt_done() {
  case ${NODE[role]} in
    controller) [[ -z ${NODE[pam_slurm_adopt]-} && ! -e ${SLURM_ETC?}/slurm.conf ]] || pam_slurm_adopt_contains ;;
    compute) pam_slurm_adopt_compute_done ;;
    *) ;;
  esac
}

step_pam_slurm_adopt_run() {
  local group
  case ${NODE[role]} in
    controller) pam_slurm_adopt_contain ;;
    compute)
      if [[ -z ${NODE[pam_slurm_adopt]-} ]]; then
        pam_slurm_adopt_undo
        return
      fi
      for group in ${NODE[pam_slurm_adopt_admin_groups]-}; do
        account group "${group}" 1 >/dev/null || fail "there is no group ${group}: name it in the file of users, or leave it out"
      done
      pam_slurm_adopt_module
      pam_slurm_adopt_take
      pam_slurm_adopt_write
      ;;
    *) ;;
  esac
}

# The module is asked as sshd would ask it: root must get in, and a user without a job must not. Otherwise all is undone.
step_pam_slurm_adopt_verify() {
  [[ ${NODE[role]} == compute && -n ${NODE[pam_slurm_adopt]-} ]] || return 0
  "${ROOT}/usr/sbin/sshd" -t
  # shellcheck disable=SC2310  # a question
  pam_slurm_adopt_judges || {
    pam_slurm_adopt_undo
    fail 'what PAM says of root or of a user without a job is wrong: /etc/pam.d/sshd is as it was before'
  }
}

# ---------------------------------------------------------------- controller
# Nothing where it is so already. One line has all flags, since the last one counts.
pam_slurm_adopt_lines() {
  local flags tracking
  [[ -n ${NODE[pam_slurm_adopt]-} ]] || return 0
  flags=$(slurm_conf_value PrologFlags "${PAM_SLURM_ADOPT_MARK}") || return
  tracking=$(slurm_conf_value ProctrackType "${PAM_SLURM_ADOPT_MARK}") || return
  [[ ${flags,,} == *contain* ]] || printf 'PrologFlags=%sContain\n' "${flags:+${flags},}"
  [[ ${tracking,,} == proctrack/cgroup ]] || printf 'ProctrackType=proctrack/cgroup\n'
}

# Control groups of the kind that the node has. What somebody else chose stays, unless it is none.
pam_slurm_adopt_cgroup_text() {
  local lines=''
  [[ ! -e ${SLURM_ETC?}/cgroup.conf ]] || lines=$(grep -viE '^[[:space:]]*CgroupPlugin[[:space:]]*=[[:space:]]*disabled' -- "${SLURM_ETC}/cgroup.conf") || true
  [[ -z ${lines} ]] || printf '%s\n' "${lines}"
  [[ ${lines,,} =~ (^|$'\n')[[:space:]]*cgroupplugin[[:space:]]*= ]] || printf 'CgroupPlugin=autodetect\n'
}

pam_slurm_adopt_contains() {
  local lines groups
  lines=$(pam_slurm_adopt_lines) && slurm_conf_has "${PAM_SLURM_ADOPT_MARK}" "${lines}" && ! is_restart_due pam_slurm_adopt \
    && { [[ -z ${NODE[pam_slurm_adopt]-} ]] \
      || { groups=$(pam_slurm_adopt_cgroup_text) && holds "${SLURM_ETC}/cgroup.conf" "${groups}"; }; }
}

pam_slurm_adopt_contain() {
  local lines groups
  wait_until 600 'slurm.conf' test -s "${SLURM_ETC}/slurm.conf"
  # shellcheck disable=SC2310  # a question
  pam_slurm_adopt_contains || {
    lines=$(pam_slurm_adopt_lines)
    restart_due pam_slurm_adopt
    [[ -z ${NODE[pam_slurm_adopt]-} ]] || {
      groups=$(pam_slurm_adopt_cgroup_text)
      put_file "${SLURM_ETC}/cgroup.conf" 0644 "${groups}"
    }
    slurm_conf_put "${PAM_SLURM_ADOPT_MARK}" "${lines}"
    systemctl try-restart slurmctld
    restart_made pam_slurm_adopt
  }
}

# ---------------------------------------------------------------- compute
pam_slurm_adopt_compute_done() {
  local wanted
  if [[ -z ${NODE[pam_slurm_adopt]-} ]]; then
    ! pam_slurm_adopt_is_written
  else
    wanted=$(pam_slurm_adopt_text) && holds "${PAM_SLURM_ADOPT_SSHD}" "${wanted}" \
      && [[ -e ${PAM_SLURM_ADOPT_SESSION} ]] && ! is_restart_due pam_slurm_adopt && pam_slurm_adopt_judges
  fi
}

pam_slurm_adopt_is_written() {
  [[ -e ${PAM_SLURM_ADOPT_SSHD} ]] && grep -qF -- "${PAM_SLURM_ADOPT_MARK}" "${PAM_SLURM_ADOPT_SSHD}"
}

# A slurmd that runs already, as it does after HyperPod's image, takes what the controller has set when it starts.
pam_slurm_adopt_take() {
  # shellcheck disable=SC2310  # a question
  if systemctl is-active --quiet slurmd; then
    wait_until 300 'PrologFlags=Contain and ProctrackType=proctrack/cgroup on the controller' pam_slurm_adopt_is_set
    restart_due pam_slurm_adopt
    systemctl restart slurmd
    restart_made pam_slurm_adopt
  fi
}

pam_slurm_adopt_is_set() {
  local set
  set=$(timeout 10 "${ROOT}/opt/slurm/bin/scontrol" show config) && grep -qiE '^PrologFlags *=.*Contain' <<<"${set}" \
    && grep -qE '^ProctrackType *= *proctrack/cgroup' <<<"${set}"
}

# The module must be of the very Slurm that runs here, so it is never taken from the system's repositories.
pam_slurm_adopt_module() {
  # shellcheck disable=SC2310  # a question
  if pam_slurm_adopt_has_module; then
    return 0
  fi
  fetch_tool pam_slurm_adopt "${ROOT}/lib/security/pam_slurm_adopt.so" "pam_slurm_adopt.so of its Slurm"
}

pam_slurm_adopt_has_module() {
  local path
  for path in "${ROOT}"/{,usr/}lib{,64}{,/*-linux-gnu}/security/pam_slurm_adopt.so; do
    if [[ -e ${path} ]]; then
      return 0
    fi
  done
  return 1
}

pam_slurm_adopt_write() {
  local session wanted
  # pam_systemd would move the log-in out of the job's control group again
  session=$(grep -v pam_systemd -- "${ROOT}/etc/pam.d/common-session")
  put_file "${PAM_SLURM_ADOPT_SESSION}" 0644 "${session}"
  wanted=$(pam_slurm_adopt_text)
  put_file "${PAM_SLURM_ADOPT_SSHD}" 0644 "${wanted}" # last, and at once: half a stack would let everybody in, or nobody
}

# sshd's own stack with ours at the end of the account part: after what refuses locked and expired accounts, and the module
# last, because one that says "sufficient" ends the stack.
pam_slurm_adopt_text() {
  local rules original
  rules=$(pam_slurm_adopt_rules)
  original=$(pam_slurm_adopt_original)
  awk -v rules="${rules}" '
    { lines[NR] = $0 }
    /^[[:space:]]*-?account[[:space:]]/ || /^@include[[:space:]]+common-account/ { last = NR }
    END {
      for (line = 1; line <= NR; line++) {
        if (lines[line] ~ /^@include[[:space:]]+common-session[[:space:]]*$/) {
          sub(/common-session/, "trainyard-session", lines[line])
        }
        print lines[line]
        if (line == last) print rules
      }
    }' <<<"${original}"
}

pam_slurm_adopt_rules() {
  local group
  printf '%s\n' "${PAM_SLURM_ADOPT_MARK}: begin"
  for group in ${NODE[pam_slurm_adopt_admin_groups]-}; do
    printf 'account sufficient pam_succeed_if.so quiet user ingroup %s\n' "${group}"
  done
  # by default a node whose Slurm cannot be asked lets everybody in
  printf '%s\n' 'account required pam_slurm_adopt.so action_generic_failure=deny' "${PAM_SLURM_ADOPT_MARK}: end"
}

# What the file was before, whatever we did to it.
pam_slurm_adopt_original() {
  awk -v mark="${PAM_SLURM_ADOPT_MARK}" '
    $0 == mark ": begin" { ours = 1 }
    !ours { sub(/^@include[[:space:]]+trainyard-session[[:space:]]*$/, "@include common-session"); print }
    $0 == mark ": end" { ours = 0 }' "${PAM_SLURM_ADOPT_SSHD}"
}

pam_slurm_adopt_undo() {
  local original
  original=$(pam_slurm_adopt_original)
  put_file "${PAM_SLURM_ADOPT_SSHD}" 0644 "${original}"
  rm -f -- "${PAM_SLURM_ADOPT_SESSION}"
}

pam_slurm_adopt_judges() {
  python3 -ISB "${BUNDLE}/pam_account.py" sshd root && ! python3 -ISB "${BUNDLE}/pam_account.py" sshd nobody
}

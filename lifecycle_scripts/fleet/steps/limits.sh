# shellcheck shell=bash
# EFA pins memory and takes huge pages: without them libfabric falls back, or fails in the middle of a job.
: "${ROOT?}"
declare -gA NODE

# What the EKS user guide has for EFA nodes: 5128 pages of 2 MiB.
LIMITS_HUGE_PAGES=5128
LIMITS_MEMLOCK=$'* soft memlock unlimited\n* hard memlock unlimited'
LIMITS_UNITS=$'[Manager]\nDefaultLimitMEMLOCK=infinity'

step limits 'let processes pin memory, and set huge pages aside' 'the kernel has no memory left in one piece: start again'

step_limits_done() {
  holds "${ROOT}/etc/security/limits.d/trainyard.conf" "${LIMITS_MEMLOCK}" \
    && holds "${ROOT}/etc/systemd/system.conf.d/trainyard.conf" "${LIMITS_UNITS}" \
    && limits_has_pages
}

step_limits_run() {
  put_file "${ROOT}/etc/security/limits.d/trainyard.conf" 0644 "${LIMITS_MEMLOCK}"
  put_file "${ROOT}/etc/systemd/system.conf.d/trainyard.conf" 0644 "${LIMITS_UNITS}"
  systemctl daemon-reexec # services that start from now on have the limit
  ((NODE[efa_interfaces] == 0)) || {
    put_file "${ROOT}/etc/sysctl.d/90-trainyard.conf" 0644 "vm.nr_hugepages = ${LIMITS_HUGE_PAGES}"
    sysctl --quiet --load "${ROOT}/etc/sysctl.d/90-trainyard.conf"
  }
}

step_limits_verify() {
  step_limits_done
}

limits_has_pages() {
  local pages
  ((NODE[efa_interfaces] == 0)) \
    || { pages=$(cat -- "${ROOT}/proc/sys/vm/nr_hugepages" 2>/dev/null) && ((pages >= LIMITS_HUGE_PAGES)); }
}

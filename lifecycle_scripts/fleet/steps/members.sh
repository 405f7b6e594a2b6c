# shellcheck shell=bash
# The list of members, renewed every minute. The first time this node is not on it yet: boot.sh says that it is ready.
: "${ROOT?}" "${BUNDLE?}"

MEMBERS_UNITS=${ROOT}/etc/systemd/system

step members 'learn who is in the fleet' 'the role may not ask EC2 for instances, or the subnet does not reach EC2'

step_members_done() {
  members_units members_holds && systemctl is-active --quiet trainyard-members.timer && [[ -e ${ROOT}/opt/trainyard/hostfile ]]
}

step_members_run() {
  wait_until 600 "EC2's answer" "${BUNDLE}/members.sh" # a large fleet that starts at once is told to ask later
  members_units put_file
  systemctl enable --now trainyard-members.timer
}

step_members_verify() {
  step_members_done
}

# members_units COMMAND: calls COMMAND PATH MODE TEXT for both units.
members_units() {
  local service timer
  service=$(printf '%s\n' '[Unit]' 'Description=Who is in the fleet' '[Service]' 'Type=oneshot' \
    "ExecStart=${BUNDLE}/members.sh")
  timer=$(printf '%s\n' '[Unit]' 'Description=Who is in the fleet, every minute' '[Timer]' 'OnActiveSec=20' \
    'OnUnitActiveSec=60' 'RandomizedDelaySec=20' '[Install]' 'WantedBy=timers.target')
  "$1" "${MEMBERS_UNITS}/trainyard-members.service" 0644 "${service}" \
    && "$1" "${MEMBERS_UNITS}/trainyard-members.timer" 0644 "${timer}"
}

members_holds() {
  holds "$1" "$3"
}

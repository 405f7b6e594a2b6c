# shellcheck shell=bash
# Keys of users, for log-ins from node to node. ssh-key.sh says why it is run as the user.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE

# ssh_key USER HOME [check]
ssh_key() {
  local program
  program=$(<"${BUNDLE}/ssh-key.sh")
  # the folder of the scripts may be closed to others than root
  timeout 60 runuser -u "$1" -- bash -c "${program}" ssh-key.sh "${ROOT}$2" "nodes of ${NODE[cluster]}" "${@:3}" </dev/null
}

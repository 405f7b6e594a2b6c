# shellcheck shell=bash
# Nodes log in to nodes as the user of jobs, without a password and without trusting whoever answers: each node publishes
# its host key on the shared file system, where root alone writes, and the others look there before they connect. So a node
# that joins or is replaced is known at once, at no cost that grows with their number. The user's key lies in their home.
: "${ROOT?}" "${HOST?}" "${BUNDLE?}"
declare -gA NODE
# shellcheck source-path=SCRIPTDIR source=../../lib/ssh_key.sh
source "${BUNDLE}/lib/ssh_key.sh"

SSH_USER=ubuntu
SSH_CONFIG=/etc/ssh/ssh_config.d/10-trainyard.conf
SSH_HOST_KEY=/etc/ssh/ssh_host_ed25519_key.pub

step ssh 'let nodes log in to nodes' \
  'sshd does not run, the home may be written by others, or the image has an OpenSSH older than 8.5' 'home'

step_ssh_done() {
  local config
  [[ -z ${NODE[ssh]-} || -z ${NODE[shared]} || -z ${NODE[home]-} ]] \
    || { config=$(ssh_config) && holds "${ROOT}${SSH_CONFIG}" "${config}" && ssh_is_published && ssh_works >/dev/null 2>&1; }
}

step_ssh_run() {
  local config
  ssh_publish
  ssh_key "${SSH_USER}" "${NODE[home]}"
  config=$(ssh_config)
  put_file "${ROOT}${SSH_CONFIG}" 0644 "${config}"
}

step_ssh_verify() {
  wait_until 30 'a log-in of this node to itself' ssh_works
}

# ---------------------------------------------------------------- the node
ssh_hosts() {
  printf '%s' "${NODE[shared]}/trainyard/ssh-hosts"
}

ssh_public_host_key() {
  local key
  key=$(cat -- "${ROOT}${SSH_HOST_KEY}") && printf '%s,%s %s' "${HOST}" "${NODE[address]}" "${key% *@*}"
}

# The file of a name is found by that name: of the host, and of its address.
ssh_publish() {
  local folder key
  folder=${ROOT}$(ssh_hosts)
  wait_until 60 'the host key, which cloud-init makes' test -e "${ROOT}${SSH_HOST_KEY}"
  mkdir -p -- "${folder}"
  key=$(ssh_public_host_key)
  put_file "${folder}/${HOST}" 0644 "${key}"
  put_file "${folder}/${NODE[address]}" 0644 "${key}"
}

ssh_is_published() {
  local folder key
  folder=${ROOT}$(ssh_hosts) && key=$(ssh_public_host_key) \
    && holds "${folder}/${HOST}" "${key}" && holds "${folder}/${NODE[address]}" "${key}"
}

# Hosts that have published a key, and no other: elsewhere ssh asks as it always does.
ssh_config() {
  local folder
  folder=$(ssh_hosts)
  printf '%s\n' "Match exec \"test -e '${folder}/%h'\"" '  StrictHostKeyChecking yes' \
    "  KnownHostsCommand /bin/sh -c \"cat '${folder}/%H' 2>/dev/null; true\"" '  UserKnownHostsFile /dev/null'
}

# ---------------------------------------------------------------- the user
# A node that lets in only users with a job may refuse this one, but accepts the key first: that is all that is asked.
ssh_works() {
  local told code=0
  told=$(runuser -u "${SSH_USER}" -- ssh -o BatchMode=yes -o ConnectTimeout=30 "${NODE[address]}" true 2>&1) || code=$?
  ((code == 0)) || [[ ${told} == *'Access denied by pam_slurm_adopt'* ]] || {
    printf '%s\n' "${told}"
    return "${code}"
  }
}

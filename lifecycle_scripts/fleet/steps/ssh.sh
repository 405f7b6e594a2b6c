# shellcheck shell=bash
# Members log in to members without a password, and nobody else does. The fleet's key comes from Parameter Store, where
# only the nodes' role can read it. It is also the authority that signs host keys: a node that replaces another is known
# at once, and one that is not of the fleet is refused.
: "${ROOT?}"
declare -gA NODE

SSH_DIRECTORY=/etc/trainyard/ssh
SSH_KEY=${SSH_DIRECTORY}/id_ed25519
SSH_HOST_KEY=/etc/ssh/ssh_host_ed25519_key

step ssh 'let members log in to members' \
  'the role may not read the parameter of the key, or sshd does not read the files in /etc/ssh/sshd_config.d'

step_ssh_done() {
  local server
  server=$(ssh_server)
  holds "${ROOT}/etc/ssh/sshd_config.d/10-trainyard.conf" "${server}" && ssh_works 2>/dev/null
}

step_ssh_run() {
  local server
  mkdir -p -- "${ROOT}${SSH_DIRECTORY}/authorized_keys"
  chmod -- 0755 "${ROOT}${SSH_DIRECTORY}" "${ROOT}${SSH_DIRECTORY}/authorized_keys"
  ssh_fetch_key
  ssh_trust
  ssh_certify
  server=$(ssh_server)
  put_file "${ROOT}/etc/ssh/sshd_config.d/10-trainyard.conf" 0644 "${server}"
  ssh_reload
}

step_ssh_verify() {
  wait_until 30 'a log-in of this node to itself' ssh_works
}

# Nobody but its owner ever sees the file, not even for a moment.
ssh_fetch_key() {
  local key
  key=$(aws ssm get-parameter --name "${NODE[key_parameter]}" --with-decryption --query Parameter.Value --output text)
  (
    umask 077
    put_file "${ROOT}${SSH_KEY}" 0600 "${key}"
  )
  chown -- "${NODE[user]}:" "${ROOT}${SSH_KEY}"
}

ssh_trust() {
  local public
  public=$(ssh-keygen -y -f "${ROOT}${SSH_KEY}")
  put_file "${ROOT}${SSH_DIRECTORY}/authorized_keys/${NODE[user]}" 0644 "${public}"
  put_file "${ROOT}${SSH_DIRECTORY}/known_hosts" 0644 "@cert-authority * ${public}"
}

ssh_certify() {
  [[ -e ${ROOT}${SSH_HOST_KEY} ]] || ssh-keygen -q -t ed25519 -N '' -f "${ROOT}${SSH_HOST_KEY}"
  ssh-keygen -q -s "${ROOT}${SSH_KEY}" -I "${NODE[instance]}" -h -n "${NODE[address]},${NODE[host]}" \
    "${ROOT}${SSH_HOST_KEY}.pub"
}

ssh_server() {
  printf '%s\n' "HostKey ${SSH_HOST_KEY}" "HostCertificate ${SSH_HOST_KEY}-cert.pub" \
    'PasswordAuthentication no' 'KbdInteractiveAuthentication no' 'PermitRootLogin no' \
    "AuthorizedKeysFile .ssh/authorized_keys ${SSH_DIRECTORY}/authorized_keys/%u"
}

# Ubuntu calls the unit ssh, Amazon Linux sshd.
ssh_reload() {
  systemctl try-reload-or-restart ssh 2>/dev/null || systemctl try-reload-or-restart sshd
}

ssh_works() {
  runuser -u "${NODE[user]}" -- ssh -o BatchMode=yes -o ConnectTimeout=5 -o IdentitiesOnly=yes \
    -o StrictHostKeyChecking=yes -o UserKnownHostsFile=/dev/null \
    -o "GlobalKnownHostsFile=${SSH_DIRECTORY}/known_hosts" -i "${SSH_KEY}" "${NODE[user]}@${NODE[address]}" true
}

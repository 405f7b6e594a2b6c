# shellcheck shell=bash
# The weights: a prefix of the model bucket, mounted read-only before the agent starts, so that every task finds it
# and none keeps the handle of an older mount. Reading it once, in order, fills Mountpoint's cache on the volume:
# engines map the files, and map them slowly over the network.
: "${ROOT?}"
declare -gA SETTINGS

step weights 'mount the weights and read them once' \
  "the host's role may not list or read the prefix, its key may not decrypt, or the prefix is empty"

step_weights_done() {
  weights_mounted 2>/dev/null && [[ -e ${ROOT}/run/trainyard-weights-read ]]
}

step_weights_run() {
  local path=${ROOT}${SETTINGS[mount]} mounts
  # What mount-s3 leaves when it dies, as when memory runs out, answers nothing and lets nothing be mounted in its place.
  mountpoint -q -- "${path}" || umount --lazy -- "${path}" 2>/dev/null || true
  mkdir -p -- "${path}" "${ROOT}${SETTINGS[cache]}"
  chmod -- 0700 "${ROOT}${SETTINGS[cache]}" # objects lie in it as they are; the volume is encrypted
  mounts=$(weights_fstab)
  put_file "${ROOT}/etc/fstab" 0644 "${mounts}"
  systemctl daemon-reload
  wait_until 300 "the mount of ${SETTINGS[source]}" weights_mount "${path}"
  # shellcheck disable=SC2310  # a question
  if ! weights_there; then
    fail "${SETTINGS[source]} is empty: upload the model there, or give the prefix that has it"
  fi
  find "${path}" -type f -exec cat -- '{}' + >/dev/null
  touch "${ROOT}/run/trainyard-weights-read" # gone after a reboot, as Mountpoint's cache is
}

step_weights_verify() {
  weights_mounted
}

weights_mount() {
  mountpoint -q -- "$1" || mount -- "$1"
}

weights_mounted() {
  mountpoint -q -- "${ROOT}${SETTINGS[mount]}" && weights_there
}

weights_there() {
  local first
  first=$(timeout 60 find "${ROOT}${SETTINGS[mount]}" -type f -print -quit) && [[ -n ${first} ]]
}

# nofail: a host whose bucket is away still boots and can be looked at; the agent waits for boot.sh, not for the mount.
weights_fstab() {
  # shellcheck disable=SC2310  # there may be none yet
  [[ ! -e ${ROOT}/etc/fstab ]] \
    || awk -v path="${SETTINGS[mount]}" '$2 != path || /^[[:space:]]*#/' "${ROOT}/etc/fstab"
  printf '%s %s mount-s3 %s 0 0\n' "${SETTINGS[source]}" "${SETTINGS[mount]}" \
    "_netdev,nosuid,nodev,nofail,ro,allow-other,region=${SETTINGS[region]},cache=${SETTINGS[cache]},metadata-ttl=indefinite"
}

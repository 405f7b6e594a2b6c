# shellcheck shell=bash
# The weights: a folder of the model bucket, mounted read-only before the agent starts, so that every task finds it
# and none keeps the handle of an older mount. It is compared with its manifest, byte by byte: that fills Mountpoint's
# cache on the volume (engines map the files, and map them slowly over the network), and a host that boots during an
# upload stays without an agent until the upload has ended.
: "${ROOT?}" "${BUNDLE?}"
declare -gA SETTINGS

step weights 'mount the weights and compare them with their manifest' \
  "the upload has not ended, the folder is another, or the host's role may not list, read or decrypt it"

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
  python3 "${BUNDLE}/model_files.py" "${path}" "${SETTINGS[layout]}" \
    || fail "${SETTINGS[source]} cannot be served, see above: upload the model there, its manifest last, or name the folder that has it"
  touch "${ROOT}/run/trainyard-weights-read" # gone after a reboot, as Mountpoint's cache is
}

step_weights_verify() {
  weights_mounted
}

weights_mount() {
  mountpoint -q -- "$1" || mount -- "$1"
}

weights_mounted() {
  mountpoint -q -- "${ROOT}${SETTINGS[mount]}" && weights_answer
}

weights_answer() {
  timeout 60 ls -- "${ROOT}${SETTINGS[mount]}/" >/dev/null
}

# nofail: a host whose bucket is away still boots and can be looked at; the agent waits for boot.sh, not for the mount.
# Times to live that end: what is uploaded after a look is seen by the next one.
weights_fstab() {
  # shellcheck disable=SC2310  # there may be none yet
  [[ ! -e ${ROOT}/etc/fstab ]] \
    || awk -v path="${SETTINGS[mount]}" '$2 != path || /^[[:space:]]*#/' "${ROOT}/etc/fstab"
  printf '%s %s mount-s3 %s 0 0\n' "${SETTINGS[source]}" "${SETTINGS[mount]}" \
    "_netdev,nosuid,nodev,nofail,ro,allow-other,region=${SETTINGS[region]},cache=${SETTINGS[cache]},metadata-ttl=60,negative-metadata-ttl=10"
}

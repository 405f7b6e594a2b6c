# shellcheck shell=bash
# Prefixes of buckets as directories, with Mountpoint for Amazon S3. One unit each; read-only unless the option says more.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE
# shellcheck source-path=SCRIPTDIR source=../../lib/packages.sh
source "${BUNDLE}/lib/packages.sh"
# shellcheck source-path=SCRIPTDIR source=../../lib/restarts.sh
source "${BUNDLE}/lib/restarts.sh"

S3_MOUNTS_FOLDER=${ROOT}/opt/trainyard/mountpoint

step s3_mounts 'mount prefixes of S3 buckets' \
  "the node's role may not list or read the prefix or use its key, the bucket is in another account, or the subnet has no way to S3" \
  'network clock kernel'

step_s3_mounts_done() {
  local number
  for ((number = 0; number < ${NODE[s3_mounts]-0}; number++)); do
    s3_mounts_is_right "${number}" 2>/dev/null || return
  done
}

step_s3_mounts_run() {
  local number
  ((${NODE[s3_mounts]-0} == 0)) || s3_mounts_install
  for ((number = 0; number < ${NODE[s3_mounts]-0}; number++)); do
    s3_mounts_start "${number}"
  done
}

step_s3_mounts_verify() {
  local number path
  for ((number = 0; number < ${NODE[s3_mounts]-0}; number++)); do
    path=$(s3_mounts_of "${number}" path)
    wait_until 60 "a list of what is in ${path}" s3_mounts_answers "${number}"
  done
}

# s3_mounts_of NUMBER FIELD: a field of a mount, nothing when it was left out.
s3_mounts_of() {
  printf '%s' "${NODE[s3_mounts_$1_$2]-}"
}

# The right package for the processor comes with the settings, out of the instance catalogue.
s3_mounts_install() {
  local folder=${S3_MOUNTS_FOLDER} archive
  # shellcheck disable=SC2310  # a question
  if s3_mounts_program >/dev/null; then
    return 0
  fi
  archive=${folder}.tar.gz
  fetch_tool mountpoint "${archive}" 'Mountpoint for S3'
  install_packages fuse3
  rm -rf -- "${folder}.new"
  mkdir -p -- "${folder}.new"
  tar --extract --gzip --no-same-owner --directory="${folder}.new" --file="${archive}"
  mv -T -- "${folder}.new" "${folder}"
}

# The image's own, or ours.
s3_mounts_program() {
  command -v mount-s3 || { [[ -x ${S3_MOUNTS_FOLDER}/bin/mount-s3 ]] && printf '%s\n' "${S3_MOUNTS_FOLDER#"${ROOT}"}/bin/mount-s3"; }
}

# A path has no colon (the construct refuses one), so two paths have two names.
s3_mounts_unit() {
  local path
  path=$(s3_mounts_of "$1" path)
  path=${path#/}
  printf 'trainyard-s3-%s.service' "${path//\//:}"
}

s3_mounts_text() {
  local number=$1 program bucket path prefix read_only
  local -a options=(--allow-other)
  program=$(s3_mounts_program) || return
  bucket=$(s3_mounts_of "${number}" bucket)
  path=$(s3_mounts_of "${number}" path)
  prefix=$(s3_mounts_of "${number}" prefix)
  read_only=$(s3_mounts_of "${number}" read_only)
  [[ -z ${read_only} ]] || options+=(--read-only)
  [[ -z ${prefix} ]] || options+=("--prefix=${prefix}")
  printf '%s\n' '[Unit]' "Description=S3 prefix at ${path}" 'Wants=network-online.target' 'After=network-online.target' \
    'StartLimitIntervalSec=0' '[Service]' 'Type=forking' "ExecStartPre=-/bin/umount --lazy ${path}" \
    "ExecStart=${program} ${options[*]} ${bucket} ${path}" "ExecStop=/bin/umount ${path}" \
    'Restart=on-failure' 'RestartSec=10' '[Install]' 'WantedBy=remote-fs.target'
}

s3_mounts_start() {
  local unit text path
  path=$(s3_mounts_of "$1" path)
  unit=$(s3_mounts_unit "$1")
  text=$(s3_mounts_text "$1")
  mountpoint -q -- "${ROOT}${path}" || mkdir -p -- "${ROOT}${path}"
  restart_due "${unit}"
  put_file "${ROOT}/etc/systemd/system/${unit}" 0644 "${text}"
  systemctl enable -- "${unit}"
  wait_until 120 "the mount of ${path}" systemctl restart -- "${unit}"
  restart_made "${unit}"
}

s3_mounts_is_right() {
  local unit text
  unit=$(s3_mounts_unit "$1") && text=$(s3_mounts_text "$1") \
    && holds "${ROOT}/etc/systemd/system/${unit}" "${text}" && ! is_restart_due "${unit}" && s3_mounts_answers "$1"
}

s3_mounts_answers() {
  local path
  path=$(s3_mounts_of "$1" path) && mountpoint -q -- "${ROOT}${path}" && timeout 60 ls -- "${ROOT}${path}" >/dev/null
}

# shellcheck shell=bash
# Whether Lustre's data take EFA: a client that cannot falls back to TCP without a word, and its network of EFA is up all the
# same. 64 MB are written and read past the cache, and the counters of that network are looked at. TCP is slower, and right:
# it is told, and fails nobody.
: "${ROOT?}" "${HOST?}"
declare -gA NODE

LUSTRE_IO_RUN=${ROOT}/run/trainyard-lustre-io # what came of it since the boot

step lustre_io "see Lustre's data take EFA" 'the file system is full, or its servers do not answer' 'lustre'

step_lustre_io_done() {
  [[ -z ${NODE[lustre_efa]-} || ${NODE[efa_interfaces]} == 0 || -e ${LUSTRE_IO_RUN} ]] || ! lustre_io_counters >/dev/null 2>&1
}

step_lustre_io_run() {
  local path=${ROOT}${NODE[lustre_mount_path]}/.trainyard-io-${HOST} before after code=0
  before=$(lustre_io_counters)
  timeout 120 dd if=/dev/zero "of=${path}" bs=1M count=64 oflag=direct status=none \
    && timeout 120 dd "if=${path}" of=/dev/null bs=1M iflag=direct status=none || code=$?
  rm -f -- "${path}"
  ((code == 0)) || fail "64 MB could not be written to ${NODE[lustre_mount_path]} and read again"
  after=$(lustre_io_counters)
  put_file "${LUSTRE_IO_RUN}" 0644 "${before} ${after}"
}

step_lustre_io_verify() {
  local sent received sent_after received_after
  read -r sent received sent_after received_after <"${LUSTRE_IO_RUN}"
  ((sent_after > sent && received_after > received)) \
    || warn "Lustre's data take TCP on this node, not EFA, which is up: are node and file system in one zone, and do their security groups let everything through between them?"
}

# Messages sent and received over EFA; fails where there is no such network.
lustre_io_counters() {
  local shown
  shown=$(lnetctl net show -v --net efa) && [[ ${shown} == *send_count:* ]] \
    && awk '$1 ~ /^(send|recv)_count:$/ { sum[$1] += $2 } END { print sum["send_count:"] + 0, sum["recv_count:"] + 0 }' <<<"${shown}"
}

# shellcheck shell=bash
# More of stub.sh: stand-ins for what fetches, installs and serves. What can be fetched is in state/web; what is installed
# is a file state/installed.PACKAGE.
#   STUB_REPOSITORY=down|unsigned   what apt-get update meets
#   STUB_OWN_EXPORTER, STUB_OWN_MONITOR   the image serves metrics of the node, of Neuron devices
#   STUB_WRITTEN=NUMBER             how many requests of the metrics' agent the workspace took

: "${name:?}" "${state:?}" "${subject?}" "${TRAINYARD_ROOT:?}"

# started: what systemd does when a unit of ours is started.
started() {
  local unit=${subject%.timer} output
  case ${subject} in
    *-metrics.timer)
      output=$(awk '/--output/ { print $NF }' "${TRAINYARD_ROOT}/etc/systemd/system/${unit}.service")
      echo 'metric 1' >"${TRAINYARD_ROOT}${output}"
      ;;
    trainyard-s3-*) : >>"${state}/mounted.${unit##*:}" ;;
    *) ;;
  esac
}

# install PACKAGE: as the package's own scripts would.
install() {
  local bin=${0%/*}
  : >>"${state}/installed.${1##*/}"
  case ${1##*/} in
    docker.io)
      ln -sfn "${bin}/true" "${bin}/docker"
      grep -q ^docker: "${TRAINYARD_ROOT}/etc/group" || echo 'docker:x:110:' >>"${TRAINYARD_ROOT}/etc/group"
      ;;
    enroot.deb)
      ln -sfn "${bin}/true" "${bin}/enroot"
      mkdir -p "${TRAINYARD_ROOT}/etc/enroot"
      # shellcheck disable=SC2016  # Enroot's own text
      [[ -e ${TRAINYARD_ROOT}/etc/enroot/enroot.conf ]] \
        || printf '%s\n' '#ENROOT_LIBRARY_PATH /usr/lib/enroot' '#ENROOT_TEMP_PATH ${TMPDIR:-/tmp}' 'ENROOT_ROOTFS_WRITABLE yes' \
          >"${TRAINYARD_ROOT}/etc/enroot/enroot.conf"
      ;;
    *) ;;
  esac
}

# fetch URL FILE: what a server would send.
fetch() {
  cp -- "${state}/web/${1##*/}" "$2"
  changed
}

# serve PORT: the metrics of the exporter that runs there.
serve() {
  case $1 in
    9100) [[ -e ${state}/active.trainyard-node-exporter || -n ${STUB_OWN_EXPORTER:-} ]] && echo 'node_load1 0.5' ;;
    8429) [[ -e ${state}/active.trainyard-metrics-agent ]] && echo 'vmagent_remotewrite_requests_total{url="1:secret-url", status_code="2XX"} '"${STUB_WRITTEN:-7}" ;;
    8000) [[ -e ${state}/active.trainyard-neuron-exporter || -n ${STUB_OWN_MONITOR:-} ]] && echo 'neuroncore_utilization_ratio 0.5' ;;
    9400) [[ -e ${state}/active.trainyard-gpu-exporter ]] && echo 'DCGM_FI_DEV_GPU_TEMP{gpu="0"} 40' ;;
    *) exit 7 ;;
  esac
}

extra() {
  local url words package
  case ${name} in
    apt-get)
      case " $* " in
        *' update '*)
          case ${STUB_REPOSITORY:-} in
            down) echo 'E: Failed to fetch http://x/InRelease  Could not connect to x:80' >&2 && exit 100 ;;
            unsigned) echo "E: The repository 'http://x stable InRelease' is not signed." >&2 && exit 100 ;;
            *) ;;
          esac
          ;;
        *' --download-only '*) ;;
        *)
          words=" $* "
          for package in ${words#* -- }; do install "${package}"; done
          changed
          ;;
      esac
      ;;
    aws)
      url=${*: -2:1}
      fetch "${url}" "${subject}"
      ;;
    curl)
      url=${subject}
      if [[ ${url} == http://127.0.0.1:* ]]; then
        url=${url#http://127.0.0.1:}
        serve "${url%%/*}"
      else
        fetch "${url}" "${*: -3:1}"
      fi
      ;;
    dpkg)
      if [[ $1 == --set-selections ]]; then
        cat >"${state}/held"
        changed
      fi
      ;;
    dpkg-query)
      if [[ " $* " == *' linux-image-* '* ]]; then
        [[ -e ${state}/kernel ]] || exit 1
        while IFS= read -r package; do
          words=install
          if [[ -e ${state}/held ]] && grep -qx "${package} hold" "${state}/held"; then words=hold; fi
          printf '%s installed %s\n' "${words}" "${package}"
        done <"${state}/kernel"
        exit 0
      fi
      [[ -e ${state}/installed.${subject} ]] && printf 'installed'
      ;;
    make)
      echo plugin >"${2#--directory=}/spank_pyxis.so"
      changed
      ;;
    srun) echo 'slurm 24.11.5' ;;
    sshd) ;;
    *) exit 64 ;;
  esac
}

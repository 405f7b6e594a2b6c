# shellcheck shell=bash
# Docker, Enroot and Pyxis, by option: what the image has is used and configured, so that images and containers lie on the
# node's own fast disk, each user's apart. Pyxis stands in the controller's plugstack.conf, which the other nodes take.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE
# shellcheck source-path=SCRIPTDIR source=../../lib/packages.sh
source "${BUNDLE}/lib/packages.sh"
# shellcheck source-path=SCRIPTDIR source=../../lib/restarts.sh
source "${BUNDLE}/lib/restarts.sh"

CONTAINERS_DISKS=(/opt/dlami/nvme /opt/sagemaker) # instance store, and the second volume of HyperPod
CONTAINERS_DOCKER=${ROOT}/etc/docker/daemon.json
CONTAINERS_CONTAINERD=${ROOT}/etc/containerd/config.toml
CONTAINERS_UNITS=${ROOT}/etc/systemd/system
CONTAINERS_USER=ubuntu
CONTAINERS_ENROOT=${ROOT}/etc/enroot/enroot.conf
CONTAINERS_PACKAGES=${ROOT}/opt/trainyard/packages
CONTAINERS_PLUGSTACK=${ROOT}/opt/slurm/etc/plugstack.conf
CONTAINERS_PYXIS=/usr/local/lib/slurm/spank_pyxis.so

step containers 'configure Docker, Enroot and Pyxis' \
  'the image lacks one of them and nothing says where to get it, or no disk beside the root disk has room' \
  'network clock kernel lustre slurm_conf'

step_containers_done() {
  containers_are_right 2>/dev/null
}

step_containers_run() {
  local name
  for name in docker enroot pyxis; do
    [[ -n ${NODE[containers_${name}]-} ]] || continue
    # shellcheck disable=SC2310  # a question
    "containers_has_${name}" || "containers_add_${name}"
    "containers_configure_${name}"
  done
}

step_containers_verify() {
  containers_are_right
}

containers_are_right() {
  local name
  for name in docker enroot pyxis; do
    [[ -z ${NODE[containers_${name}]-} ]] || { "containers_has_${name}" && "containers_right_${name}"; } || return
  done
}

# containers_has_taken NAME PATH TEXT: whether the file is as it should be, and who reads it has read it since.
containers_has_taken() {
  holds "$2" "$3" && ! is_restart_due "$1"
}

# The fastest disk of its own that the node has. The instance store is mounted some time after boot, by a unit of the image.
containers_disk() {
  local disk
  # shellcheck disable=SC2310  # a question
  if systemctl is-enabled --quiet dlami-nvme 2>/dev/null; then
    wait_until 120 'the instance store' containers_store_has_started >&2 || true # it may have none
  fi
  for disk in "${CONTAINERS_DISKS[@]}"; do
    if mountpoint -q -- "${ROOT}${disk}"; then
      printf '%s' "${disk}"
      return
    fi
  done
  printf '/var/lib/trainyard'
}

containers_store_has_started() {
  mountpoint -q -- "${ROOT}${CONTAINERS_DISKS[0]}" || systemctl is-active --quiet dlami-nvme
}

# ---------------------------------------------------------------- Docker
containers_has_docker() {
  command -v docker >/dev/null && ! is_half_installed docker.io
}

containers_add_docker() {
  install_packages docker.io # of the system's own repositories
}

containers_docker_text() {
  local disk
  disk=$(containers_disk) && python3 -ISB "${BUNDLE}/docker_root.py" "${CONTAINERS_DOCKER}" "${disk}/docker"
}

# Images are containerd's since Docker 29, below a root of its own. Its key stands before the first table; a root that
# somebody chose stays.
containers_containerd_text() {
  local disk root path=${CONTAINERS_CONTAINERD}
  disk=$(containers_disk) || return
  root="root = \"${disk}/containerd\""
  [[ -e ${path} ]] || {
    printf 'version = 2\n%s\n' "${root}"
    return
  }
  awk -v root="${root}" '
    !table && /^[[:space:]]*root[[:space:]]*=/ { if ($0 ~ /=[[:space:]]*.\/var\/lib\/containerd\/?.[[:space:]]*(#.*)?$/) $0 = root; found = 1 }
    /^[[:space:]]*\[/ && !table { table = 1; if (!found++) print root }
    { print }
    END { if (!found) print root }' "${path}"
}

# containers_docker_each COMMAND: calls COMMAND PATH MODE TEXT for each file; the daemons start when the disk is mounted.
containers_docker_each() {
  local disk text images after=$'[Unit]\nAfter=dlami-nvme.service'
  disk=$(containers_disk) && text=$(containers_docker_text) && images=$(containers_containerd_text) \
    && "$1" "${CONTAINERS_UNITS}/docker.service.d/trainyard.conf" 0644 \
      "${after}"$'\n[Service]\n'"Environment=DOCKER_TMPDIR=${disk}/docker/tmp" \
    && "$1" "${CONTAINERS_UNITS}/containerd.service.d/trainyard.conf" 0644 "${after}" \
    && "$1" "${CONTAINERS_CONTAINERD}" 0644 "${images}" && "$1" "${CONTAINERS_DOCKER}" 0644 "${text}"
}

containers_configure_docker() {
  account group docker 1 >/dev/null || groupadd --system -- docker
  # the user of jobs, who may be root on the node anyway; whoever else speaks to Docker is root there
  usermod --append --groups docker -- "${CONTAINERS_USER}"
  # shellcheck disable=SC2310  # a question
  containers_docker_each containers_has_taken_docker || {
    restart_due docker
    containers_docker_each put_file
    systemctl daemon-reload
    ! systemctl is-active --quiet containerd || systemctl restart containerd
    systemctl try-restart docker
    restart_made docker
  }
  systemctl enable --now docker
}

containers_has_taken_docker() {
  containers_has_taken docker "$1" "$3"
}

containers_right_docker() {
  local groups
  containers_docker_each containers_has_taken_docker && systemctl is-active --quiet docker \
    && groups=$(id -nG -- "${CONTAINERS_USER}") && [[ " ${groups} " == *' docker '* ]]
}

# ---------------------------------------------------------------- Enroot
containers_has_enroot() {
  command -v enroot >/dev/null && [[ ! -e ${CONTAINERS_PACKAGES}/enroot.deb ]]
}

containers_add_enroot() {
  local tool
  for tool in enroot enroot_caps; do # the second lets users without privileges make file systems of images
    fetch_tool "${tool}" "${CONTAINERS_PACKAGES}/${tool}.deb" Enroot
  done
  install_package_files "${CONTAINERS_PACKAGES}"/{enroot,enroot_caps}.deb
  rm -- "${CONTAINERS_PACKAGES}/enroot_caps.deb"
  rm -- "${CONTAINERS_PACKAGES}/enroot.deb" # last: while it is there, the installation has not ended
}

# The settings of a node's enroot.conf that say where things lie; the rest of the file stays. One folder for each user,
# below one in which everybody may make theirs.
containers_enroot_text() {
  local disk
  [[ -e ${CONTAINERS_ENROOT} ]] || {
    printf 'there is no %s\n' "${CONTAINERS_ENROOT#"${ROOT}"}" >&2
    return 1
  }
  disk=$(containers_disk) || return
  awk -v disk="${disk}/enroot" '
    BEGIN {
      user = "/user-$(id -u)"
      where["ENROOT_RUNTIME_PATH"] = disk "/runtime" user
      where["ENROOT_CACHE_PATH"] = disk "/cache" user
      where["ENROOT_DATA_PATH"] = disk "/data" user
      where["ENROOT_TEMP_PATH"] = disk "/temporary"
    }
    { key = $1; sub(/^#/, "", key) }
    key in where { if (!(key in done)) print key, where[key]; done[key] = 1; next }
    { print }
    END {
      count = split("ENROOT_CACHE_PATH ENROOT_DATA_PATH ENROOT_RUNTIME_PATH ENROOT_TEMP_PATH", keys, " ")
      for (number = 1; number <= count; number++) {
        if (!(keys[number] in done)) print keys[number], where[keys[number]]
      }
    }' "${CONTAINERS_ENROOT}"
}

containers_configure_enroot() {
  local text disk folder
  text=$(containers_enroot_text)
  disk=$(containers_disk)
  for folder in runtime cache data temporary; do
    mkdir -p -- "${ROOT}${disk}/enroot/${folder}"
    chmod -- 1777 "${ROOT}${disk}/enroot/${folder}"
  done
  put_file "${CONTAINERS_ENROOT}" 0644 "${text}"
}

containers_right_enroot() {
  local text disk
  text=$(containers_enroot_text) && holds "${CONTAINERS_ENROOT}" "${text}" && disk=$(containers_disk) \
    && [[ -d ${ROOT}${disk}/enroot/temporary ]]
}

# ---------------------------------------------------------------- Pyxis
containers_has_pyxis() {
  containers_pyxis >/dev/null
}

# Where Slurm's plugin of Pyxis is.
containers_pyxis() {
  local path
  for path in "${ROOT}"{/usr/local/lib/slurm,/opt/slurm/lib/slurm,/usr/lib/slurm,/usr/lib/*-linux-gnu/slurm*}/spank_pyxis.so; do
    if [[ -e ${path} ]]; then
      printf '%s' "${path#"${ROOT}"}"
      return
    fi
  done
  return 1
}

# Built against the Slurm that is there, by one node for all: a plugin of another version is refused by srun.
containers_add_pyxis() {
  local file
  [[ -n ${NODE[lustre_mount_path]-} ]] || fail 'this image has no Pyxis, and without a shared file system it is not built'
  file=$(containers_pyxis_built)
  build_once 900 containers_pyxis_is_built containers_pyxis_build "${file}.lock"
  mkdir -p -- "${ROOT}${CONTAINERS_PYXIS%/*}"
  cp -- "${file}" "${ROOT}${CONTAINERS_PYXIS}.new"
  mv -f -- "${ROOT}${CONTAINERS_PYXIS}.new" "${ROOT}${CONTAINERS_PYXIS}"
}

# By Slurm's version, the processor and the source: any other one is another file.
containers_pyxis_built() {
  local slurm machine sum
  slurm=$("${ROOT}/opt/slurm/bin/srun" --version) && machine=$(uname -m) && sum=$(tool pyxis sha256) \
    && printf '%s/.trainyard/pyxis-%s-%s-%s.so' "${ROOT}${NODE[lustre_mount_path]}" "${slurm##* }" "${machine}" "${sum:0:12}"
}

containers_pyxis_is_built() {
  local file
  file=$(containers_pyxis_built) && [[ -e ${file} ]]
}

containers_pyxis_build() {
  local folder=${ROOT}/opt/trainyard/pyxis file
  file=$(containers_pyxis_built)
  fetch_tool pyxis "${folder}.tar.gz" Pyxis
  install_packages gcc make
  rm -rf -- "${folder}"
  mkdir -p -- "${folder}"
  tar --extract --gzip --no-same-owner --strip-components=1 --directory="${folder}" --file="${folder}.tar.gz"
  CPPFLAGS="-I ${ROOT}/opt/slurm/include" make --silent --directory="${folder}"
  cp -- "${folder}/spank_pyxis.so" "${file}.new"
  mv -f -- "${file}.new" "${file}"
}

containers_plugstack_text() {
  local plugin
  plugin=$(containers_pyxis) \
    && python3 -ISB "${BUNDLE}/plugstack.py" --root "${ROOT}" -- "${CONTAINERS_PLUGSTACK}" "required ${plugin}"
}

# Only the controller has a plugstack.conf. All nodes take it, so nothing in it may be true of one node only.
containers_configure_pyxis() {
  local text
  [[ ${NODE[role]} == controller ]] || return 0
  text=$(containers_plugstack_text)
  # shellcheck disable=SC2310  # a question
  containers_has_taken plugstack "${CONTAINERS_PLUGSTACK}" "${text}" || {
    restart_due plugstack
    put_file "${CONTAINERS_PLUGSTACK}" 0644 "${text}"
    # shellcheck disable=SC2310  # a question
    ! systemctl is-active --quiet slurmctld || "${ROOT}/opt/slurm/bin/scontrol" reconfigure
    restart_made plugstack
  }
}

containers_right_pyxis() {
  local text
  [[ ${NODE[role]} != controller ]] \
    || { text=$(containers_plugstack_text) && containers_has_taken plugstack "${CONTAINERS_PLUGSTACK}" "${text}"; }
}

# shellcheck shell=bash
# Where jobs read and write, on the shared file system: made by whichever node is first.
: "${ROOT?}"
declare -gA NODE

FOLDERS=(data checkpoints logs jobs)

step folders 'make the folders of jobs' 'root may not write to the shared file system (root squash), or it is full'

step_folders_done() {
  local name owner
  [[ -z ${NODE[lustre_dns_name]} ]] || for name in "${FOLDERS[@]}"; do
    owner=$(stat -c %U -- "${ROOT}${NODE[lustre_mount_path]}/${name}" 2>/dev/null) && [[ ${owner} == "${NODE[user]}" ]] || return 1
  done
}

step_folders_run() {
  local name
  for name in "${FOLDERS[@]}"; do
    install -d -m 0755 -o "${NODE[user]}" -- "${ROOT}${NODE[lustre_mount_path]}/${name}"
  done
}

step_folders_verify() {
  step_folders_done
}

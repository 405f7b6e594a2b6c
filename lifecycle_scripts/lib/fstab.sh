# shellcheck shell=bash
# Lines of /etc/fstab: what is mounted at a boot, whoever mounted it today.
: "${ROOT?}"

# fstab_has PATH LINE: whether the line is there, and no other for the path.
fstab_has() {
  local lines
  lines=$(awk -v path="$1" '$2 == path && !/^[[:space:]]*#/' "${ROOT}/etc/fstab") && [[ ${lines} == "$2" ]]
}

# fstab_put PATH LINE: the line, in the place of any other for the path.
fstab_put() {
  rewrite "${ROOT}/etc/fstab" 0644 fstab_with "$@"
  systemctl daemon-reload # the automount unit that the line stands for
}

fstab_with() {
  # shellcheck disable=SC2310  # a question
  if fstab_has "$@"; then
    cat -- "${ROOT}/etc/fstab"
  else
    awk -v path="$1" '$2 != path || /^[[:space:]]*#/' "${ROOT}/etc/fstab"
    printf '%s\n' "$2"
  fi
}

#!/bin/bash
# ssh-key.sh HOME COMMENT [check]: a key that lets whoever runs this log in to every node that has this home; with `check`,
# whether there is one. Run as that user and not as root: what is in a home may be its owner's link to anywhere.
set -Eeuo pipefail
umask 077
folder=$1/.ssh comment=$2
key=${folder}/id_ed25519
shown=${key#"${TRAINYARD_ROOT:-}"}
host=$(hostname)
new=${folder}/.new-${host}

is_let_in() {
  [[ -s ${key} && -s ${key}.pub && -f ${folder}/authorized_keys ]] && grep -qxFf "${key}.pub" -- "${folder}/authorized_keys"
}

if [[ ${3-} == check ]]; then
  is_let_in
  exit
fi

# Many nodes are at it at once: a hard link appears whole, and never takes the place of another.
mkdir -p -- "${folder}"
chmod -- 0700 "${folder}"
rm -rf -- "${new}"
mkdir -- "${new}"

# An empty key would fail every node for good. Another node may be at it too: what turns out to have content is that
# node's, and goes back.
if [[ -e ${key} && ! -s ${key} ]]; then
  aside=${key}.unreadable-${host}-${EPOCHSECONDS}
  if mv -nT -- "${key}" "${aside}" 2>/dev/null; then # else the other node was faster
    if [[ -s ${aside} ]]; then
      ln -- "${aside}" "${key}" || [[ -e ${key} ]]
      rm -- "${aside}"
    else
      echo "WARNING: the key ${shown} was empty: it is now ${aside##*/}, and a new one takes its place"
    fi
  fi
fi

[[ -e ${key} ]] || {
  ssh-keygen -q -t ed25519 -N '' -C "${comment}" -f "${new}/id_ed25519"
  sync -- "${new}/id_ed25519" # or a node that loses its power leaves the name without the content
  ln -- "${new}/id_ed25519" "${key}" || [[ -e ${key} ]]
}
ssh-keygen -y -P '' -f "${key}" >"${new}/public" || {
  rm -rf -- "${new}"
  echo "ERROR: ${shown} is no key without a password: replace it, or move it away and one is made"
  exit 1
}

# the key is let in beside those that are let in already
public=$(<"${new}/public")
lines=''
[[ ! -e ${folder}/authorized_keys ]] || lines=$(<"${folder}/authorized_keys")
[[ $'\n'${lines}$'\n' == *$'\n'"${public}"$'\n'* ]] || {
  printf '%s\n' ${lines:+"${lines}"} "${public}" >"${new}/authorized_keys"
  sync -- "${new}/authorized_keys"
  mv -f -- "${new}/authorized_keys" "${folder}/authorized_keys"
}
mv -f -- "${new}/public" "${key}.pub"
rm -rf -- "${new}"
is_let_in

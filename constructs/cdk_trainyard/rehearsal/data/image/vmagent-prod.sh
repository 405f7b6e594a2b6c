#!/bin/bash
# Debian's vmagent in the place of the release that is pinned: it speaks Prometheus' protocol alone, and lacks the flag
# that asks for it.
set -Eeuo pipefail
flags=()
for flag in "$@"; do
  [[ ${flag} == -remoteWrite.forcePromProto=* ]] || flags+=("${flag}")
done
exec /usr/bin/vmagent "${flags[@]}"

# shellcheck shell=bash
# Mountpoint for Amazon S3, from Amazon Linux's own repository (since 2023.9.20251110).
: "${ROOT?}"

step mountpoint 'install Mountpoint for Amazon S3' \
  "no way to Amazon Linux's repository: it needs a route out, or an S3 endpoint whose policy lets al2023-repos-* through"

step_mountpoint_done() {
  command -v mount-s3 >/dev/null
}

step_mountpoint_run() {
  wait_until 600 'dnf, which the SSM agent may hold at the first boot' dnf -q -y install mount-s3
}

step_mountpoint_verify() {
  mount-s3 --version
}

# shellcheck shell=bash
# The client of FSx for Lustre. An image of TrainingImage has it; no source says that a Deep Learning AMI does, so a node
# that lacks it installs it as such an image would, for the kernel that runs, and holds that kernel.
: "${BUNDLE?}"
declare -gA NODE
# shellcheck source-path=SCRIPTDIR source=../../lib/packages.sh
source "${BUNDLE}/lib/packages.sh"

step lustre_client 'install the client of FSx for Lustre' \
  'no client is published for the kernel of this image, or its repository in S3 is not reached: build an image (TrainingImage)' \
  node

step_lustre_client_done() {
  [[ -z ${NODE[lustre_dns_name]-} ]] || modinfo lustre >/dev/null 2>&1
}

step_lustre_client_run() {
  wait_until 600 "the package manager's locks" package_manager_is_free # an image updates itself after its first boot
  bash -- "${BUNDLE}/image/kernel.sh"
  bash -- "${BUNDLE}/image/lustre.sh"
}

step_lustre_client_verify() {
  step_lustre_client_done
}

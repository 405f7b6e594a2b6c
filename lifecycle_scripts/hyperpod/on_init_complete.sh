#!/bin/bash
# HyperPod lifecycle with OnInitComplete: the machine image has configured the node (Slurm, accounting, keys, home on the
# shared file system); this script adds what it does not know.
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source-path=SCRIPTDIR source=../lib/steps.sh
source "${here}/lib/steps.sh"

provision "${here}" network lustre users devices

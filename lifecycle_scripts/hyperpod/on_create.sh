#!/bin/bash
# HyperPod lifecycle with OnCreate: this script configures the node alone, and starts Slurm.
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source-path=SCRIPTDIR source=../lib/steps.sh
source "${here}/lib/steps.sh"

# Slurm comes last: a node takes jobs when everything else is right.
provision "${here}" network lustre users home devices slurm

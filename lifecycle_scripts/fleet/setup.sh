#!/bin/bash
# Sets a member of an EFA fleet up: a worker or the master.
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source-path=SCRIPTDIR source=../lib/steps.sh
source "${here}/lib/steps.sh"

# The cheap tests come first: a node that lacks a device is given back before it does anything else.
provision "${here}" node limits efa devices scratch lustre_client lustre folders environment ssh exporters metrics_agent members

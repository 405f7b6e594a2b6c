#!/bin/bash
# Every boot of an ECS host: run by trainyard-host.service, which the ECS agent waits for.
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source-path=SCRIPTDIR source=../lib/steps.sh
source "${here}/lib/steps.sh"

# The weights come last, since reading them takes longest: whatever else is wrong shows within seconds.
provision "${here}" settings agent devices mountpoint weights

#!/bin/bash
# Neuron SDK on a node of a ParallelCluster: repository, driver, runtime and tools; on the head node also PyTorch.
#
#   neuron.sh [--venv DIRECTORY]   DIRECTORY: where the head node puts a Python environment, and nothing else is; on
#                                  shared storage, and not on Amazon Linux 2023
#
# For OnNodeConfigured of the head node and of Neuron queues. It can run any number of times. The head node and other
# nodes without a Neuron device get no driver; an image that brings one (a Neuron DLAMI) keeps its own.
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
export TRAINYARD_LOG_GRACE=${TRAINYARD_LOG_GRACE:-5} # ParallelCluster keeps what was printed
# shellcheck source-path=SCRIPTDIR source=../lib/steps.sh
source "${here}/lib/steps.sh"
# shellcheck source-path=SCRIPTDIR source=neuron_node.sh
source "${here}/neuron_node.sh"

case ${1:-} in
  '') NEURON_VENV='' ;;
  --venv) NEURON_VENV=${2:?--venv needs a directory} ;;
  *) fail "usage: $0 [--venv DIRECTORY], got '$1'" ;;
esac
export NEURON_VENV
system=$(neuron_system)
# introducing-pytorch-2-9 in the Neuron documentation: it installs there, and its import fails
[[ -z ${NEURON_VENV} || ${system} != dnf ]] \
  || fail "PyTorch for Neuron needs glibc 2.35, and Amazon Linux 2023 has 2.34; use Ubuntu, or leave --venv out and train in containers"
if [[ -n ${NEURON_VENV} ]]; then
  type=$(node_type)
  [[ ${type} != HeadNode ]] || python_fits
fi

provision "${here}" neuron_repository neuron_driver neuron_runtime neuron_python

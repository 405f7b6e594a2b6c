#!/bin/bash
# Metrics of a node of a ParallelCluster: exporters, and on the head node Slurm's metrics, and the agent that takes those of
# every node to a workspace of Amazon Managed Service for Prometheus.
#
#   metrics.sh NAME=VALUE...   what the steps ask by NODE[NAME], as exporters_port=9100
#
# For OnNodeConfigured of the head node and of queues, after the scripts that install devices' monitors. It can run any
# number of times.
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
export TRAINYARD_LOG_GRACE=${TRAINYARD_LOG_GRACE:-5} # ParallelCluster keeps what was printed
# shellcheck source-path=SCRIPTDIR source=../lib/steps.sh
source "${here}/lib/steps.sh"
# shellcheck source-path=SCRIPTDIR source=node.sh
source "${here}/node.sh"

declare -A NODE=()
for setting in "$@"; do
  [[ ${setting} =~ ^[a-z][a-z0-9_]*= ]] || fail "usage: $0 NAME=VALUE..., got '${setting}'"
  NODE[${setting%%=*}]=${setting#*=}
done
type=$(node_type)
case ${type} in
  HeadNode) NODE[role]=controller ;;
  *) NODE[role]=compute ;;
esac
NODE[efa_interfaces]=$(efa_interfaces)
NODE[neuron_devices]=$(neuron_devices)
NODE[gpus]=$(gpus)
# shellcheck disable=SC2034  # the steps ask it
NODE[lustre_dns_name]=$(awk '$3 == "lustre" { print $1; exit }' "${ROOT?}/etc/fstab")

provision "${here}" exporters metrics_agent

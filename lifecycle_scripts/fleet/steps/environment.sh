# shellcheck shell=bash
# What MPI, NCCL and the Neuron runtime need to find EFA and each other, for every shell and every job.
# From the EFA guide ("Get started with EFA and NCCL") and the Neuron documentation ("Multi-node training"). Two variables
# that both still show are left out (fi_efa.7): FI_EFA_USE_DEVICE_RDMA=1 aborts where a device cannot read remote memory, as
# on p3dn and c5n, and unset it is used where there is some; FI_EFA_FORK_SAFE=1 is for kernels before 5.15, and gives the
# huge pages up that the step limits sets aside.
: "${ROOT?}"
declare -gA NODE

ENVIRONMENT=/etc/profile.d/trainyard.sh

step environment 'write the environment of jobs' 'the root file system is full'

step_environment_done() {
  local text
  text=$(environment_text) && holds "${ROOT}${ENVIRONMENT}" "${text}"
}

step_environment_run() {
  local text
  text=$(environment_text)
  put_file "${ROOT}${ENVIRONMENT}" 0644 "${text}"
}

step_environment_verify() {
  step_environment_done
}

environment_text() {
  printf 'export TRAINYARD_FLEET=%s TRAINYARD_HOSTFILE=/opt/trainyard/hostfile TRAINYARD_SHARED=%s\n' \
    "${NODE[fleet]}" "${NODE[lustre_mount_path]}"
  ((NODE[efa_interfaces] == 0)) || {
    printf 'export PATH=/opt/amazon/openmpi/bin:/opt/amazon/efa/bin:%s\n' "\${PATH}"
    printf 'export FI_PROVIDER=efa\n'
  }
  ((NODE[gpus] == 0)) || printf 'export NCCL_SOCKET_IFNAME=^lo,docker NCCL_DEBUG=WARN\n'
  ((NODE[neuron_devices] == 0)) || printf 'export PATH=/opt/aws/neuron/bin:%s\n' "\${PATH}"
}

#!/bin/bash
# Asks the image, started as a new instance, for everything that the set-up of nodes will ask for.
set -Eeuo pipefail
missing=0

# wants WHAT COMMAND...: says what is there and what is not.
wants() {
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then
    echo "there: ${what}"
  else
    echo "missing: ${what}" >&2
    missing=$((missing + 1))
  fi
}

wants 'the AWS CLI' aws --version
wants 'Python 3' python3 --version
wants 'the EFA driver' modinfo efa
wants 'the verbs module' modinfo ib_uverbs
wants 'libfabric' /opt/amazon/efa/bin/fi_info --version
wants 'Open MPI' test -x /opt/amazon/openmpi/bin/mpirun
wants 'the Lustre client' modinfo lustre
wants 'mount.lustre' command -v mount.lustre
wants 'mdadm' command -v mdadm
wants 'mkfs.xfs' command -v mkfs.xfs
case ${ACCELERATOR:-none} in
  gpu) wants 'the NVIDIA driver' modinfo nvidia ;;
  neuron)
    wants 'the Neuron driver' modinfo neuron
    wants 'the Neuron runtime' test -e /opt/aws/neuron/lib/libnrt.so.1
    wants 'the Neuron collectives' test -e /opt/aws/neuron/lib/libnccom.so.2
    ;;
  *) ;;
esac
exit "$((missing > 0))"

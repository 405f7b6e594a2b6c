#!/bin/bash
# Run by mpirun for each process: translates Open MPI's variables into those that torch.distributed reads.
set -Eeuo pipefail
: "${MASTER_ADDR:?set by launch.sh}" "${MASTER_PORT:?set by launch.sh}"
export RANK=${OMPI_COMM_WORLD_RANK:?runs below mpirun} WORLD_SIZE=${OMPI_COMM_WORLD_SIZE:?runs below mpirun}
export LOCAL_RANK=${OMPI_COMM_WORLD_LOCAL_RANK:?runs below mpirun}
exec "$@"

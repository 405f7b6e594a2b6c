#!/bin/bash
# Before each task, as its user: what it prints is set for the task. The epilog removes the directory with the job.
[[ ! -d ${TRAINYARD_ROOT:-}/tmp/job-${SLURM_JOB_ID:?set by slurmd} ]] || echo "export TMPDIR=${TRAINYARD_ROOT:-}/tmp/job-${SLURM_JOB_ID}"

#!/bin/bash
# The body of both jobs: checks, starts launch.sh on every node, and decides what becomes of a failure.
#   run.sh compile|train [ARGUMENT of train.py...]
set -Eeuo pipefail
: "${SLURM_JOB_ID:?runs inside a job}" "${SLURM_JOB_NUM_NODES:?runs inside a job}"
folder=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source-path=SCRIPTDIR source=settings.sh
source "${folder}/settings.sh"
mode=$1
shift
need_number CORES_PER_NODE 1
need_number COMPILE_STEPS 1
need_number MAX_REQUEUES 0
need_python
refuse_own "$@"
requeues=${SLURM_RESTART_COUNT:-0}

# wrong arguments are wrong the next time too: such a job is not requeued
check_arguments "${folder}" "${SLURM_JOB_NUM_NODES}" "$@"

# As many nodes as the first start had: Slurm may strike a node that it lost from the job, and srun would start on the
# others. launch.sh refuses that with a code of its own.
too_few=75
asked=${RUN_DIRECTORY}/.nodes-${SLURM_JOB_ID}
export JOB_NODES=${SLURM_JOB_NUM_NODES}
if ((requeues > 0)) && [[ -s ${asked} ]]; then
  JOB_NODES=$(<"${asked}")
elif [[ -d ${RUN_DIRECTORY} && -w ${RUN_DIRECTORY} ]]; then # else launch.sh says what is wrong with it
  printf '%s\n' "${JOB_NODES}" >"${asked}"
fi

# HyperPod's auto-resume is a plugin of srun, and plain Slurm ends the job at once with "unrecognized option". srun is
# asked. The job that compiles does without: it has nothing to go on from.
auto_resume=()
if [[ ${mode} == train ]]; then
  options=$(srun --help 2>&1)
  [[ ${options} != *--auto-resume* ]] || auto_resume=(--auto-resume=1)
else
  set -- "$@" --stop-after "${COMPILE_STEPS}"
fi
printf '%s: job %s on %s, requeued %s times, auto-resume: %s\n' \
  "${mode}" "${SLURM_JOB_ID}" "${SLURM_JOB_NODELIST:-?}" "${requeues}" "${auto_resume[*]:-not asked for}"

# One task for each node. It gets every processor: since 22.05 srun does not take --cpus-per-task from sbatch, and with
# cgroups a task of one processor would hold 32 processes on it.
code=0
srun --kill-on-bad-exit=1 --cpus-per-task="${SLURM_CPUS_ON_NODE:-1}" "${auto_resume[@]}" \
  bash "${folder}/launch.sh" "${mode}" "$@" || code=$?

# A job that lost a node is requeued by Slurm (--requeue). A step that failed on nodes that live is not, so the job asks
# for it, a bounded number of times: SLURM_RESTART_COUNT counts both. A graph that does not compile does not the next
# time either. Auto-resume has tried again already, but brings no node back that the job no longer has.
if ((code != 0 && (${#auto_resume[@]} == 0 || code == too_few) && requeues < MAX_REQUEUES)) && [[ ${mode} == train ]]; then
  printf 'the step ended with code %d: requeue %d of %d\n' "${code}" "$((requeues + 1))" "${MAX_REQUEUES}"
  scontrol requeue "${SLURM_JOB_ID}"
  sleep 60 # slurmctld ends this script
fi
exit "${code}"

#!/bin/bash
# Stand-in for HyperPod's cluster agent: auto-resume-agent JOB EXIT_CODE. Exit code 0 means: try the step again.
# A node that a --no-kill job lost is gone from its allocation: an expander job fetches another one. Slurm refuses that
# for a job with GRES, which then goes back to the queue.
set -Eeuo pipefail
job=$1
wanted=${SLURM_JOB_NUM_NODES:?runs inside a job} nodes=${SLURM_JOB_NODELIST:?runs inside a job}
deadline=$((SECONDS + ${AUTO_RESUME_TIMEOUT:-180}))

say() {
  printf '[Auto Resume] Info: JobID: %s %s\n' "${job}" "$*" >&2
}

# look: sets how many nodes the job has left, and the states of those it began with.
look() {
  local shown
  shown=$(scontrol --oneliner show job "${job}")
  [[ ${shown} =~ \ NumNodes=([0-9]+) ]]
  left=${BASH_REMATCH[1]}
  states=$(sinfo --noheader --Node --nodes="${nodes}" --format=%t)
}
sick='\*|down|fail|drain'

# A step can fail seconds before slurmctld sees that its node is gone: give it time to make up its mind.
settled=$((SECONDS + ${AUTO_RESUME_SETTLE:-20}))
look
while ((left == wanted && SECONDS < settled)) && [[ ! ${states} =~ ${sick} ]]; do
  sleep 1
  look
done
while ((left == wanted)) && [[ ${states} =~ ${sick} ]]; do
  ((SECONDS < deadline)) || exit 1
  sleep 1
  look
done
if ((left == wanted)); then
  say 'ResumeAction=RETRYSTEP, all nodes healthy'
  exit 0
fi

say "Job failed - replacing nodes, ${left} of ${wanted} left"
# salloc --no-shell: an allocation without steps, else NumNodes=0 answers "Job step already exists"
granted=$(env --unset=SLURM_JOB_ID timeout "$((deadline - SECONDS))" \
  salloc --no-shell --nodes="$((wanted - left))" --exclusive --dependency="expand:${job}" 2>&1) || {
  say "${granted}"
  exit 1
}
[[ ${granted} =~ Granted\ job\ allocation\ ([0-9]+) ]]
expander=${BASH_REMATCH[1]}
if ! scontrol update JobId="${expander}" NumNodes=0; then
  say 'the job cannot be resized (GRES?): it goes back to the queue'
  scancel "${expander}"
  scontrol requeue "${job}"
  sleep 60 # slurmctld ends this job
  exit 1
fi
look
((left == wanted)) || exit 1
rm -f -- "slurm_job_${expander}_resize".* "slurm_job_${job}_resize".*
say 'Job Expansion complete'

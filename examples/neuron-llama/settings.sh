# shellcheck shell=bash
# The settings of the jobs and of submit.sh: defaults of the environment, in one place.
export PYTHON=${PYTHON:-python3} NODES=${NODES:-4} CORES_PER_NODE=${CORES_PER_NODE:-32}
export RUN_DIRECTORY=${RUN_DIRECTORY:-/fsx/${USER:-${LOGNAME:-ubuntu}}/neuron-llama}
export CACHE_DIRECTORY=${CACHE_DIRECTORY:-/fsx/${USER:-${LOGNAME:-ubuntu}}/neuron-cache}
export COMPILE_STEPS=${COMPILE_STEPS:-3} MAX_REQUEUES=${MAX_REQUEUES:-3}

fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 2
}

# need_number NAME LEAST: a setting that must be a whole number.
need_number() {
  if [[ ! ${!1} =~ ^(0|[1-9][0-9]{0,5})$ ]] || ((${!1} < $2)); then
    fail "'$1' must be a whole number from $2 up, got '${!1}'"
  fi
}

# need_python: PYTHON is there, and not older than the programs here.
need_python() {
  command -v -- "${PYTHON}" >/dev/null || fail "'PYTHON' must be a program, got '${PYTHON}'; make the environment of README.md on shared storage"
  "${PYTHON}" -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
    || fail "'PYTHON' must be Python 3.10 or newer, got '${PYTHON}'"
}

# refuse_own ARGUMENT...: arguments of train.py that the jobs set themselves.
refuse_own() {
  local word
  for word in "$@"; do
    case ${word} in
      --directory | --directory=*) fail "'--directory' is set from RUN_DIRECTORY; set that" ;;
      --stop-after | --stop-after=*) fail "'--stop-after' is set from COMPILE_STEPS, in the job that compiles" ;;
      *) ;;
    esac
  done
}

# check_arguments FOLDER NODES ARGUMENT...: everything that is wrong with the arguments, before nodes are taken.
check_arguments() {
  local folder=$1 nodes=$2
  shift 2
  PYTHONPATH=${folder} "${PYTHON}" -m neuron_llama.check --nodes "${nodes}" --cores-per-node "${CORES_PER_NODE}" \
    --directory "${RUN_DIRECTORY}" "$@"
}

# shellcheck shell=bash
# PyTorch and the compiler, in an environment on shared storage: the head node makes it, all nodes use it. On Ubuntu.
: "${ROOT?}" "${NEURON_PYTHON?}" "${NEURON_VENV?}"

step neuron_python 'make the Python environment' \
  "the head node has no way to Ubuntu's archive, or its package lists are old, no way to the Python package indexes, or the directory is not on shared storage with room for 10 GB"

step_neuron_python_done() {
  local type
  [[ -n ${NEURON_VENV} ]] || return 0
  type=$(node_type)
  [[ ${type} != HeadNode ]] || holds "${ROOT}${NEURON_VENV}/neuron-packages" "${NEURON_PYTHON[*]}"
}

step_neuron_python_run() {
  local directory=${ROOT}${NEURON_VENV}
  # shellcheck disable=SC2310  # a question
  is_environment_or_empty "${directory}" \
    || fail "${NEURON_VENV} holds something else than a Python environment (it has no pyvenv.cfg), and would be emptied: give --venv a directory of its own, as ${NEURON_VENV%/}/neuron"
  python3 -c 'import ensurepip, venv' 2>/dev/null || {
    finish_packages
    apt_install 300 -- python3-venv
  }
  rm -f -- "${directory}/neuron-packages"
  python3 -m venv --clear "${directory}"
  timeout 1200 "${directory}/bin/python" -m pip install --quiet --no-input --retries 5 --timeout 30 \
    --extra-index-url https://pip.repos.neuron.amazonaws.com "${NEURON_PYTHON[@]}"
  put_file "${directory}/neuron-packages" 0644 "${NEURON_PYTHON[*]}" # last: an environment without it is half made
}

# is_environment_or_empty DIRECTORY: whether it may be emptied; one that is not there may.
is_environment_or_empty() (
  shopt -s nullglob dotglob
  held=("$1"/*)
  [[ -e $1/pyvenv.cfg ]] || ((${#held[@]} == 0))
)

step_neuron_python_verify() {
  holds "${ROOT}${NEURON_VENV}/neuron-packages" "${NEURON_PYTHON[*]}"
}

# shellcheck shell=bash
# Neuron's Python packages in an environment on shared storage, made once by whichever node is first. Driver, runtime and
# tools are the image's: they were tested together, and nothing of them is touched.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE
# shellcheck source-path=SCRIPTDIR source=../../lib/packages.sh
source "${BUNDLE}/lib/packages.sh"

step neuron_environment "Python environment with Neuron's packages" \
  'no way to the Python package indexes, a version that they no longer have or that is for another Python, or less than 12 GB free on the shared file system' \
  'network clock kernel lustre openzfs'

step_neuron_environment_done() {
  [[ -z ${NODE[neuron_environment]-} ]] || neuron_environment_is_linked
}

step_neuron_environment_run() {
  local path=${ROOT}${NODE[neuron_environment_path]-} folder
  [[ -n ${NODE[neuron_environment]-} ]] || return 0
  folder=$(neuron_environment_folder)
  # shellcheck disable=SC2310  # a question
  neuron_environment_is_built || neuron_environment_fits
  build_once 2400 neuron_environment_is_built neuron_environment_build "${path}.lock"
  # shellcheck disable=SC2310  # a question
  neuron_environment_is_linked || {
    [[ ! -d ${path} || -L ${path} ]] || fail "${NODE[neuron_environment_path]} is a directory of somebody else's: give another path"
    ln -sfn -- "${folder##*/}" "${path}.new-${HOST?}"
    mv -fT -- "${path}.new-${HOST}" "${path}" # running jobs keep the environment that they started with
  }
}

step_neuron_environment_verify() {
  "${ROOT}${NODE[neuron_environment_path]}/bin/python" -c 'import sys; sys.exit(sys.prefix == sys.base_prefix)'
  neuron_environment_is_linked
}

# Options of pip and requirements, as pip reads them from a file.
neuron_environment_requirements() {
  local index=${NODE[neuron_environment_index]:+--index-url ${NODE[neuron_environment_index]}}
  local packages=${NODE[neuron_environment_packages]-}
  printf '%s\n' "${index:---extra-index-url https://pip.repos.neuron.amazonaws.com}" "${packages// /$'\n'}"
}

# What the packages were released for, beside what this node has: pip would name neither when it finds nothing to install,
# and the runtime would refuse what a newer compiler made only when a job runs.
neuron_environment_fits() {
  local pythons=${NODE[neuron_environment_pythons]-} wanted=${NODE[neuron_environment_driver]-} python driver
  local packages=${NODE[neuron_environment_packages]-}
  python=$(python3 -c 'import sys; print("{}.{}".format(*sys.version_info))')
  [[ -z ${pythons} || " ${pythons} " == *" ${python} "* ]] \
    || fail "this node has Python ${python}, and ${packages} are for Python ${pythons// /, }: give packages for Python ${python} in neuron_environment"
  driver=$(neuron_environment_driver)
  # shellcheck disable=SC2310  # a question
  [[ -z ${driver} || -z ${wanted} ]] || ! is_older "${driver}" "${wanted}" \
    || warn "this node has Neuron driver ${driver}, and ${packages} were released with ${wanted}: jobs may end with NRT_UNSUPPORTED_NEFF_VERSION"
}

# The driver's version, or nothing where the image has none.
neuron_environment_driver() {
  local found
  # shellcheck disable=SC2016  # dpkg-query expands it
  found=$(dpkg-query --show --showformat='${Version}' aws-neuronx-dkms 2>/dev/null) || return 0
  printf '%s' "${found}"
}

# An environment cannot be moved: its programs name the interpreter by its path. So every version is made where it stays,
# under a name that says what is in it, and only the link to it changes.
neuron_environment_folder() {
  local requirements sum
  requirements=$(neuron_environment_requirements) && sum=$(sha256sum <<<"${requirements}") \
    && printf '%s-%s' "${ROOT}${NODE[neuron_environment_path]}" "${sum:0:12}"
}

neuron_environment_is_built() {
  local folder requirements
  folder=$(neuron_environment_folder) && requirements=$(neuron_environment_requirements) \
    && holds "${folder}/requirements.txt" "${requirements}"
}

neuron_environment_is_linked() {
  local folder target
  neuron_environment_is_built && folder=$(neuron_environment_folder) \
    && target=$(readlink -- "${ROOT}${NODE[neuron_environment_path]}") && [[ ${target} == "${folder##*/}" ]]
}

neuron_environment_build() {
  local folder requirements wanted
  folder=$(neuron_environment_folder)
  requirements=$(neuron_environment_requirements)
  wanted=${folder}/wanted-${HOST?}.txt
  # shellcheck disable=SC2310  # a question
  python3 -c 'import ensurepip, venv' 2>/dev/null || install_packages python3-venv
  python3 -m venv --clear -- "${folder}"
  put_file "${wanted}" 0644 "${requirements}"
  timeout 2000 "${folder}/bin/python" -m pip install --quiet --no-input --disable-pip-version-check --no-cache-dir \
    --retries 5 --timeout 30 --requirement "${wanted}"
  # a node that loses its power now must not leave the name that says all is there, and files without content
  sync -f -- "${folder}"
  mv -f -- "${wanted}" "${folder}/requirements.txt" # last: an environment without it is half made
}

# shellcheck shell=bash
# Metrics for Prometheus, by option: node_exporter on every node; through its textfile collector what Slurm does
# (controller), the counters of EFA and what the Lustre client says; monitors of Neuron devices and GPUs. One that the
# image runs already is left alone.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE
# shellcheck source-path=SCRIPTDIR source=../packages.sh
source "${BUNDLE}/lib/packages.sh"
# shellcheck source-path=SCRIPTDIR source=../restarts.sh
source "${BUNDLE}/lib/restarts.sh"

EXPORTERS_PROGRAMS=/opt/trainyard/exporters
EXPORTERS_TEXTFILES=/var/lib/trainyard/metrics
EXPORTERS_UNITS=${ROOT}/etc/systemd/system
EXPORTERS_NODE=trainyard-node-exporter

step exporters 'metrics for Prometheus' \
  'something else has the port, or the image lacks the monitor of its devices (neuron-monitor, dcgm-exporter)' \
  'network clock kernel'

step_exporters_done() {
  local name names
  names=$(exporters_wanted) || return
  for name in ${names}; do
    { "exporters_has_${name}" && "exporters_answers_${name}"; } >/dev/null 2>&1 || return
  done
}

step_exporters_run() {
  local name names
  names=$(exporters_wanted)
  for name in ${names}; do
    # shellcheck disable=SC2310  # a question
    "exporters_has_${name}" || "exporters_add_${name}"
  done
}

step_exporters_verify() {
  local name names
  names=$(exporters_wanted)
  for name in ${names}; do
    wait_until 60 "metrics of ${name}" "exporters_answers_${name}"
  done
}

# What this node has of what is asked for.
exporters_wanted() {
  local name
  for name in node slurm efa lustre neuron gpu; do
    # shellcheck disable=SC2310  # a question
    if "exporters_wants_${name}"; then
      printf '%s\n' "${name}"
    fi
  done
}

exporters_wants_node() {
  [[ -n ${NODE[exporters]-} ]]
}

exporters_wants_slurm() {
  [[ -n ${NODE[exporters_slurm]-} && ${NODE[role]} == controller ]]
}

exporters_wants_efa() {
  [[ -n ${NODE[exporters_efa]-} ]] && ((NODE[efa_interfaces] > 0))
}

exporters_wants_lustre() {
  [[ -n ${NODE[exporters_lustre]-} && -n ${NODE[lustre_dns_name]-} ]]
}

exporters_wants_neuron() {
  [[ -n ${NODE[exporters_neuron]-} ]] && ((NODE[neuron_devices] > 0))
}

exporters_wants_gpu() {
  [[ -n ${NODE[exporters_gpu]-} ]] && ((NODE[gpus] > 0))
}

# ---------------------------------------------------------------- node_exporter
exporters_answers_node() {
  exporters_serves "${NODE[exporters_port]}" node_
}

# exporters_serves PORT PREFIX: whether a metric that begins so is served.
exporters_serves() {
  local told
  told=$(curl --silent --show-error --fail --max-time 10 "http://127.0.0.1:$1/metrics") || return
  [[ ${told} =~ (^|$'\n')$2 ]] || {
    printf 'port %s serves no metric that begins with %s\n' "$1" "$2"
    return 1
  }
}

exporters_has_node() {
  exporters_is_the_images || { systemctl is-active --quiet "${EXPORTERS_NODE}" && exporters_unit_is node; }
}

# The image has its own when the port is served while ours does not run.
exporters_is_the_images() {
  ! systemctl is-active --quiet "${EXPORTERS_NODE}" && exporters_answers_node >/dev/null 2>&1
}

exporters_add_node() {
  # shellcheck disable=SC2310  # a question
  exporters_program >/dev/null || fetch_program node_exporter node_exporter "${ROOT}${EXPORTERS_PROGRAMS}"
  mkdir -p -- "${ROOT}${EXPORTERS_TEXTFILES}"
  exporters_start node "${EXPORTERS_NODE}.service"
}

# The image's own program, or ours.
exporters_program() {
  local name
  for name in node_exporter prometheus-node-exporter; do
    if command -v "${name}"; then
      return 0
    fi
  done
  [[ -x ${ROOT}${EXPORTERS_PROGRAMS}/node_exporter ]] && printf '%s\n' "${EXPORTERS_PROGRAMS}/node_exporter"
}

exporters_unit_node() {
  local program
  program=$(exporters_program)
  printf '%s\n' '[Unit]' 'Description=Metrics of this node' 'After=network-online.target' '[Service]' 'DynamicUser=yes' \
    "ExecStart=${program} --web.listen-address=:${NODE[exporters_port]} --collector.textfile.directory=${EXPORTERS_TEXTFILES}" \
    'Restart=always' 'RestartSec=5' '[Install]' 'WantedBy=multi-user.target'
}

# ---------------------------------------------------------------- textfiles
# Where the node_exporter that runs here reads files: ours, what it was started with, or Debian's default.
exporters_directory() {
  local file told
  # shellcheck disable=SC2310  # a question
  if ! exporters_is_the_images; then
    printf '%s' "${EXPORTERS_TEXTFILES}"
    return
  fi
  for file in "${ROOT}"/proc/[0-9]*/cmdline; do
    told=$(tr '\0' '\n' 2>/dev/null <"${file}") || continue # it has ended meanwhile
    if [[ ${told} =~ --collector\.textfile\.directory[=$'\n']([^$'\n']+) ]]; then
      printf '%s' "${BASH_REMATCH[1]}"
      return
    fi
  done
  if [[ -d ${ROOT}/var/lib/prometheus/node-exporter ]]; then
    printf '/var/lib/prometheus/node-exporter'
  else
    printf '%s' "${EXPORTERS_TEXTFILES}"
    warn "the image's node_exporter reads no files: start it with --collector.textfile.directory=${EXPORTERS_TEXTFILES}" >&2
  fi
}

exporters_add_slurm() {
  exporters_add_textfile slurm
}

exporters_add_efa() {
  exporters_add_textfile efa
}

exporters_add_lustre() {
  exporters_add_textfile lustre
}

exporters_has_slurm() {
  exporters_has_textfile slurm
}

exporters_has_efa() {
  exporters_has_textfile efa
}

exporters_has_lustre() {
  exporters_has_textfile lustre
}

exporters_answers_slurm() {
  exporters_is_fresh slurm
}

exporters_answers_efa() {
  exporters_is_fresh efa
}

exporters_answers_lustre() {
  exporters_is_fresh lustre
}

exporters_add_textfile() {
  local name=$1 directory
  directory=$(exporters_directory)
  mkdir -p -- "${ROOT}${directory}"
  exporters_put_program "${name}"
  exporters_write "${name}" "trainyard-${name}-metrics.service"
  exporters_start timer "trainyard-${name}-metrics.timer"
}

exporters_has_textfile() {
  exporters_holds_program "$1" && exporters_unit_is "$1" && systemctl is-active --quiet "trainyard-$1-metrics.timer"
}

# The bundle is in /tmp, which a reboot may clear: the program moves out of it.
exporters_put_program() {
  local program
  program=$(<"${BUNDLE}/lib/$1_metrics.py")
  put_file "${ROOT}${EXPORTERS_PROGRAMS}/$1_metrics.py" 0755 "${program}"
}

exporters_holds_program() {
  local program
  program=$(<"${BUNDLE}/lib/$1_metrics.py") && holds "${ROOT}${EXPORTERS_PROGRAMS}/$1_metrics.py" "${program}"
}

exporters_is_fresh() {
  local directory found
  directory=$(exporters_directory) && found=$(find "${ROOT}${directory}/$1.prom" -mmin -2) && [[ -n ${found} ]]
}

exporters_unit_slurm() {
  local targets='' ports
  if [[ -n ${NODE[metrics_agent_url]-} ]]; then
    ports=node=${NODE[exporters_port]}${NODE[exporters_neuron]:+,neuron=${NODE[exporters_neuron_port]}}
    targets=" --targets /var/lib/trainyard/targets/nodes.json --ports ${ports}${NODE[exporters_gpu]:+,gpu=${NODE[exporters_gpu_port]}}"
    targets+=${NODE[exporters_neuron_nodes]:+ --having neuron=${NODE[exporters_neuron_nodes]}}
  fi
  exporters_unit_textfile slurm "--slurm /opt/slurm/bin${targets}"
}

exporters_unit_efa() {
  exporters_unit_textfile efa ''
}

exporters_unit_lustre() {
  exporters_unit_textfile lustre ''
}

exporters_unit_textfile() {
  local directory
  directory=$(exporters_directory)
  printf '%s\n' '[Unit]' "Description=Metrics of $1 into a file" '[Service]' 'Type=oneshot' 'TimeoutStartSec=60' \
    "ExecStart=/usr/bin/python3 -ISB ${EXPORTERS_PROGRAMS}/$1_metrics.py ${2:+$2 }--output ${directory}/$1.prom"
}

exporters_unit_timer() {
  printf '%s\n' '[Unit]' 'Description=Metrics into a file' '[Timer]' 'OnActiveSec=0' 'OnUnitInactiveSec=15' \
    'AccuracySec=1' '[Install]' 'WantedBy=timers.target'
}

# ---------------------------------------------------------------- devices
exporters_add_neuron() {
  exporters_put_program neuron
  exporters_start neuron trainyard-neuron-exporter.service
}

# The image has its own when the port is served while ours does not run.
exporters_has_neuron() {
  exporters_answers_neuron >/dev/null 2>&1 || return
  ! systemctl is-active --quiet trainyard-neuron-exporter || { exporters_holds_program neuron && exporters_unit_is neuron; }
}

exporters_answers_neuron() {
  exporters_serves "${NODE[exporters_neuron_port]}" ''
}

# The runtime's tools have neuron-monitor, and a program that serves what it says, but not the module that this needs
# (aws-neuron/aws-neuron-sdk issue 793): ours serves the same. Where one ends, the unit ends, and is started again.
exporters_unit_neuron() {
  local program="${EXPORTERS_PROGRAMS}/neuron_metrics.py --port ${NODE[exporters_neuron_port]}"
  printf '%s\n' '[Unit]' 'Description=Metrics of Neuron devices' '[Service]' \
    "ExecStart=/bin/bash -o pipefail -c '/opt/aws/neuron/bin/neuron-monitor | /usr/bin/python3 -ISB ${program}'" \
    'Restart=always' 'RestartSec=5' '[Install]' 'WantedBy=multi-user.target'
}

exporters_add_gpu() {
  exporters_start gpu trainyard-gpu-exporter.service
}

exporters_has_gpu() {
  # shellcheck disable=SC2310  # a question
  ! is_restart_due trainyard-gpu-exporter && exporters_answers_gpu >/dev/null 2>&1
}

exporters_answers_gpu() {
  exporters_serves "${NODE[exporters_gpu_port]}" DCGM_
}

# The image's program; else a container, which the settings name by its digest.
exporters_unit_gpu() {
  local port=${NODE[exporters_gpu_port]} image=${NODE[exporters_gpu_image]-} program
  program=$(command -v dcgm-exporter) || program=''
  [[ -n ${program}${image} ]] || fail 'this image has no dcgm-exporter: name a container image of it, or leave the option out'
  [[ -n ${program} ]] || program="/usr/bin/docker run --rm --name trainyard-gpu-exporter --gpus all --network host --cap-add SYS_ADMIN ${image}"
  printf '%s\n' '[Unit]' 'Description=Metrics of GPUs' 'After=docker.service nvidia-dcgm.service' '[Service]' \
    "ExecStart=${program} --address :${port}" 'Restart=always' 'RestartSec=5' '[Install]' 'WantedBy=multi-user.target'
}

# ---------------------------------------------------------------- units
declare -gA EXPORTERS_FILES=(
  [node]=${EXPORTERS_NODE}.service [slurm]=trainyard-slurm-metrics.service [efa]=trainyard-efa-metrics.service
  [lustre]=trainyard-lustre-metrics.service [neuron]=trainyard-neuron-exporter.service
)

# A service and its timer are one: systemd has the new text of both once the timer has been started again.
exporters_unit_is() {
  local text file=${EXPORTERS_FILES[$1]}
  # shellcheck disable=SC2310  # a question
  text=$("exporters_unit_$1") && holds "${EXPORTERS_UNITS}/${file}" "${text}" && ! is_restart_due "${file%.*}"
}

exporters_write() {
  local text
  text=$("exporters_unit_$1")
  restart_due "${2%.*}"
  put_file "${EXPORTERS_UNITS}/$2" 0644 "${text}"
}

exporters_start() {
  exporters_write "$1" "$2"
  systemctl enable -- "$2"
  systemctl restart -- "$2"
  restart_made "${2%.*}"
}

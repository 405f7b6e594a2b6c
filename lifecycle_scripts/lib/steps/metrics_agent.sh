# shellcheck shell=bash
# The agent of the metrics: Prometheus, which asks exporters and writes what they say to a workspace of Amazon Managed
# Service for Prometheus, signed with the role's credentials. There is one for a cluster with Slurm, on its controller:
# which nodes are to be asked, Slurm says (slurm_metrics.py). Without Slurm each node has its own, which asks that node
# alone. What cannot be written waits on disk.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE
# shellcheck source-path=SCRIPTDIR source=../packages.sh
source "${BUNDLE}/lib/packages.sh"
# shellcheck source-path=SCRIPTDIR source=../restarts.sh
source "${BUNDLE}/lib/restarts.sh"

METRICS_AGENT=trainyard-metrics-agent
METRICS_AGENT_FOLDER=/opt/trainyard/metrics-agent
METRICS_AGENT_TARGETS=/var/lib/trainyard/targets/nodes.json
METRICS_AGENT_HOURS=4 # so long it keeps what it could not write
# What is truncated is the older two thirds of the log, sent or not (prometheus/prometheus issue 9848): of so long a log
# the younger third is as long as the agent is to keep.
METRICS_AGENT_TRUNCATE_HOURS=$((METRICS_AGENT_HOURS * 3))

step metrics_agent 'metrics to the workspace' 'something else has the port of the agent, or no agent can be fetched' 'exporters'

step_metrics_agent_done() {
  metrics_agent_is_wanted || return 0
  metrics_agent_is_right && metrics_agent_answers >/dev/null 2>&1
}

step_metrics_agent_run() {
  local text
  # shellcheck disable=SC2310  # a question
  metrics_agent_program >/dev/null || metrics_agent_fetch
  restart_due "${METRICS_AGENT}"
  mkdir -p -- "${ROOT}${METRICS_AGENT_TARGETS%/*}"
  text=$(metrics_agent_configuration)
  put_file "${ROOT}${METRICS_AGENT_FOLDER}/prometheus.yml" 0644 "${text}"
  text=$(metrics_agent_unit)
  put_file "${ROOT}/etc/systemd/system/${METRICS_AGENT}.service" 0644 "${text}"
  systemctl daemon-reload
  systemctl enable -- "${METRICS_AGENT}.service"
  systemctl restart -- "${METRICS_AGENT}.service"
  restart_made "${METRICS_AGENT}"
}

step_metrics_agent_verify() {
  wait_until 60 'the agent of the metrics' metrics_agent_answers
}

metrics_agent_is_wanted() {
  [[ -n ${NODE[metrics_agent_url]-} && (-n ${NODE[metrics_agent_alone]-} || ${NODE[role]} == controller) ]]
}

metrics_agent_is_right() {
  local text
  # shellcheck disable=SC2310  # questions
  ! is_restart_due "${METRICS_AGENT}" && systemctl is-active --quiet "${METRICS_AGENT}" \
    && text=$(metrics_agent_configuration) && holds "${ROOT}${METRICS_AGENT_FOLDER}/prometheus.yml" "${text}" \
    && text=$(metrics_agent_unit) && holds "${ROOT}/etc/systemd/system/${METRICS_AGENT}.service" "${text}"
}

metrics_agent_answers() {
  curl --silent --show-error --fail --max-time 10 "http://127.0.0.1:${NODE[metrics_agent_port]}/-/ready"
}

# Ours, whatever the image has: Debian's build (2.42.0+ds) takes a configuration with sigv4, and signs nothing.
metrics_agent_program() {
  [[ -x ${ROOT}${METRICS_AGENT_FOLDER}/prometheus ]] && printf '%s\n' "${METRICS_AGENT_FOLDER}/prometheus"
}

metrics_agent_fetch() {
  local folder=${ROOT}${METRICS_AGENT_FOLDER} archive
  archive=${folder}/prometheus.tar.gz
  fetch_tool prometheus "${archive}" prometheus
  tar --extract --gzip --no-same-owner --to-stdout --wildcards --file="${archive}" '*/prometheus' >"${folder}/prometheus.new"
  chmod -- 0755 "${folder}/prometheus.new"
  mv -f -- "${folder}/prometheus.new" "${folder}/prometheus"
  rm -f -- "${archive}"
}

# A node is known by its name in Slurm, whatever address it has today, and without Slurm by its instance's id, as people
# name it then.
metrics_agent_node() {
  if [[ -n ${NODE[metrics_agent_alone]-} ]]; then
    printf '%s' "${NODE[instance]}"
  else
    printf '%s' "${HOST}"
  fi
}

metrics_agent_targets() {
  local name
  local -A ports=(
    [node]=${NODE[exporters_port]-} [neuron]=${NODE[exporters_neuron_port]-} [gpu]=${NODE[exporters_gpu_port]-}
  )
  if [[ -z ${NODE[metrics_agent_alone]-} ]]; then
    printf '    %s\n' 'file_sd_configs:' "  - files: [\"${METRICS_AGENT_TARGETS}\"]" '    refresh_interval: 30s'
    return
  fi
  printf '    static_configs:\n'
  for name in node neuron gpu; do
    # shellcheck disable=SC2310  # a question
    if "exporters_wants_${name}"; then
      printf '      - {targets: ["127.0.0.1:%s"], labels: {job: %s, node: "%s"}}\n' \
        "${ports[${name}]}" "${name}" "${NODE[instance]}"
    fi
  done
}

# What a node says of others, as Slurm's metrics do, stays.
metrics_agent_configuration() {
  local seconds=${NODE[metrics_agent_scrape_seconds]} node targets
  node=$(metrics_agent_node)
  targets=$(metrics_agent_targets)
  cat <<END
global:
  scrape_interval: ${seconds}s
  scrape_timeout: ${seconds}s
  external_labels:
    cluster: "${NODE[metrics_agent_cluster]}"
scrape_configs:
  - job_name: agent
    static_configs:
      - targets: ["127.0.0.1:${NODE[metrics_agent_port]}"]
        labels: {node: "${node}", instance: "${node}"}
  - job_name: nodes
    honor_labels: true
${targets}
    relabel_configs:
      - {source_labels: [node], target_label: instance}
    metric_relabel_configs:
      - source_labels: [__name__]
        regex: "(go|process|promhttp|python|node_cpu_guest|node_cpu_scaling|node_schedstat|node_scrape|node_softnet)_.*"
        action: drop
remote_write:
  - url: "${NODE[metrics_agent_url]}"
    sigv4: {region: "${NODE[metrics_agent_region]}"}
END
}

# Before Prometheus 3 the agent was a feature that had to be enabled.
metrics_agent_unit() {
  local program mode=--agent told
  program=$(metrics_agent_program)
  told=$("${program/#${METRICS_AGENT_FOLDER}/${ROOT}${METRICS_AGENT_FOLDER}}" --version 2>&1) || told=''
  [[ ! ${told} =~ version\ 2\. ]] || mode=--enable-feature=agent
  printf '%s\n' '[Unit]' 'Description=Metrics of the cluster to its workspace' 'After=network-online.target' \
    'Wants=network-online.target' 'StartLimitIntervalSec=0' '[Service]' 'DynamicUser=yes' "StateDirectory=${METRICS_AGENT}" \
    "ExecStart=${program} ${mode} --config.file=${METRICS_AGENT_FOLDER}/prometheus.yml --storage.agent.path=/var/lib/${METRICS_AGENT} --storage.agent.retention.max-time=${METRICS_AGENT_HOURS}h --storage.agent.wal-truncate-frequency=${METRICS_AGENT_TRUNCATE_HOURS}h --web.listen-address=127.0.0.1:${NODE[metrics_agent_port]}" \
    'Restart=always' 'RestartSec=5' '[Install]' 'WantedBy=multi-user.target'
}

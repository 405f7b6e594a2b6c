# shellcheck shell=bash
# The agent of the metrics: vmagent, which asks exporters and writes what they say to a workspace of Amazon Managed
# Service for Prometheus, signed with the role's credentials. There is one for a cluster with Slurm, on its controller:
# which nodes are to be asked, Slurm says (slurm_metrics.py). Without Slurm each node has its own, which asks that node
# alone. What cannot be written waits on disk, and outlives a restart.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE
# shellcheck source-path=SCRIPTDIR source=../packages.sh
source "${BUNDLE}/lib/packages.sh"
# shellcheck source-path=SCRIPTDIR source=../restarts.sh
source "${BUNDLE}/lib/restarts.sh"

METRICS_AGENT=trainyard-metrics-agent
METRICS_AGENT_FOLDER=/opt/trainyard/metrics-agent
METRICS_AGENT_TARGETS=/var/lib/trainyard/targets/nodes.json
# What is older than an hour the service refuses. An hour of 1.3 million series, taken every 30 seconds: a sample that
# waits was seen to take 25 bytes.
METRICS_AGENT_QUEUE=4GB

step metrics_agent 'metrics to the workspace' 'something else has the port of the agent, or no agent can be fetched' 'exporters'

step_metrics_agent_done() {
  metrics_agent_is_wanted || return 0
  metrics_agent_is_right && metrics_agent_answers >/dev/null 2>&1
}

step_metrics_agent_run() {
  local text
  [[ -x ${ROOT}${METRICS_AGENT_FOLDER}/vmagent-prod ]] || fetch_program vmagent vmagent-prod "${ROOT}${METRICS_AGENT_FOLDER}"
  restart_due "${METRICS_AGENT}"
  mkdir -p -- "${ROOT}${METRICS_AGENT_TARGETS%/*}"
  text=$(metrics_agent_configuration)
  put_file "${ROOT}${METRICS_AGENT_FOLDER}/scrape.yml" 0644 "${text}"
  text=$(metrics_agent_unit)
  put_file "${ROOT}/etc/systemd/system/${METRICS_AGENT}.service" 0644 "${text}"
  systemctl enable -- "${METRICS_AGENT}.service"
  systemctl restart -- "${METRICS_AGENT}.service"
  restart_made "${METRICS_AGENT}"
}

# What it cannot write waits on disk: a workspace that is away for a while keeps no node from its work, and is told.
step_metrics_agent_verify() {
  local reason
  wait_until 60 'the agent of the metrics' metrics_agent_answers
  # shellcheck disable=SC2310  # it is told
  wait_until "$((NODE[metrics_agent_scrape_seconds] + 60))" 'the first samples in the workspace' metrics_agent_has_written || {
    reason=$(metrics_agent_reason)
    warn "no sample has come to the workspace: ${reason}"
  }
}

metrics_agent_is_wanted() {
  [[ -n ${NODE[metrics_agent_url]-} && (-n ${NODE[metrics_agent_alone]-} || ${NODE[role]} == controller) ]]
}

metrics_agent_is_right() {
  local text
  # shellcheck disable=SC2310  # questions
  ! is_restart_due "${METRICS_AGENT}" && systemctl is-active --quiet "${METRICS_AGENT}" \
    && text=$(metrics_agent_configuration) && holds "${ROOT}${METRICS_AGENT_FOLDER}/scrape.yml" "${text}" \
    && text=$(metrics_agent_unit) && holds "${ROOT}/etc/systemd/system/${METRICS_AGENT}.service" "${text}"
}

metrics_agent_answers() {
  curl --silent --show-error --fail --max-time 10 "http://127.0.0.1:${NODE[metrics_agent_port]}/-/ready"
}

# Its own counter of requests that the workspace took (VictoriaMetrics, app/vmagent/remotewrite/client.go).
metrics_agent_has_written() {
  local told
  told=$(curl --silent --show-error --fail --max-time 10 "http://127.0.0.1:${NODE[metrics_agent_port]}/metrics") || return
  [[ ${told} =~ vmagent_remotewrite_requests_total\{[^}]*status_code=\"2XX\"[^}]*\}\ [1-9] ]]
}

# What it complained of last, and what that means.
metrics_agent_reason() {
  local said
  said=$(journalctl --unit="${METRICS_AGENT}" --lines=50 --output=cat --no-pager) || said=''
  said=$(grep -E '(warn|error|fatal|panic)[[:space:]]' <<<"${said}") || said=''
  said=${said##*$'\n'}
  case ${said} in
    '') printf 'the agent says nothing of why, see journalctl --unit=%s' "${METRICS_AGENT}" ;;
    *169.254.169.254* | *credentials*) printf "the instance metadata service gives the agent no credentials of the node's role: %s" "${said}" ;;
    *': 403;'*) printf "the node's role may not write to it (aps:RemoteWrite), or an endpoint's policy forbids it: %s" "${said}" ;;
    *) printf 'the workspace is away, or this node has no way to it (NAT, endpoint aps-workspaces): %s' "${said}" ;;
  esac
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
    printf '    %s\n' 'file_sd_configs:' "  - files: [\"${METRICS_AGENT_TARGETS}\"]"
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
    metric_relabel_configs:
      - source_labels: [__name__]
        regex: "(vmagent_remotewrite|vm_persistentqueue)_[a-z_]*(_total|_bytes|_blocks)|vm_promscrape_scrapes_[a-z_]*total|process_resident_memory_bytes"
        action: keep
  - job_name: nodes
    honor_labels: true
${targets}
    relabel_configs:
      - {source_labels: [node], target_label: instance}
    metric_relabel_configs:
      - source_labels: [__name__]
        regex: "(go|process|promhttp|python|node_cpu_guest|node_cpu_scaling|node_schedstat|node_scrape|node_softnet)_.*"
        action: drop
END
}

# It is root without any capability: on a head node ParallelCluster lets root, its own user and the image's default user ask
# for the role's credentials, and rejects others (aws-parallelcluster-cookbook, recipes/config/imds.rb; HeadNode/Imds/Secured
# is true by default). What an earlier unit with a user of its own left on disk, systemd gives to this one.
# One queue sends, so that the samples of a series arrive in their order. The service takes Prometheus' protocol alone,
# which vmagent would find out by trying. What it signs for is aps where nobody says otherwise.
metrics_agent_unit() {
  local flags=(
    -promscrape.config="${METRICS_AGENT_FOLDER}/scrape.yml" -promscrape.fileSDCheckInterval=30s
    -httpListenAddr="127.0.0.1:${NODE[metrics_agent_port]}" -remoteWrite.url="${NODE[metrics_agent_url]}"
    -remoteWrite.aws.useSigv4=true -remoteWrite.aws.region="${NODE[metrics_agent_region]}"
    -remoteWrite.forcePromProto=true -remoteWrite.queues=1 -remoteWrite.tmpDataPath="/var/lib/${METRICS_AGENT}"
    -remoteWrite.maxDiskUsagePerURL="${METRICS_AGENT_QUEUE}"
  )
  printf '%s\n' '[Unit]' 'Description=Metrics of the cluster to its workspace' 'After=network-online.target' \
    'Wants=network-online.target' 'StartLimitIntervalSec=0' '[Service]' "StateDirectory=${METRICS_AGENT}" \
    'CapabilityBoundingSet=' 'NoNewPrivileges=yes' 'ProtectSystem=strict' 'ProtectHome=yes' 'PrivateTmp=yes' 'RestrictSUIDSGID=yes' \
    "ExecStart=${METRICS_AGENT_FOLDER}/vmagent-prod ${flags[*]}" \
    'Restart=always' 'RestartSec=5' '[Install]' 'WantedBy=multi-user.target'
}

#!/bin/bash
set -Eeuo pipefail
ROOT=/
python3 -c 'import base64, io, sys, tarfile; packed = io.BytesIO(base64.b64decode(sys.stdin.read())); tarfile.open(fileobj=packed, mode="r:bz2").extractall(sys.argv[1])' "${ROOT}" 
==== 644 etc/systemd/system/ecs.service.d/10-trainyard.conf
# No agent, and so no task, on a host that is not fit to serve.
[Unit]
Requires=trainyard-host.service
After=trainyard-host.service
==== 644 etc/systemd/system/trainyard-host.service
[Unit]
Description=Make this host fit to serve: driver, weights, settings of the ECS agent
Documentation=file:/var/log/provision/provisioning.log
Wants=network-online.target
After=network-online.target
Before=ecs.service

[Service]
Type=oneshot
RemainAfterExit=yes
Environment=TRAINYARD_LOG_GRACE=0
ExecStart=/opt/trainyard/boot.sh
# what failed may pass: a permission that comes late, a bucket that is filled; then the agent starts after all
ExecStartPost=-/usr/bin/systemctl start --no-block ecs.service
Restart=on-failure
RestartSec=60
TimeoutStartSec=infinity

[Install]
WantedBy=multi-user.target
==== 755 opt/trainyard/boot.sh
#!/bin/bash
# Every boot of an ECS host: run by trainyard-host.service, which the ECS agent waits for.
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source-path=SCRIPTDIR source=../lib/steps.sh
source "${here}/lib/steps.sh"

# The weights come last, since reading them takes longest: whatever else is wrong shows within seconds.
provision "${here}" settings agent devices mountpoint weights
==== 644 opt/trainyard/lib/steps.sh
==== 755 opt/trainyard/model_files.py
#!/usr/bin/env python3
"""What a model's folder must hold: all of its manifest, as it was written, and what the engine reads.

Arguments: the folder, and what the engine reads (JSON): patterns of files, pieces of weights by rank, values of
neuron_config.json. Or ``--write`` and the folder, to make the manifest of a model that is uploaded by hand. Every file
is read once, which also fills the cache of a mounted bucket. A manifest says of each file how many bytes it has and
their SHA-256: a part of an upload never passes, in whatever order its files arrive.

Hosts run this with their system's Python (3.9 on Amazon Linux 2023), builds with their image's.
"""

from __future__ import annotations

import hashlib
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

MANIFEST = "trainyard-manifest.json"
CONFIG = "neuron_config.json"
_BLOCK = 1 << 20
_AT_ONCE = 4


def facts(path: Path) -> dict[str, Any]:
    """Return what a manifest says of a file; reads all of it."""
    total = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            total.update(block)
    return {"bytes": path.stat().st_size, "sha256": total.hexdigest()}


def files_of(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what a manifest says of every file of a folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return _all_facts({path.relative_to(folder).as_posix(): path for path in paths})


def missing(folder: Path, there: Collection[str], wanted: Mapping[str, Any]) -> list[str]:
    """Return what the engine reads and the folder does not have, or has otherwise."""
    pieces = [wanted["pieces"].replace("*", str(rank)) for rank in range(wanted["ranks"])]
    needed = [*wanted["files"], *pieces]
    found = [f"there is no {name}" for name in needed if not any(fnmatch(known, name) for known in there)]
    if found or not wanted["config"]:
        return found
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    told = {key: str(config.get(key)).replace("torch.", "") for key in wanted["config"]}
    return [
        f"{key} of {CONFIG} is {told[key]}, and the service asks for {value}"
        for key, value in wanted["config"].items()
        if told[key] != str(value)
    ]


def cut_off(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return which files of a manifest are not there, or have not all of their bytes."""
    absent = [name for name in files if not (folder / name).is_file()]
    if absent:
        return [f"{len(absent)} of {len(files)} files are not there, {absent[0]} among them"]
    return [
        f"{name} has not the {fact['bytes']} bytes of the manifest"
        for name, fact in files.items()
        if (folder / name).stat().st_size != fact["bytes"]
    ]


def changed(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return which files of a manifest have other bytes; reads all of them."""
    found = _all_facts({name: folder / name for name in files})
    return [f"{name} has not the SHA-256 of the manifest" for name in files if found[name] != files[name]]


def _all_facts(paths: Mapping[str, Path]) -> dict[str, dict[str, Any]]:
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        asked = {name: pool.submit(facts, path) for name, path in paths.items()}
        return {name: told.result() for name, told in asked.items()}


def problems(folder: Path, wanted: Mapping[str, Any]) -> list[str]:
    """Return everything that is wrong with a folder."""
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return [f"there is no {MANIFEST}, without which nobody knows whether the upload has ended"]
    files = json.loads(manifest.read_text(encoding="utf-8"))["files"]
    return cut_off(folder, files) or missing(folder, files, wanted) or changed(folder, files)


def write(folder: Path, **facts_of_it: object) -> bytes:
    """Write the manifest of a folder, and return it."""
    text = json.dumps({"version": 1, **facts_of_it, "files": files_of(folder)}, indent=2, sort_keys=True)
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    return text.encode()


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        write(Path(sys.argv[2]))
    else:
        sys.exit("; ".join(problems(Path(sys.argv[1]), json.loads(sys.argv[2]))) or 0)
==== 644 opt/trainyard/steps/agent.sh
# shellcheck shell=bash
# Options of the ECS agent, in the place of lines for the same options; others, as the AMI has them, stay.
: "${ROOT?}"
declare -gA SETTINGS

ECS_CONFIG=${ROOT}/etc/ecs/ecs.config

step agent 'set the options of the ECS agent' 'the root file system is full or read-only'

step_agent_done() {
  local wanted
  wanted=$(agent_config) && holds "${ECS_CONFIG}" "${wanted}"
}

step_agent_run() {
  local wanted
  wanted=$(agent_config)
  put_file "${ECS_CONFIG}" 0600 "${wanted}"
}

step_agent_verify() {
  step_agent_done
}

agent_config() {
  local key
  # shellcheck disable=SC2310  # there may be none yet
  [[ ! -e ${ECS_CONFIG} ]] || agent_other_options
  # shellcheck disable=SC2312  # neither can fail
  for key in "${!SETTINGS[@]}"; do
    [[ ${key} != ECS_* ]] || printf '%s=%s\n' "${key}" "${SETTINGS[${key}]}"
  done | LC_ALL=C sort
}

agent_other_options() {
  local line
  while IFS= read -r line || [[ -n ${line} ]]; do
    [[ -z ${line} || -v SETTINGS[${line%%=*}] ]] || printf '%s\n' "${line}"
  done <"${ECS_CONFIG}"
}
==== 644 opt/trainyard/steps/devices.sh
# shellcheck shell=bash
# The Neuron driver, and the devices that the task is given. A driver that the engine's runtime library cannot talk to
# shows only as a task that dies at nrt_init(), again and again: so it is asked here.
: "${ROOT?}"
declare -gA SETTINGS

NEURON_LS=${ROOT}/opt/aws/neuron/bin/neuron-ls

step devices 'ask the Neuron driver for its version and its devices' \
  'another AMI than the pinned one, or broken hardware: terminate the instance and let the group replace it'

step_devices_done() {
  false # hardware is asked at every boot
}

step_devices_run() {
  local version
  wait_until 120 "${SETTINGS[devices]} Neuron devices" devices_present
  version=$(cat -- "${ROOT}/sys/module/neuron/version")
  log "Neuron driver ${version}"
  # shellcheck disable=SC2310  # questions
  if [[ -n ${SETTINGS[driver_from]} ]] && ! devices_at_least "${version}" "${SETTINGS[driver_from]}"; then
    fail "driver ${version} is older than ${SETTINGS[driver_from]}, which the engine's runtime library needs"
  fi
  # shellcheck disable=SC2310
  if [[ -n ${SETTINGS[driver_before]} ]] && devices_at_least "${version}" "${SETTINGS[driver_before]}"; then
    fail "driver ${version} is not older than ${SETTINGS[driver_before]}: the engine's runtime library is too old for it"
  fi
}

step_devices_verify() {
  timeout 60 "${NEURON_LS}" --json-output >/dev/null || fail 'neuron-ls cannot talk to the devices'
}

devices_present() {
  local found
  found=("${ROOT}"/dev/neuron[0-9]*)
  [[ -e ${found[0]} ]] && ((${#found[@]} >= SETTINGS[devices]))
}

# devices_at_least VERSION OTHER
devices_at_least() {
  local sorted
  sorted=$(sort -V <<<"$1"$'\n'"$2") && [[ ${sorted%%$'\n'*} == "$2" ]]
}
==== 644 opt/trainyard/steps/mountpoint.sh
# shellcheck shell=bash
# Mountpoint for Amazon S3, from Amazon Linux's own repository (since 2023.9.20251110).
: "${ROOT?}"

step mountpoint 'install Mountpoint for Amazon S3' \
  "no way to Amazon Linux's repository: it needs a route out, or an S3 endpoint whose policy lets al2023-repos-* through"

step_mountpoint_done() {
  command -v mount-s3 >/dev/null
}

step_mountpoint_run() {
  wait_until 600 'dnf, which the SSM agent may hold at the first boot' dnf -q -y install mount-s3
}

step_mountpoint_verify() {
  mount-s3 --version
}
==== 644 opt/trainyard/steps/settings.sh
# shellcheck shell=bash
# What this host serves. Every other step reads SETTINGS, which the user data wrote as lines of key=value.
: "${BUNDLE?}"
declare -gA SETTINGS=()

step settings 'read what this host serves' 'the user data was cut off: look at /var/log/cloud-init-output.log'

step_settings_done() {
  false # has to be read by every run
}

step_settings_run() {
  local key value
  while IFS='=' read -r key value; do
    SETTINGS[${key}]=${value}
  done <"${BUNDLE}/settings"
}

step_settings_verify() {
  log "cluster ${SETTINGS[ECS_CLUSTER]}, weights ${SETTINGS[source]}"
}
==== 644 opt/trainyard/steps/weights.sh
# shellcheck shell=bash
# The weights: a folder of the model bucket, mounted read-only before the agent starts, so that every task finds it
# and none keeps the handle of an older mount. It is compared with its manifest, byte by byte: that fills Mountpoint's
# cache on the volume (engines map the files, and map them slowly over the network), and a host that boots during an
# upload stays without an agent until the upload has ended.
: "${ROOT?}" "${BUNDLE?}"
declare -gA SETTINGS

step weights 'mount the weights and compare them with their manifest' \
  "the upload has not ended, the folder is another, or the host's role may not list, read or decrypt it"

step_weights_done() {
  weights_mounted 2>/dev/null && [[ -e ${ROOT}/run/trainyard-weights-read ]]
}

step_weights_run() {
  local path=${ROOT}${SETTINGS[mount]} mounts
  # What mount-s3 leaves when it dies, as when memory runs out, answers nothing and lets nothing be mounted in its place.
  mountpoint -q -- "${path}" || umount --lazy -- "${path}" 2>/dev/null || true
  mkdir -p -- "${path}" "${ROOT}${SETTINGS[cache]}"
  chmod -- 0700 "${ROOT}${SETTINGS[cache]}" # objects lie in it as they are; the volume is encrypted
  mounts=$(weights_fstab)
  put_file "${ROOT}/etc/fstab" 0644 "${mounts}"
  systemctl daemon-reload
  wait_until 300 "the mount of ${SETTINGS[source]}" weights_mount "${path}"
  python3 "${BUNDLE}/model_files.py" "${path}" "${SETTINGS[layout]}" \
    || fail "${SETTINGS[source]} cannot be served, see above: upload the model there, its manifest last, or name the folder that has it"
  touch "${ROOT}/run/trainyard-weights-read" # gone after a reboot, as Mountpoint's cache is
}

step_weights_verify() {
  weights_mounted
}

weights_mount() {
  mountpoint -q -- "$1" || mount -- "$1"
}

weights_mounted() {
  mountpoint -q -- "${ROOT}${SETTINGS[mount]}" && weights_answer
}

weights_answer() {
  timeout 60 ls -- "${ROOT}${SETTINGS[mount]}/" >/dev/null
}

# nofail: a host whose bucket is away still boots and can be looked at; the agent waits for boot.sh, not for the mount.
# Times to live that end: what is uploaded after a look is seen by the next one.
weights_fstab() {
  # shellcheck disable=SC2310  # there may be none yet
  [[ ! -e ${ROOT}/etc/fstab ]] \
    || awk -v path="${SETTINGS[mount]}" '$2 != path || /^[[:space:]]*#/' "${ROOT}/etc/fstab"
  printf '%s %s mount-s3 %s 0 0\n' "${SETTINGS[source]}" "${SETTINGS[mount]}" \
    "_netdev,nosuid,nodev,nofail,ro,allow-other,region=${SETTINGS[region]},cache=${SETTINGS[cache]},metadata-ttl=60,negative-metadata-ttl=10"
}
====
cat >"${ROOT}/opt/trainyard/settings" <<'TRAINYARD_END_OF_FILE'
ECS_AWSVPC_BLOCK_IMDS=true
ECS_CLUSTER=serving
ECS_CONTAINER_START_TIMEOUT=10m
ECS_CONTAINER_STOP_TIMEOUT=120s
ECS_ENABLE_SPOT_INSTANCE_DRAINING=true
ECS_IMAGE_PULL_BEHAVIOR=prefer-cached
cache=/var/cache/trainyard/model
devices=1
driver_before=2.29
driver_from=
layout={"files": ["config.json", "tokenizer.[jm]*", "tokenizer_config.json", "neuron_config.json", "model.pt"], "pieces": "checkpoint/weights/tp*_sharded_checkpoint.safetensors", "ranks": 2, "config": {"batch_size": 4, "sequence_length": 4096, "tp_degree": 2, "torch_dtype": "bfloat16"}}
mount=/mnt/trainyard/model
region=us-west-2
source=s3://some-models/models/llama/3f9a0c51d7e2/
TRAINYARD_END_OF_FILE
# shellcheck shell=bash
# The end of the user data, after the files were written: from here on systemd runs boot.sh, now and at every boot.
# The agent's unit requires trainyard-host.service: where that fails, the agent stays down and no task is placed.
systemctl daemon-reload
systemctl enable trainyard-host.service
systemctl start trainyard-host.service

#!/bin/sh
# Beside the engine, in vmagent's own image, with the shell that is there: who this task is and which host it is on, which
# its samples are labelled with, and then the agent. Arguments: its flags. SCRAPE: what it asks, as JSON.
# shellcheck disable=SC2250  # it stands in a template, where a name in braces looks like a parameter
set -eu
: "${SCRAPE:?}" "${ECS_CONTAINER_METADATA_URI_V4:?}"
told=$(wget -q -O - "$ECS_CONTAINER_METADATA_URI_V4/task")
task=$(printf '%s' "$told" | grep -o '"TaskARN": *"[^"]*"' | head -n 1)
task=${task%\"}
TASK=${task##*/}
: "${TASK:?the task metadata names no TaskARN}"
# of a Nitro instance, its id
NODE=$(cat "${ROOT-}/sys/devices/virtual/dmi/id/board_asset_tag" || true)
NODE=${NODE:-$TASK}
export NODE TASK
printf '%s' "$SCRAPE" >"${ROOT-}/config/scrape.json"
exec "${ROOT-}/vmagent-prod" "$@"

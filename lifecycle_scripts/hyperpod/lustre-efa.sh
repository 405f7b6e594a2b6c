#!/bin/bash
# Gives LNet, which Lustre speaks through, the EFA interfaces of this node beside TCP, and EFA the preference: the commands
# of "Configuring EFA clients" in the FSx for Lustre user guide. Says in its last line why it cannot.
set -Eeuo pipefail
ROOT=${TRAINYARD_ROOT:-}
OLDEST_DRIVER=2.12.1                       # of EFA
HALF=${ROOT}/run/trainyard-lustre-efa.half # while there is a part of what follows

refuse() {
  echo "$*" >&2
  lnetctl net del --net efa 2>/dev/null || true # half of it is worse than nothing
  exit 1
}

command -v lnetctl >/dev/null || refuse 'the image has no lnetctl, and with it no client of Lustre 2.15 or newer'
devices=("${ROOT}"/sys/class/infiniband/*)
[[ -e ${devices[0]} ]] || refuse 'the node has no EFA device that its driver has taken'
driver=$(<"${ROOT}/sys/module/efa/version")
oldest=$(printf '%s\n%s\n' "${OLDEST_DRIVER}" "${driver}" | sort -V | head -n 1)
[[ ${oldest} == "${OLDEST_DRIVER}" ]] || refuse "the EFA driver is ${driver}, and must be ${OLDEST_DRIVER} or newer"
interface=$(ip -o -4 route show default)
interface=${interface#*dev } interface=${interface%% *}

touch -- "${HALF}"
modprobe lnet || refuse 'the module lnet cannot be loaded'
modprobe kefalnd "ipif_name=${interface}" || refuse 'the module kefalnd cannot be loaded: the client of Lustre is without EFA'
modprobe ksocklnd || refuse 'the module ksocklnd cannot be loaded'
lnetctl lnet configure || refuse 'LNet cannot be configured'
lnetctl net del --net tcp 2>/dev/null || true
lnetctl net add --net tcp --if "${interface}" || refuse "LNet does not take ${interface} for TCP"
# The guide takes every fourth of the 32 interfaces of P5, else the first and the last one.
chosen=("${devices[0]##*/}")
if ((${#devices[@]} >= 32)); then
  for ((number = 4; number < ${#devices[@]}; number += 4)); do
    chosen+=("${devices[number]##*/}")
  done
elif ((${#devices[@]} > 1)); then
  chosen+=("${devices[-1]##*/}")
fi
lnetctl net del --net efa 2>/dev/null || true # of a run that was cut off
for device in "${chosen[@]}"; do
  lnetctl net add --net efa --if "${device}" --peer-credits 32 || refuse "LNet does not take the EFA device ${device}"
done
lnetctl set discovery 1 || refuse 'LNet does not look for the other network'
lnetctl udsp add --src efa --priority 0 || refuse 'LNet does not prefer EFA'
rm -f -- "${HALF}"

#!/bin/bash
set -Eeuo pipefail
echo configured >>/var/log/provision/provisioning.log

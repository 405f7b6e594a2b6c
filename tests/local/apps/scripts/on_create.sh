#!/bin/bash
set -Eeuo pipefail
echo "a node of the test app"

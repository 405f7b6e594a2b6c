# shellcheck shell=bash
# What is written but not yet taken by who runs. A run that is killed between a new file and the restart leaves the file
# right and the old daemon running: a mark says so, for the `done` of the next run. It is made before the file and goes
# after the restart. It is in /run, since a boot starts every daemon with the new file.
: "${ROOT?}"

RESTARTS_DUE=${ROOT}/run/trainyard

# restart_due NAME: from now on, until restart_made, what runs may not be what is written.
restart_due() {
  mkdir -p -- "${RESTARTS_DUE}"
  touch -- "${RESTARTS_DUE}/restart-$1"
}

restart_made() {
  rm -f -- "${RESTARTS_DUE}/restart-$1"
}

is_restart_due() {
  [[ -e ${RESTARTS_DUE}/restart-$1 ]]
}

# shellcheck shell=bash
# The clock: TLS, the signatures of AWS and munge refuse whoever is some minutes off. chrony sets a clock that is far off
# only at its first measurements, and by fractions of a second per second after that: hence makestep.
: "${BUNDLE?}"

step clock 'compare the clock with the time service' \
  'chrony does not run, or cannot set the clock: see chronyc tracking and journalctl -u chrony' 'network'

step_clock_done() {
  clock_tells >/dev/null 2>&1
}

step_clock_run() {
  clock_is_not_wrong || clock_set
  wait_until 300 'a clock that is right' clock_is_not_wrong
}

step_clock_verify() {
  clock_tells || warn 'whether the clock is right is not known'
}

# Exit codes: 0 it is right, 1 it is wrong, 75 nobody answers. Says which.
clock_tells() {
  python3 -ISB "${BUNDLE}/clock.py" ${TRAINYARD_CLOCK:+--server "${TRAINYARD_CLOCK}"}
}

clock_is_not_wrong() {
  local code=0
  clock_tells || code=$?
  ((code != 1))
}

clock_set() {
  ! command -v chronyc >/dev/null || chronyc makestep || warn 'chrony cannot set it'
}

# shellcheck shell=bash
# The end of the user data, after the files were written: from here on systemd runs boot.sh, now and at every boot.
# The agent's unit requires trainyard-host.service: where that fails, the agent stays down and no task is placed.
systemctl daemon-reload
systemctl enable trainyard-host.service
systemctl start trainyard-host.service

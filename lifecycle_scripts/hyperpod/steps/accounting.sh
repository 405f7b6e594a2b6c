# shellcheck shell=bash
# Slurm's accounting, on the controller: a MariaDB of its own, or the database of the stack. Before slurmctld starts for the
# first time: one that is told of its accounting later refuses it (CLUSTER ID MISMATCH).
#
# The password stands in slurmdbd.conf, which slurmdbd takes from its own user alone, and nowhere else: it is made here, or
# read from Secrets Manager by the node's role; it is no argument of a program and no line of a log.
: "${ROOT?}" "${BUNDLE?}" "${HOST?}"
declare -gA NODE

ACCOUNTING_CONF=${ROOT}/opt/slurm/etc/slurmdbd.conf
ACCOUNTING_AUTHORITY=/opt/slurm/etc/accounting-ca.pem
ACCOUNTING_BIN=${ROOT}/opt/slurm/bin
ACCOUNTING_DATA=${ROOT}/var/lib/mysql

step accounting "Slurm's accounting" \
  'the database does not run or lets nobody in, the role may not read the secret, or slurmdbd refuses: see journalctl -u slurmdbd' \
  'slurm_conf clock'

step_accounting_done() {
  [[ -z ${NODE[accounting]-} || ${NODE[role]} != controller ]] \
    || { accounting_conf_is_whole && accounting_units accounting_holds && accounting_answers && accounting_knows_cluster; } >/dev/null 2>&1
}

step_accounting_run() {
  [[ -n ${NODE[accounting_endpoint]-} ]] || accounting_start_database
  [[ -z ${NODE[accounting_authority]-} ]] || accounting_trust
  wait_until 300 'the password of the database' accounting_write_conf_or_never
  accounting_write_conf
  [[ -n ${NODE[accounting_endpoint]-} ]] || accounting_let_in
  accounting_units put_file
  systemctl enable munge slurmdbd
  systemctl start munge
  systemctl restart slurmdbd
  wait_until 300 'an answer of slurmdbd' accounting_answers
  wait_until 60 'the cluster in the accounting' accounting_register
}

step_accounting_verify() {
  accounting_knows_cluster
}

# ---------------------------------------------------------------- the database
accounting_start_database() {
  [[ -d ${ACCOUNTING_DATA}/mysql ]] || accounting_make_database
  systemctl enable mariadb
  systemctl start mariadb
  wait_until 300 'an answer of MariaDB' accounting_sql <<<'SELECT 1;'
}

# An image may bring the programs alone. The database is made aside, and its folder mysql gets its place last: in a place
# where there are tables mariadb-install-db makes no accounts, and one that was cut off before would never let root in.
accounting_make_database() {
  local new=${ACCOUNTING_DATA}/trainyard-new part
  mkdir -p -- "${ACCOUNTING_DATA}"
  chown -- mysql: "${ACCOUNTING_DATA}"
  rm -rf -- "${new}"
  mariadb-install-db --user=mysql --datadir="${new}" --auth-root-authentication-method=socket --skip-test-db >/dev/null
  sync --file-system -- "${new}"
  for part in "${new}"/*; do
    [[ ${part} != */mysql ]] || continue
    rm -rf -- "${ACCOUNTING_DATA:?}/${part##*/}" # of a run that was cut off here
    mv -- "${part}" "${ACCOUNTING_DATA}/"
  done
  mv -- "${new}/mysql" "${ACCOUNTING_DATA}/"
  rm -rf -- "${new}"
}

# Root of the system is root of MariaDB, by the socket. The words come from standard input: arguments are seen by everybody.
accounting_sql() {
  mysql --protocol=socket --batch --skip-column-names
}

accounting_let_in() {
  local user password
  user=$(accounting_of StorageUser)
  password=$(accounting_of StoragePass)
  accounting_sql <<<"CREATE DATABASE IF NOT EXISTS ${NODE[accounting_schema]:-slurm_acct_db};
CREATE USER IF NOT EXISTS '${user}'@'localhost';
ALTER USER '${user}'@'localhost' IDENTIFIED BY '${password}';
GRANT ALL ON ${NODE[accounting_schema]:-slurm_acct_db}.* TO '${user}'@'localhost';"
}

accounting_trust() {
  local certificates
  certificates=$(<"${BUNDLE}/${NODE[accounting_authority]}")
  put_file "${ROOT}${ACCOUNTING_AUTHORITY}" 0644 "${certificates}"
}

# ---------------------------------------------------------------- slurmdbd
# accounting_units COMMAND: calls COMMAND PATH MODE TEXT for each drop-in. After a power cut all start at once: slurmdbd gives up
# without its database, and slurmctld without slurmdbd and what it had saved. Each tries again until the other is there.
accounting_units() {
  local after unit text
  for unit in slurmdbd slurmctld; do
    after=mariadb.service
    [[ ${unit} == slurmdbd ]] || after=slurmdbd.service
    text=$(printf '%s\n' '[Unit]' "After=${after}" 'StartLimitIntervalSec=0' '[Service]' 'Restart=on-failure' 'RestartSec=5') \
      && "$1" "${ROOT}/etc/systemd/system/${unit}.service.d/trainyard-accounting.conf" 0644 "${text}" || return
  done
}

accounting_holds() {
  holds "$1" "$3"
}

accounting_of() {
  sed -n "s/^$1=//p" -- "${ACCOUNTING_CONF}"
}

accounting_slurm_user() {
  local user
  user=$(sed -n 's/^[[:space:]]*SlurmUser[[:space:]]*=[[:space:]]*//p' -- "${ROOT}/opt/slurm/etc/slurm.conf")
  printf '%s' "${user:-root}"
}

accounting_cluster() {
  local name
  name=$(sed -n 's/^[[:space:]]*ClusterName[[:space:]]*=[[:space:]]*//p' -- "${ROOT}/opt/slurm/etc/slurm.conf")
  printf '%s' "${name,,}"
}

# The file of another database, or of none, is written again.
accounting_conf_is_whole() {
  local host
  host=$(accounting_of StorageHost) && [[ ${host} == "${NODE[accounting_endpoint]:-localhost}" ]]
}

# What slurmdbd_conf.py is told: the secret, or that it has to think one up.
accounting_secret() {
  local region=${NODE[accounting_secret]-}
  [[ -n ${region} ]] || return 0
  region=${region#arn:*:secretsmanager:}
  aws secretsmanager get-secret-value --secret-id "${NODE[accounting_secret]}" --region "${region%%:*}" \
    --query SecretString --output text
}

# Nobody but its owner ever sees the file, not even for a moment. A password that was made here is kept.
accounting_write_conf() {
  local user secret code=0 new=${ACCOUNTING_CONF}.trainyard-new
  [[ -n ${NODE[accounting_secret]-} ]] || ! accounting_conf_is_whole 2>/dev/null || return 0
  user=$(accounting_slurm_user) && secret=$(accounting_secret) || return 1
  (umask 077 && python3 -ISB "${BUNDLE}/slurmdbd_conf.py" --host "${HOST}" --address "${NODE[address]}" \
    --slurm-user "${user}" --database "${NODE[accounting_endpoint]:-localhost}" --port "${NODE[accounting_port]:-3306}" \
    --schema "${NODE[accounting_schema]:-slurm_acct_db}" \
    --authority "${NODE[accounting_authority]:+${ACCOUNTING_AUTHORITY}}" <<<"${secret}" >"${new}") || code=$?
  ((code == 0)) && chown -- "${user}:" "${new}" && mv -f -- "${new}" "${ACCOUNTING_CONF}" || return "$((code ? code : 1))"
}

# Exit code 65: the secret is not one of a database, and will not be. Then waiting ends, and asking again says why.
accounting_write_conf_or_never() {
  local code=0
  accounting_write_conf || code=$?
  ((code == 0 || code == 65))
}

accounting_answers() {
  timeout 20 "${ACCOUNTING_BIN}/sacctmgr" --noheader --parsable2 show cluster format=cluster
}

accounting_knows_cluster() {
  local known cluster
  known=$(accounting_answers) && cluster=$(accounting_cluster) && grep -qxF -e "${cluster}" <<<"${known}"
}

accounting_register() {
  local cluster
  accounting_knows_cluster >/dev/null \
    || { cluster=$(accounting_cluster) && timeout 60 "${ACCOUNTING_BIN}/sacctmgr" --immediate add cluster "${cluster}"; }
}

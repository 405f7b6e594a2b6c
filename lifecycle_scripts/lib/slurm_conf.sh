# shellcheck shell=bash
# What is ours in Slurm's configuration, on the controller: blocks of accounting.conf, which HyperPod leaves empty and its
# slurm.conf includes. Of several values Slurm takes the last, so the file is included after whatever else sets our keys.
# slurm.conf itself is only added to, since HyperPod may be writing it.
: "${ROOT?}"

SLURM_ETC=${ROOT}/opt/slurm/etc

# slurm_conf_with MARK LINES: accounting.conf with these lines in the block of the mark; without the block when there are none.
slurm_conf_with() {
  local path=${SLURM_ETC}/accounting.conf
  [[ -e ${path} ]] || path=/dev/null
  awk -v mark="$1" -v lines="$2" '
    function put() { if (lines != "" && !done++) printf "%s: begin\n%s\n%s: end\n", mark, lines, mark }
    $0 == mark ": begin" { ours = 1; put() }
    !ours
    $0 == mark ": end" { ours = 0 }
    END { put() }' "${path}"
}

# slurm_conf_value KEY MARK: the last value that anybody else than the block of the mark gives it; nothing when nobody does.
slurm_conf_value() {
  local others
  others=$(slurm_conf_with "$2" '') && awk -v wanted="${1,,}" '
    { sub(/#.*/, ""); sub(/[ \t]+$/, ""); key = tolower($0); sub(/^[ \t]+/, "", key); sub(/[ \t]*=.*/, "", key) }
    key == wanted && sub(/^[^=]*=[ \t]*/, "") { value = $0 }
    END { print value }' "${SLURM_ETC}/slurm.conf" - <<<"${others}"
}

# slurm_conf_counts LINES: whether accounting.conf is included, and after every other line that sets a key of these lines.
slurm_conf_counts() {
  local keys
  keys=$(sed -n 's/^\([A-Za-z]*\)=.*/\1/p' <<<"$1") && awk -v keys="${keys,,}" '
    BEGIN { count = split(keys, list, "\n"); for (number = 1; number <= count; number++) ours[list[number]] }
    { line = tolower($0); sub(/^[ \t]+/, "", line); key = line; sub(/[ \t]*=.*/, "", key) }
    line ~ /^include[ \t]+(\/opt\/slurm\/etc\/)?accounting\.conf[ \t]*$/ { counts = 1 }
    key in ours { counts = 0 }
    END { exit !counts }' "${SLURM_ETC}/slurm.conf"
}

# slurm_conf_has MARK LINES
slurm_conf_has() {
  local text
  text=$(slurm_conf_with "$@") && { [[ -z ${text} && ! -e ${SLURM_ETC}/accounting.conf ]] || holds "${SLURM_ETC}/accounting.conf" "${text}"; } \
    && { [[ -z $2 ]] || slurm_conf_counts "$2"; }
}

# slurm_conf_put MARK LINES: the block, and one more line in slurm.conf where it would not count.
slurm_conf_put() {
  local text line='Include accounting.conf'
  text=$(slurm_conf_with "$@")
  put_file "${SLURM_ETC}/accounting.conf" 0644 "${text}"
  # shellcheck disable=SC2310  # a question
  slurm_conf_has "$@" || {
    text=$(cat -- "${SLURM_ETC}/slurm.conf" && printf 'end')
    [[ ${text} == *$'\n'end ]] || line=$'\n'${line}
    printf '%s\n' "${line}" >>"${SLURM_ETC}/slurm.conf"
  }
}

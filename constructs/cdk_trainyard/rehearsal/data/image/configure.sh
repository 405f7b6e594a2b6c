#!/bin/bash
# Turns a fresh Debian tree into the machine image of rehearsal nodes: configure.sh ROOT. Run by image.py while it builds.
# Laid out as HyperPod's image: /opt/slurm/{bin,sbin,etc}, units in /etc/systemd/system, every daemon installed and
# stopped, no key and no secret: a script that forgets to make or fetch one must fail here as it would there.
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=$1

# ---------------------------------------------------------------- the stand-in of HyperPod's auto-resume, built here
plugins=$(chroot "${root}" bash -c 'dirname /usr/lib/*/slurm*/auth_munge.so')
cp -- "${here}/auto_resume.c" "${root}/root/"
chroot "${root}" gcc -Wall -Wextra -O1 -shared -fPIC -o "${plugins}/auto_resume_standin.so" /root/auto_resume.c
rm -- "${root}/root/auto_resume.c"
chroot "${root}" apt-get purge --yes --quiet=2 --auto-remove gcc libc6-dev libslurm-dev

# ---------------------------------------------------------------- daemons: installed, not running
units=(
  slurmctld slurmd slurmdbd munge mariadb.service mariadb.socket prometheus-node-exporter prometheus prometheus-alertmanager
  victoria-metrics
  prometheus-node-exporter-apt.timer prometheus-node-exporter-nvme.timer prometheus-node-exporter-mdadm.timer
  prometheus-node-exporter-ipmitool-sensor.timer prometheus-node-exporter-smartmon.timer apt-daily.timer
  apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer
)
for unit in "${units[@]}"; do
  systemctl --root="${root}" --quiet disable "${unit}" 2>/dev/null || true # not every Debian has every one of them
done
systemctl --root="${root}" --quiet mask getty@tty1.service console-getty.service systemd-networkd-wait-online.service \
  systemd-journal-flush.service
# Every unit has a file: systemctl need not tell scripts of System V that it is enabled, nor systemd look for such
# scripts, and for encrypted disks, at every daemon-reload. That was most of what it took.
rm -f -- "${root}"/etc/init.d/{mariadb,munge,prometheus*,slurm*,ssh,victoria-metrics}
install -d -- "${root}/etc/systemd/system-generators"
for kind in cryptsetup gpt-auto hibernate-resume integritysetup rc-local sysv veritysetup; do
  ln -s /dev/null "${root}/etc/systemd/system-generators/systemd-${kind}-generator"
done
rm -f -- "${root}/etc/munge/munge.key" "${root}"/etc/ssh/ssh_host_* "${root}/etc/apt/apt.conf.d/99mmdebstrap"
: >"${root}/etc/machine-id"
# The key exchange that withstands quantum computers is four fifths of what a log-in takes.
printf 'KexAlgorithms -sntrup761*\n' >"${root}/etc/ssh/sshd_config.d/50-exchange.conf"
# What Python imports stays, and is not searched for garbage while it is imported, nor once more when Python ends.
printf 'import atexit, gc; gc.set_threshold(100_000); atexit.register(gc.freeze)\n' \
  >"${root}/usr/lib/python3/dist-packages/threshold.pth"

# ---------------------------------------------------------------- HyperPod's layout
install -d -- "${root}"/opt/{slurm,sagemaker_cluster,ml/config} "${root}"/var/log/{slurm,provision} \
  "${root}"/var/spool/{slurmd,slurmctld} "${root}/etc/slurm"
ln -sfn /usr/bin "${root}/opt/slurm/bin"
ln -sfn /usr/sbin "${root}/opt/slurm/sbin"
ln -sfn /etc/slurm "${root}/opt/slurm/etc"
chroot "${root}" chown slurm:slurm /var/spool/slurmctld /var/log/slurm
install -m 644 -t "${root}/etc/systemd/system" -- "${here}"/*.service
systemctl --root="${root}" --quiet enable ssh-hostkeys
install -m 755 -- "${here}/mount-lustre.sh" "${root}/sbin/mount.lustre"
install -m 755 -- "${here}/auto-resume-agent.sh" "${root}/opt/sagemaker_cluster/auto-resume-agent"

# What nodes would fetch, and have no way out to: the agent of metrics, of which Debian has an older release.
install -D -m 755 -- "${here}/vmagent-prod.sh" "${root}/opt/trainyard/metrics-agent/vmagent-prod"

# ---------------------------------------------------------------- the user of Ubuntu's images
chroot "${root}" useradd --create-home --uid 1000 --shell /bin/bash ubuntu
printf 'ubuntu ALL=(ALL) NOPASSWD:ALL\n' >"${root}/etc/sudoers.d/90-ubuntu"
chmod 440 -- "${root}/etc/sudoers.d/90-ubuntu"
chroot "${root}" slurmd -V

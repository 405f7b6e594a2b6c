"""Slurm's parameters that go together, or do not."""

from typing import Any

import pytest

from tests.parallelcluster.slurm import TOKEN, named, problems


@pytest.mark.parametrize(
    "said",
    [
        {"custom": [{"KillWait": 60}, {"schedulerparameters": "bf_max_time=600,defer"}, {"TrackWCKey": "yes"}]},
        {
            "custom": [
                {"PreemptMode": "GANG"},
                {"PrologFlags": "alloc,X11"},
                {"SlurmdDebug": 5},
                {"MaxJobCount": "10000"},
            ]
        },
        {"custom": [{"MaxArraySize": "4000001"}, {"MaxMemPerNode": 4294967296}, {"MaxDBDMsgs": "UNLIMITED"}]},
        {"custom": [{"CommunicationParameters": "DisableIPv4,EnableIPv6"}, {"EnforcePartLimits": "Any"}]},
        {"custom": [{"PriorityCalcPeriod": "1:00"}, {"PriorityMaxAge": "7-0"}, {"PreemptExemptTime": "-1"}]},
        {"custom": [{"TaskPluginParam": "cores,autobind=threads,verbose"}, {"BcastExclude": "NONE"}]},
        {"custom": [{"TaskPluginParam": '"autobind=none,OOMKillStep"'}, {"DebugFlags": '"NO_CONF_HASH,power"'}]},
        {"custom": [{"PropagateResourceLimits": "NONE"}, {"SchedulerParameters": "max_script_size=536870912"}]},
        {"custom": [{"PropagateResourceLimitsExcept": "RLIMIT_MEMLOCK,STACK"}, {"DebugFlags": TOKEN}]},
        {"custom": [{"FirstJobId": 1000}, {"MaxJobId": 1000}, {"SlurmctldPort": "6820-6821"}]},
        {"custom": [{"MCSPlugin": "mcs/group"}, {"MCSParameters": "ondemand,select:a|b"}, {"FirstJobId": TOKEN}]},
        {"custom": [{"MCSPlugin": "mcs/user"}, {"SlurmSchedLogLevel": 0}, {"MaxNodeCount": 9}]},
        {"custom": [{"SlurmSchedLogLevel": 1}, {"SlurmSchedLogFile": "/var/log/sched.log"}]},
        {"custom": [{"MCSParameters": "enforced"}, {"MCSPlugin": TOKEN}], "memory_scheduling": True},
        {"custom": [{"AccountingStoreFlags": "job_comment,JOB_SCRIPT"}, {"LogTimeFormat": "iso8601_ms,format_stderr"}]},
        {"custom": [{"PriorityFlags": "FAIR_TREE,max_tres_gres"}, {"PrivateData": "cloud,jobs,users"}]},
        {"custom": [{"PriorityWeightQOS": TOKEN}, {"SelectTypeParameters": TOKEN}], "memory_scheduling": True},
        {"custom": [{"PrivateData": "none"}, {"AccountingStoreFlags": "none"}, {"PriorityFlags": "NONE"}]},
        {"custom": [{"PriorityWeightAge": 0}, {"PriorityWeightPartition": 9}, {"AccountingStorageTRES": "fs/disk"}]},
        {"custom": [{"PrologSlurmctld": "/shared/a"}, {"prologslurmctld": "/shared/b"}, {"KillWait": 60}]},
        {"custom": [{"EpilogSlurmctld": "/shared/a"}, {"EpilogSlurmctld": "/shared/b"}]},
        {"custom": [{"SrunProlog": "none"}, {"TaskProlog": "prolog.sh"}, {"MailProg": '"/usr/bin/mail"'}]},
        {"custom": [{"HealthCheckProgram": TOKEN}, {"RebootProgram": "reboot"}, {"SlurmdSpoolDir": "/var/spool/%n"}]},
        {"custom": [{"PriorityWeightQOS": 5}, {"AccountingStorageEnforce": "limits"}], "image_id": "ami-12345678"},
    ],
    ids=named,
)
def test_what_slurm_reads_is_taken(said: dict[str, Any]) -> None:
    assert problems(**said) == []


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (
            {"custom": [{"FirstJobId": 1000}, {"MaxJobId": 999}]},
            "'slurm.custom[0].FirstJobId' must be at most MaxJobId, 999, got 1000; Slurm would not start",
        ),
        ({"custom": [{"FirstJobId": 67043329}]}, "must be at most MaxJobId, 67043328, got 67043329"),
        ({"custom": [{"FirstJobId": "70000K"}, {"MaxJobId": "UNLIMITED"}]}, "MaxJobId, 67108863, got 70000K"),
        (
            {"custom": [{"MCSParameters": "enforced"}]},
            "'slurm.custom[0].MCSParameters' must be given with MCSPlugin, as mcs/group, in a line of its own, got",
        ),
        ({"custom": [{"MCSParameters": "enforced"}, {"MCSPlugin": "mcs/none"}]}, "must be given with MCSPlugin"),
        ({"custom": [{"MCSPlugin": "mcs/group"}]}, "must be given with MCSParameters, the groups, in a line of its"),
        ({"custom": [{"SlurmSchedLogLevel": 1}]}, "must be given with SlurmSchedLogFile in a line of its own, got 1"),
        (
            {"custom": [{"PriorityDecayHalfLife": "0-0"}]},
            "must be given with PriorityUsageResetPeriod, as MONTHLY, in a line of its own, got 0-0 without",
        ),
        (
            {"custom": [{"JobContainerType": "job_container/tmpfs"}, {"PrologFlags": "Alloc"}]},
            "'slurm.custom[0].JobContainerType' must be given with PrologFlags Contain in a line of its own, got 'job",
        ),
        (
            {"custom": [{"JobAcctGatherParams": "OverMemoryKill"}], "memory_scheduling": True},
            "must be without OverMemoryKill with 'memory_scheduling' of 'slurm', which limits memory by itself, got",
        ),
        ({"custom": [{"SlurmctldPort": "6829-6820"}]}, "must have the lower port first, got '6829-6820'"),
        (
            {"custom": [{"SelectType": "select/linear"}]},
            (
                "'slurm.custom[0].SelectType' must be given with SelectTypeParameters CR_Memory in a line of its own, "
                "got select/linear without; Slurm would not start"
            ),
        ),
        (
            {"custom": [{"SelectTypeParameters": "CR_LLN,CR_Core_Memory"}, {"SelectType": "select/linear"}]},
            "must be CR_Memory, or flags as CR_LLN, beside select/linear, got 'CR_LLN,CR_Core_Memory'; Slurm would not",
        ),
        ({"custom": [{"SelectType": "select/linear"}, {"MaxNodeCount": 9}]}, "must be left out beside select/linear"),
        ({"custom": [{"SrunPortRange": "63000-60001"}]}, "the lower port first, got '63000-60001'; Slurm would ignore"),
        (
            {"custom": [{"PrologFlags": "X11"}, {"ProctrackType": "proctrack/linuxproc"}]},
            "'slurm.custom[0].PrologFlags' must be without X11 beside proctrack/linuxproc, got 'X11'",
        ),
        (
            {"custom": [{"PreemptType": "preempt/partition_prio"}, {"PreemptMode": "Suspend"}]},
            "must be GANG,SUSPEND, got Suspend alone; Slurm would not start",
        ),
        ({"custom": [{"SelectTypeParameters": "CR_Memory"}]}, "CR_Core_Memory or CR_Socket_Memory, got 'CR_Memory'"),
        (
            {"custom": [{"SelectTypeParameters": "CR_Core"}], "memory_scheduling": True},
            "with 'memory_scheduling' of 'slurm', which it would undo, got 'CR_Core'",
        ),
        (
            {"custom": [{"JobCompType": "jobcomp/mysql"}]},
            "JobCompType' must be given with JobCompHost, the database's",
        ),
        (
            {"custom": [{"PreemptMode": "REQUEUE"}]},
            "must be given with PreemptType in a line of its own, got REQUEUE without; Slurm would not start",
        ),
        (
            {"custom": [{"PreemptType": "preempt/qos"}, {"PreemptMode": "GANG"}]},
            "must be given with PreemptMode, as REQUEUE, got preempt/qos without",
        ),
        (
            {"custom": [{"SelectTypeParameters": "CR_LLN"}]},
            "unless beside select/linear, got 'CR_LLN'; Slurm would not start",
        ),
        (
            {"custom": [{"AuthType": "auth/slurm"}]},
            (
                "'slurm.custom[0].AuthType' must be given with slurm.key, which a script of 'on_start' of 'head_node' "
                "or an image may bring, got 'auth/slurm' without; Slurm would not start"
            ),
        ),
        ({"custom": [{"CredType": "slurm"}]}, "CredType' must be given with slurm.key"),
        ({"custom": [{"CredType": '"cred/slurm"'}]}, "CredType' must be given with slurm.key"),
        ({"custom": [{"AuthAltTypes": "auth/none,jwt"}]}, "AuthAltTypes' must be given with jwt_hs256.key"),
    ],
    ids=named,
)
def test_what_slurm_stops_at_is_refused(said: dict[str, Any], problem: str) -> None:
    assert [text for text in problems(**said) if problem in text], problems(**said)

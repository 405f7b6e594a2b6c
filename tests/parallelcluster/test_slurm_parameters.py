"""Slurm's parameters: what Slurm would stop at, or silently take the last of, is refused with its name."""

import json
import re
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from aws_cdk import Token

from cdk_trainyard.parallelcluster.facts import fact
from cdk_trainyard.parallelcluster.resolve import resolve_cluster
from cdk_trainyard.parallelcluster.rules import RULES
from cdk_trainyard.problems import sentence
from tools.contract.table import rows

GOOD = next(row.cluster for row in rows() if row.name == "priorities and memory")
KNOWN = json.loads(files("cdk_trainyard.parallelcluster").joinpath("data", "slurm.json").read_text(encoding="utf-8"))
TOKEN = Token.as_string({"Ref": "Value"})
FROM_1 = "a whole number of 1 to 4294967295, or UNLIMITED"
OF_SLURM = [
    rule
    for rule in RULES
    if rule.__module__.rpartition(".")[2].startswith(("rules_slurm", "rules_partitions", "rules_node_names"))
]
TABLES = {"cluster": "cluster", "accounting": "cluster", "queue": "partition", "compute_resource": "node"}


def problems(
    *,
    custom: Any = (),
    queue: Any = None,
    compute: Any = None,
    memory: int | None = None,
    image_id: str | None = None,
    version: str | None = None,
    exclusive: bool | None = None,
    beside: Any = None,
    raw_overrides: Any = None,
    **more: Any,
) -> list[str]:
    first = GOOD.said.queues[0]
    nodes = replace(first.compute[0], slurm=compute, schedulable_memory_mib=memory)
    changed = replace(first, slurm=queue, compute=[nodes], exclusive=exclusive)
    larger = replace(first, name="larger", slurm=beside, compute=[replace(nodes, instance_type="c5.4xlarge", name="l")])
    said = replace(
        GOOD.said,
        slurm=replace(GOOD.said.slurm, custom=custom, **{"memory_scheduling": False, **more}),
        queues=[changed] if beside is None else [changed, larger],
        raw_overrides=raw_overrides,
        image_id=image_id,
        version=version,
    )
    spec = resolve_cluster(said, GOOD.context)
    return [sentence(problem) for rule in OF_SLURM for problem in rule(spec, GOOD.context)]


def named(said: Any) -> str:
    """Name a case by what it says, and Tokens the same in every process: their own text counts up."""
    return re.sub(r"TOKEN\.\d+|-1\.8\d+e\+289", "TOKEN", str(said))


@pytest.mark.parametrize(
    "said",
    [
        {"custom": [{"KillWait": 60}, {"schedulerparameters": "bf_max_time=600,defer"}, {"TrackWCKey": "yes"}]},
        {"custom": [{"KillWait": 60, "MessageTimeout": 30}]},
        {"custom": [{"NodeName": "static1", "CPUs": 1}, {"NodeName": "static2", "Gres": "gpu:1"}]},
        {
            "custom": [
                {"NodeName": "static[01-03,7]", "CPUs": 1},
                {"NodeName": "DEFAULT", "CPUs": 2},
                {"NodeName": "DEFAULT", "CPUs": 4},
                {"NodeName": "rack[1-2]n[1-2]"},
                {"NodeSet": "set", "Nodes": "static[01-02],rack2n1"},
                {"PartitionName": "own", "Nodes": "set,static7,compute_nodes", "MaxTime": "UNLIMITED"},
                {"PartitionName": "all", "Nodes": "all"},
                {"PartitionName": "fast", "Nodes": "compute-dy-c5-xlarge-[1-8]"},
                {"DownNodes": "rack1n2", "State": "DOWN"},
            ]
        },
        {"custom": [{"NodeSet": "own", "Feature": "dynamic"}, {"PartitionName": "own", "Nodes": "own"}]},
        {"custom": [{"PartitionName": "own", "Nodes": "own{x}"}, {"UnkillableStepTimeout": "INFINITE"}]},
        {
            "custom": [
                {"PreemptType": "preempt/partition_prio"},
                {"PreemptMode": "GANG,SUSPEND"},
                {"PriorityType": "priority/basic"},
            ]
        },
        {
            "custom": [
                {"PreemptMode": "GANG"},
                {"PrologFlags": "alloc,X11"},
                {"SlurmdDebug": 5},
                {"MaxJobCount": "10000"},
            ]
        },
        {"custom": [{"PartitionName": "DEFAULT", "State": "up"}, {"PartitionName": "DEFAULT", "MaxTime": 1}]},
        {"queue": {"PriorityTier": 65535, "PreemptMode": "off", "SelectTypeParameters": "CR_Core_Memory"}},
        {"compute": {"Port": 6818, "RealMemory": "0x1000"}},
        {"custom": [{"MaxArraySize": "4000001"}, {"MaxMemPerNode": 4294967296}, {"MaxDBDMsgs": "UNLIMITED"}]},
        {
            "custom": [{"PropagatePrioProcess": "0x2"}, {"SlurmdPort": '"6818"'}],
            "queue": {"MaxNodes": "INFINITE", "MaxCPUsPerNode": "INFINITE"},
        },
        {"custom": [{"CommunicationParameters": "DisableIPv4,EnableIPv6"}, {"EnforcePartLimits": "Any"}]},
        {"custom": [{"HealthCheckNodeState": "cycle,any"}, {"JobAcctGatherParams": "NoShared,DisableGPUAcct"}]},
        {"custom": [{"HealthCheckNodeState": "START_ONLY"}, {"Licenses": "foo,bar:12,own@here=3"}]},
        {"custom": [{"PriorityCalcPeriod": "1:00"}, {"PriorityMaxAge": "7-0"}, {"PreemptExemptTime": "-1"}]},
        {"custom": [{"PriorityUsageResetPeriod": "monthly"}, {"SlurmctldPort": "6820-6829"}]},
        {"custom": [{"TaskPluginParam": "cores,autobind=threads,verbose"}, {"BcastExclude": "NONE"}]},
        {"custom": [{"TaskPluginParam": '"autobind=none,OOMKillStep"'}, {"DebugFlags": '"NO_CONF_HASH,power"'}]},
        {"custom": [{"PropagateResourceLimits": "NONE"}, {"SchedulerParameters": "max_script_size=536870912"}]},
        {"custom": [{"PropagateResourceLimitsExcept": "RLIMIT_MEMLOCK,STACK"}, {"DebugFlags": TOKEN}]},
        {"custom": [{"FirstJobId": 1000}, {"MaxJobId": 1000}, {"SlurmctldPort": "6820-6821"}]},
        {"custom": [{"MCSPlugin": "mcs/group"}, {"MCSParameters": "ondemand,select:a|b"}, {"FirstJobId": TOKEN}]},
        {"custom": [{"MCSPlugin": "mcs/user"}, {"SlurmSchedLogLevel": 0}, {"MaxNodeCount": 9}]},
        {"custom": [{"SlurmSchedLogLevel": 1}, {"SlurmSchedLogFile": "/var/log/sched.log"}]},
        {"custom": [{"PriorityDecayHalfLife": 0}, {"PriorityUsageResetPeriod": "WEEKLY"}]},
        {"custom": [{"JobContainerType": "job_container/tmpfs"}, {"PrologFlags": "x11"}]},
        {"custom": [{"JobContainerType": "job_container/tmpfs"}, {"PrologFlags": TOKEN}]},
        {"custom": [{"JobAcctGatherParams": "OverMemoryKill"}, {"PriorityDecayHalfLife": "14-0"}]},
        {"custom": [{"MCSParameters": "enforced"}, {"MCSPlugin": TOKEN}], "memory_scheduling": True},
        {"custom": [{"JobSubmitPlugins": "lua,own"}, {"AuthType": "auth/own"}], "image_id": "ami-12345678"},
        {"custom": [{"JobSubmitPlugins": "job_submit/lua,own"}, {"PluginDir": "/opt/slurm/lib/slurm:/shared/slurm"}]},
        {"custom": [{"JobSubmitPlugins": "lua,pbs"}, {"MpiDefault": "mpi/pmix_v4"}]},
        {"custom": [{"AuthAltTypes": "jwt"}, {"AuthAltParameters": "jwt_key=/shared/jwt.key"}]},
        {"custom": [{"AuthAltTypes": "auth/jwt"}, {"StateSaveLocation": "/shared/state"}]},
        {"custom": [{"AuthAltTypes": TOKEN}, {"AuthType": "auth/munge"}]},
        {"custom": [{"AuthType": "auth/slurm"}, {"AuthAltTypes": "auth/jwt"}], "image_id": "ami-12345678"},
        {"custom": [{"TopologyPlugin": "topology/default"}, {"SwitchType": "switch/none"}, {"MpiDefault": "none"}]},
        {"custom": [{"HashPlugin": "sha3,k12"}, {"CredType": "munge"}, {"AcctGatherEnergyType": "rapl,gpu"}]},
        {"custom": [{"AcctGatherInterconnectType": "sysfs"}, {"MpiDefault": "mpi/openmpi"}]},
        {"custom": [{"CredType": "cred/slurm"}], "image_id": "ami-12345678"},
        {"custom": [{"CredType": "auth/slurm"}], "image_id": "ami-12345678"},
        {"custom": [{"JobContainerType": "tmpfs"}, {"PrologFlags": "Contain"}]},
        {"custom": [{"NamespaceType": "tmpfs"}, {"PrologFlags": "Contain"}]},
        {"custom": [{"CredType": "auth/munge"}, {"NamespaceType": "job_container/tmpfs"}, {"PrologFlags": "X11"}]},
        {"custom": [{"JobContainerType": "linux"}, {"JobCompType": "jobcomp/None"}, {"PreemptType": "preempt/none"}]},
        {"custom": [{"SelectType": "select/own"}, {"JobCompType": "jobcomp/own"}], "image_id": "ami-12345678"},
        {"custom": [{"PreemptType": "preempt/own"}, {"ProctrackType": "proctrack/own"}], "image_id": "ami-12345678"},
        {"custom": [{"PreemptType": "preempt/own"}, {"PreemptMode": "REQUEUE"}], "image_id": "ami-12345678"},
        {"custom": [{"PriorityType": "priority/own"}, {"SchedulerType": "sched/own"}, {"PluginDir": "/shared/slurm"}]},
        {"custom": [{"AcctGatherEnergyType": "acct_gather_energy/rsmi"}, {"TopologyPlugin": TOKEN}]},
        {"compute": {"Sockets": 1, "CoresPerSocket": 2, "ThreadsPerCore": 2, "CoreSpecCount": 1, "RealMemory": 8192}},
        {"compute": {"CoresPerSocket": 2}},
        {"custom": [{"MetricsType": "metrics/openmetrics"}], "version": "3.16.1"},
        {"custom": [{"PowerAction": "off"}], "image_id": "ami-12345678"},
        {"custom": [{"PowerAction": "off"}], "version": "3.17.0"},
        {"custom": [{"NamespaceType": "tmpfs"}, {"PrologFlags": "Contain"}], "version": TOKEN},
        {"compute": {"Sockets": 1, "CoresPerSocket": 2}},
        {"compute": {"ThreadsPerCore": 2, "MemSpecLimit": 1024, "CPUSpecList": "0-1"}},
        {"compute": {"Sockets": TOKEN, "CoresPerSocket": 64, "RealMemory": Token.as_number({"Ref": "Memory"})}},
        {"compute": {"RealMemory": 99999, "CoreSpecCount": 9}, "custom": [{"SlurmdParameters": "config_overrides"}]},
        {"custom": [{"AccountingStoreFlags": "job_comment,JOB_SCRIPT"}, {"LogTimeFormat": "iso8601_ms,format_stderr"}]},
        {"custom": [{"PriorityFlags": "FAIR_TREE,max_tres_gres"}, {"PrivateData": "cloud,jobs,users"}]},
        {"custom": [{"SrunPortRange": "60001-63000"}, {"EnforcePartLimits": True}, {"NodeName": "allnodes"}]},
        {"queue": {"Hidden": True, "MaxTime": '"1-12"', "PriorityTier": '"9"'}},
        {"queue": {"MaxNodes": Token.as_number({"Ref": "Nodes"}), "MinNodes": 3, "PreemptMode": TOKEN}},
        {"custom": [{"PriorityWeightQOS": TOKEN}, {"SelectTypeParameters": TOKEN}], "memory_scheduling": True},
        {"custom": [{"PreemptType": TOKEN}, {"PartitionName": "own", "Nodes": TOKEN, "Alternate": TOKEN}]},
        {"custom": [{"PreemptType": TOKEN}, {"PreemptMode": "REQUEUE"}], "queue": {"PreemptMode": "SUSPEND"}},
        {"queue": {"PreemptMode": "OFF", "GraceTime": 0}},
        {"queue": {"PreemptMode": '"off"', "GraceTime": "00"}},
        {"queue": {"GraceTime": "0x0"}},
        {"queue": {"GraceTime": '"0K"'}},
        {"queue": {"PreemptMode": "REQUEUE", "GraceTime": 60}, "image_id": "ami-12345678"},
        {
            "custom": [{"PreemptType": "preempt/partition_prio"}, {"PreemptMode": "REQUEUE"}],
            "queue": {"PreemptMode": "CANCEL", "GraceTime": 60},
        },
        {
            "custom": [{"PreemptType": "preempt/partition_prio"}, {"PreemptMode": "GANG,REQUEUE"}],
            "queue": {"PreemptMode": "SUSPEND"},
        },
        {
            "custom": [{"PreemptType": "preempt/partition_prio"}, {"PreemptMode": "GANG,REQUEUE"}],
            "queue": {"PreemptMode": "SUSPEND,GANG"},
            "version": "3.13.2",
        },
        {"queue": {"DefMemPerNode": "4K", "MaxMemPerNode": 4096}},
        {"queue": {"DefMemPerNode": 100, "MaxMemPerNode": 0}, "custom": [{"DefMemPerNode": 9}]},
        {"queue": {"DefMemPerNode": 0}, "custom": [{"DefMemPerNode": "0"}, {"MaxMemPerNode": 9}]},
        {"queue": {"DefMemPerNode": 0}, "custom": [{"DefMemPerNode": Token.as_number({"Ref": "Memory"})}]},
        {"queue": {"DefMemPerCPU": 100, "MaxMemPerCPU": 9}},
        {"queue": {"MaxCPUsPerNode": 4}, "exclusive": True},
        {"queue": {"MaxCPUsPerNode": 2}},
        {"queue": {"MaxCPUsPerNode": 2}, "exclusive": True, "raw_overrides": {"Scheduling": {}}},
        {"queue": {"MaxCPUsPerNode": 2, "MaxCPUsPerSocket": 2}, "exclusive": True},
        {"queue": {"MaxCPUsPerNode": 3}, "compute": {"CoreSpecCount": 1}, "exclusive": True},
        {"queue": {"DefMemPerNode": 7782}, "custom": [{"DefMemPerCPU": 7782}]},
        {"queue": {"DefMemPerNode": 8192}, "memory": 8192},
        {"queue": {"DefMemPerNode": 9000}, "compute": {"RealMemory": Token.as_number({"Ref": "Memory"})}},
        {"custom": [{"NodeName": "large", "RealMemory": 99999}, {"DefMemPerNode": 9000}]},
        {"custom": [{"DefMemPerNode": 9000}], "queue": {"defmempercpu": 100}},
        {"custom": [{"DefMemPerNode": 9000}], "queue": {"DefMemPerNode": 100}, "beside": {}},
        {
            "custom": [{"DefMemPerNode": 9000}, {"PartitionName": "own", "Nodes": "larger_nodes"}],
            "beside": {"DefMemPerNode": 9000},
        },
        {"custom": [{"DefMemPerNode": 9}, {"MaxMemPerNode": 8}], "queue": {"DEFMEMPERCPU": 2}},
        {
            "custom": [{"DefMemPerNode": 9}, {"MaxMemPerNode": 8}],
            "queue": {"MaxMemPerNode": 10},
            "beside": {"DefMemPerCPU": 2},
        },
        {"queue": {"MaxTime": "1-00:00:00", "PriorityTier": 3, "AllowGroups": "ops", "DefMemPerCPU": "4K"}},
        {"queue": {"MaxTime": 9000, "DefaultTime": "2-", "Hidden": "NO"}},
        {"queue": {"MinNodes": 2, "MaxNodes": "UNLIMITED", "DefMemPerCPU": 100, "MaxMemPerNode": 9}},
        {"queue": {"DefaultTime": "1-12", "MaxTime": "36:00:00"}},
        {"queue": {"DefaultTime": "59:30", "MaxTime": 60}},
        {"custom": [{"SelectTypeParameters": "CR_Core_Memory,CR_LLN"}, {"ProctrackType": "proctrack/linuxproc"}]},
        {"custom": [{"SelectTypeParameters": "CR_ONE_TASK_PER_CORE,CR_Socket"}, {"JobCompType": "jobcomp/filetxt"}]},
        {"custom": [{"SelectType": "select/linear"}, {"SelectTypeParameters": "CR_Memory"}]},
        {"custom": [{"SelectType": "select/linear"}, {"SelectTypeParameters": "CR_LLN"}]},
        {"custom": [{"SelectType": "select/linear"}, {"SelectTypeParameters": '"CR_LLN,CR_Pack_Nodes"'}]},
        {"custom": [{"SelectType": TOKEN}, {"SelectTypeParameters": "CR_Memory"}]},
        {"custom": [{"SelectType": "select/linear"}, {"SelectTypeParameters": TOKEN}]},
        {"custom": [{"SelectType": TOKEN}, {"SelectTypeParameters": "CR_Core"}]},
        {"custom": [{"SelectTypeParameters": "CR_LLN,CR_Core,CR_Pack_Nodes"}]},
        {"custom": [{"PrivateData": "none"}, {"AccountingStoreFlags": "none"}, {"PriorityFlags": "NONE"}]},
        {"compute": {"Reason": r"ticket\#123"}, "queue": {"AllowGroups": r'"a\#b c\\"'}},
        {"custom": [{"PriorityWeightAge": 0}, {"PriorityWeightPartition": 9}, {"AccountingStorageTRES": "fs/disk"}]},
        {"custom": [{"JobCompType": "jobcomp/mysql"}, {"JobCompHost": "localhost"}]},
        {"custom": [{"JobCompType": "jobcomp/mysql"}], "image_id": "ami-12345678"},
        {"custom": [{"PrologSlurmctld": "/shared/a"}, {"prologslurmctld": "/shared/b"}, {"KillWait": 60}]},
        {"custom": [{"EpilogSlurmctld": "/shared/a"}, {"EpilogSlurmctld": "/shared/b"}]},
        {"custom": [{"SrunProlog": "none"}, {"TaskProlog": "prolog.sh"}, {"MailProg": '"/usr/bin/mail"'}]},
        {"custom": [{"HealthCheckProgram": TOKEN}, {"RebootProgram": "reboot"}, {"SlurmdSpoolDir": "/var/spool/%n"}]},
        {"custom": [{"PartitionName": "own", "Nodes": "ALL", "AllowQos": "All"}], "queue": {"AllowQos": "ALL"}},
        {"queue": {"AllowQos": "high"}, "image_id": "ami-12345678"},
        {"custom": [{"PriorityWeightQOS": 5}, {"AccountingStorageEnforce": "limits"}], "image_id": "ami-12345678"},
        {"custom": [{"SchedulerType": '"sched/builtin"'}]},
        {"queue": {"Alternate": "own"}, "custom": [{"PartitionName": "own", "Default": "YES"}, {"DefMemPerNode": 9}]},
        {"queue": {"AllowAccounts": "ALL", "DenyAccounts": "guests"}},
        {"compute": {"Feature": "fast", "CpuBind": "core", "Reason": '"two words"', "TmpDisk": 1000}},
    ],
    ids=named,
)
def test_what_slurm_reads_is_taken(said: dict[str, Any]) -> None:
    assert problems(**said) == []


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (
            {"custom": [{"Kilwait": 6}]},
            "'slurm.custom[0].Kilwait' is no parameter of a cluster in slurm.conf; did you mean 'KillWait'",
        ),
        ({"custom": [{"KillWait": "x y"}]}, "whole number of 0 to 65535, or UNLIMITED, got 'x y'"),
        ({"custom": [{"KillWait": 70000}]}, "or UNLIMITED, got 70000"),
        ({"queue": {"GraceTime": "x"}}, "whole number of 0 to 4294967295, or UNLIMITED, got 'x'"),
        ({"custom": [{"MaxStepCount": "x"}]}, "whole number of 1 to 4294967295, or UNLIMITED, got 'x'"),
        ({"custom": [{"MaxArraySize": "x"}]}, "must be a whole number of 0 to 4000001, got 'x'"),
        ({"custom": [{"PropagatePrioProcess": 70000}]}, "must be a whole number of 0 to 2, got 70000"),
        ({"queue": {"MaxCPUsPerSocket": -1}}, "must be a whole number of 1 to 4294967295, or UNLIMITED, got -1"),
        ({"custom": [{"MaxJobCount": 4294967296}]}, f"MaxJobCount' must be {FROM_1}, got 4294967296"),
        ({"custom": [{"MaxArraySize": 4000002}]}, "MaxArraySize' must be a whole number of 0 to 4000001, got 4000002"),
        ({"custom": [{"MaxArraySize": "UNLIMITED"}]}, "a whole number of 0 to 4000001, got 'UNLIMITED'"),
        ({"custom": [{"MaxJobCount": "4194304K"}]}, f"must be {FROM_1}, got '4194304K'"),
        ({"queue": {"GraceTime": "0x100000000"}}, "number of 0 to 4294967295, or UNLIMITED, got '0x100000000'"),
        ({"custom": [{"MaxDBDMsgs": 9999}]}, "whole number of 10000 to 4294967295, or UNLIMITED, got 9999"),
        ({"custom": [{"PropagatePrioProcess": 3}]}, "PropagatePrioProcess' must be a whole number of 0 to 2, got 3"),
        ({"custom": [{"SlurmdPort": 65536}]}, "SlurmdPort' must be a whole number of 1 to 65535, got 65536"),
        ({"queue": {"MaxNodes": 0}}, f"'queues[0].slurm.MaxNodes' must be {FROM_1}, got 0"),
        ({"queue": {"MaxCPUsPerNode": 0}}, f"'queues[0].slurm.MaxCPUsPerNode' must be {FROM_1}, got 0"),
        ({"queue": {"maxcpuspersocket": "0"}}, f"maxcpuspersocket' must be {FROM_1}, got '0'"),
        ({"queue": {"PriorityTier": 65536}}, "or UNLIMITED, got 65536"),
        (
            {"queue": {"AllowQos": "high"}},
            (
                "'queues[0].slurm.AllowQos' must be left out without 'accounting' of 'slurm', which holds qualities of "
                "service and limits"
            ),
        ),
        (
            {"custom": [{"PriorityWeightFairshare": 1000}]},
            (
                "'slurm.custom[0].PriorityWeightFairshare' must be left out without 'accounting' of 'slurm'; Slurm "
                "would ignore it, got 1000"
            ),
        ),
        ({"queue": {"DenyQos": "ALL"}}, "'queues[0].slurm.DenyQos' must be left out without 'accounting' of 'slurm'"),
        ({"queue": {"AllowQos": "ALL,high"}}, "which holds qualities of service and limits, got 'ALL,high'"),
        ({"custom": [{"PriorityWeightAge": 10}, {"PriorityWeightQOS": 5}]}, "custom[1].PriorityWeightQOS' must be"),
        (
            {"custom": [{"PreemptType": "preempt/qos"}, {"PreemptMode": "CANCEL"}]},
            "'slurm.custom[0].PreemptType' must be left out without 'accounting' of 'slurm', which holds qualities of",
        ),
        ({"custom": [{"AccountingStorageTRES": "cpu,gres/gpu"}]}, "pages or fs/disk, got 'cpu,gres/gpu'"),
        ({"custom": [{"AccountingStorageEnforce": "limits"}]}, "AccountingStorageEnforce' must be left out without"),
        ({"custom": [{"AccountingStorageType": "accounting_storage/mysql"}]}, "none or accounting_storage/slurmdbd"),
        ({"custom": [{"BcastExclude": "/usr,lib"}]}, "must be none, or absolute paths with commas, got '/usr,lib'"),
        ({"custom": [{"CommunicationParameters": "DisableIPv4"}]}, "must be without DisableIPv4, or with EnableIPv6"),
        (
            {"custom": [{"PrologSlurmctld": "prolog.sh"}]},
            "PrologSlurmctld' must be an absolute path, as /shared/slurm/name, got 'prolog.sh'",
        ),
        ({"custom": [{"HealthCheckProgram": '"bin/nhc"'}]}, "must be an absolute path, as /shared/slurm/name, got"),
        ({"custom": [{"StateSaveLocation": "~/state"}]}, "must be an absolute path, as /shared/slurm/name, got '~"),
        ({"custom": [{"SrunEpilog": "epilog.sh"}]}, "must be none, or an absolute path, as /shared/slurm/name"),
        ({"custom": [{"EnforcePartLimits": "most"}]}, "must be ALL, ANY or NO, got 'most'"),
        ({"custom": [{"HealthCheckNodeState": "START_ONLY,ANY"}]}, "or START_ONLY alone, got 'START_ONLY,ANY'"),
        ({"custom": [{"HealthCheckNodeState": "BUSY"}]}, "must be ANY, ALLOC, CYCLE, IDLE, MIXED, NONDRAINED_IDLE"),
        ({"custom": [{"JobAcctGatherParams": "UsePss,NoShared"}]}, "without NoShared, which exclude one another, got"),
        ({"custom": [{"Licenses": "foo:abc"}]}, "must be names with counts, as matlab:5,ansys:2, got 'foo:abc'"),
        ({"custom": [{"Licenses": '"foo:1, bar:2"'}]}, "must be names with counts"),
        ({"custom": [{"PriorityCalcPeriod": 0}]}, "must be 1 minute or more, as 5 or 1:00:00, got 0"),
        ({"custom": [{"PriorityMaxAge": "7d"}]}, "days-hours or UNLIMITED, as 1-12, got '7d'"),
        ({"custom": [{"PreemptExemptTime": "soon"}]}, "days-hours or UNLIMITED, as 1-12, got 'soon'"),
        ({"custom": [{"PriorityUsageResetPeriod": "HOURLY"}]}, "QUARTERLY or YEARLY, got 'HOURLY'"),
        ({"custom": [{"SlurmctldPort": "6820-"}]}, "must be a port, or two with a hyphen, as 6820-6829, got '6820-'"),
        ({"custom": [{"SlurmctldPort": 70000}]}, "must be a port, or two with a hyphen, as 6820-6829, got 70000"),
        ({"custom": [{"TaskPluginParam": "cores,verbose,threads"}]}, "flags as verbose, behind commas, got 'cores,"),
        ({"custom": [{"TaskPluginParam": "autobind=core"}]}, "one autobind= of these, and flags as verbose"),
        ({"custom": [{"TaskPluginParam": "SlurmdSpecOverride,SlurmdOffSpec"}]}, "must be one of none, sockets, cores"),
        (
            {"custom": [{"DebugFlags": "Gres,Backfil"}]},
            "must be flags of Slurm with commas, as Backfill,Gres, got 'Backfil'; did you mean 'Backfill'",
        ),
        ({"custom": [{"PropagateResourceLimits": "stack"}]}, "as STACK,MEMLOCK, got 'stack'; did you mean 'STACK'"),
        ({"custom": [{"PropagateResourceLimitsExcept": "MEMLOCK,ALL"}]}, "as STACK,MEMLOCK, got 'ALL'"),
        (
            {"custom": [{"SchedulerParameters": "defer,max_script_size=999999999999"}]},
            "'slurm.custom[0].SchedulerParameters' must have max_script_size of at most 536870912, got 999999999999",
        ),
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
        (
            {"custom": [{"TopologyPlugin": "topology/trees"}]},
            (
                "'slurm.custom[0].TopologyPlugin' must be one of Slurm's plugins, topology/3d_torus, topology/block, "
                "topology/default, topology/flat, topology/ring, topology/torus3d or topology/tree, got "
                "'topology/trees'; did you mean 'topology/tree'"
            ),
        ),
        (
            {"custom": [{"CredType": "mung"}]},
            "Slurm's plugins, cred/munge, cred/none or cred/slurm, got 'mung'",
        ),
        ({"custom": [{"CredType": "auth/jwt"}]}, "cred/munge, cred/none or cred/slurm, got 'auth/jwt'"),
        ({"custom": [{"MCSPlugin": "user"}]}, "mcs/label or mcs/user, with what is before the slash, got 'user'"),
        ({"custom": [{"SelectType": "linear"}], "image_id": "ami-12345678"}, "before the slash, got 'linear'"),
        ({"custom": [{"NamespaceType": "tmpf"}]}, "namespace/linux or namespace/tmpfs, got 'tmpf'; did you mean"),
        ({"custom": [{"PriorityType": "priority/basic,priority/multifactor"}]}, "got 'priority/basic,priority/multi"),
        ({"custom": [{"AuthType": "munge,jwt"}]}, "auth/jwt, auth/munge, auth/none or auth/slurm, got 'munge,jwt'"),
        ({"custom": [{"CredType": "munge,slurm"}]}, "cred/none or cred/slurm, got 'munge,slurm'"),
        ({"custom": [{"JobAcctGatherType": "jobacct_gather/cgroup,jobacct_gather/linux"}]}, "_gather/cgroup,jobacct_"),
        ({"custom": [{"MpiDefault": "pmix,pmi2"}]}, "mpi/pmi2 or mpi/pmix, got 'pmix,pmi2'"),
        (
            {"custom": [{"PriorityType": "priority/none"}]},
            "or priority/multifactor, got 'priority/none'",
        ),
        ({"custom": [{"PreemptType": "preempt/own"}]}, "preempt/qos or preempt/none, got 'preempt/own'"),
        ({"custom": [{"AuthType": "mung"}]}, "auth/none or auth/slurm, got 'mung'; did you mean 'auth/munge'"),
        ({"custom": [{"JobSubmitPlugins": "lua,own"}]}, "job_submit/require_timelimit, …, got 'own'"),
        ({"custom": [{"MpiDefault": "pmi3"}]}, "mpi/cray_shasta, mpi/pmi2 or mpi/pmix, got 'pmi3'"),
        (
            {"custom": [{"PropagateResourceLimits": "CORE"}, {"PropagateResourceLimitsExcept": "STACK"}]},
            "'slurm.custom[0].PropagateResourceLimits' must be left out beside PropagateResourceLimitsExcept",
        ),
        (
            {"custom": [{"poweraction": "off"}]},
            (
                "'slurm.custom[0].poweraction' is no parameter of Slurm 25.11, which ParallelCluster 3.16.1 has; "
                "remove it"
            ),
        ),
        ({"custom": [{"MetricsType": "metrics/openmetrics"}], "version": "3.14.2"}, "of Slurm 24.11, which Parallel"),
        ({"queue": {"Exclusive": "YES"}}, "'queues[0].slurm.Exclusive' is no parameter of Slurm 25.11"),
        ({"compute": {"GresConf": "x"}, "version": "3.12.0"}, "'queues[0].compute[0].slurm.GresConf' is no parameter"),
        ({"custom": [{"PartitionName": "own", "Topology": "x"}], "version": "3.13.0"}, "custom[0].Topology' is no par"),
        ({"custom": [{"ControlMachine": "a"}]}, "'slurm.custom[0].ControlMachine' is ParallelCluster's own to set"),
        ({"compute": {"Procs": 4}}, "'queues[0].compute[0].slurm.Procs' is ParallelCluster's own to set"),
        ({"compute": {"features": "fast"}}, "slurm.features' must be Feature: beside ParallelCluster's own, Slurm"),
        (
            {"compute": {"RealMemory": 999999}},
            "must be the memory of c5.xlarge, 8192, or less, got 999999; Slurm would drain the nodes",
        ),
        ({"compute": {"RealMemory": 4000, "MemSpecLimit": 4000}}, "less than the node's memory, 4000, got 4000; Slurm"),
        ({"compute": {"MemSpecLimit": 8192}}, "MemSpecLimit' must be less than the node's memory, 8192, got 8192"),
        ({"custom": [{"NodeName": "a", "RealMemory": 100, "MemSpecLimit": 200}]}, "node's memory, 100, got 200"),
        (
            {"compute": {"CoreSpecCount": 2}},
            "CoreSpecCount' must be less than the 2 cores of c5.xlarge, got 2; Slurm would ignore it",
        ),
        ({"compute": {"CoreSpecCount": 1, "CPUSpecList": "0"}}, "must be left out beside CpuSpecList, which Slurm"),
        (
            {"compute": {"Sockets": 2, "CoresPerSocket": 64}},
            (
                "'queues[0].compute[0].slurm.Sockets' must make the 4 CPUs of c5.xlarge with what else is said of "
                "them, got Sockets 2, CoresPerSocket 64; Slurm would drain the nodes"
            ),
        ),
        ({"compute": {"Sockets": 1}}, "said of them, got Sockets 1; Slurm would give jobs 1 of them"),
        (
            {"compute": {"RealMemory": 4000}, "memory": 4000},
            "slurm.RealMemory' must be left out beside 'schedulable_memory_mib', which it would undo",
        ),
        ({"compute": {"MemSpecLimit": 4000}, "memory": 4000}, "must be less than the node's memory, 4000, got 4000"),
        ({"compute": {"Sockets": 4, "ThreadsPerCore": 2}}, "must make the 4 CPUs of c5.xlarge"),
        ({"compute": {"CoresPerSocket": 3}}, "must make the 4 CPUs of c5.xlarge"),
        (
            {"queue": {"minnodes": 9999}},
            "'queues[0].slurm.minnodes' must be at most 8, the nodes of the queue, got 9999; no job would run",
        ),
        ({"custom": [{"KillWait": 60}, {}]}, "'slurm.custom[1]' must be a parameter with its value, as KillWait: 60"),
        ({"custom": [{"AccountingStorageTRES": "cpu,foo"}]}, "or fs/, with commas, as gres/gpu, got 'cpu,foo'"),
        ({"custom": [{"AccountingStoreFlags": "job_comments,env"}]}, "job_script or no_stdio, with commas, got 'job_"),
        ({"custom": [{"LogTimeFormat": "rfc822"}]}, "rfc3339, clock, short or thread_id, got 'rfc822'"),
        ({"custom": [{"PriorityFlags": "MAX_TRES,TICKET_BASED"}]}, "as MAX_TRES,NO_FAIR_TREE, got 'MAX_TRES,TICKET"),
        ({"custom": [{"PrivateData": "cloud,secrets"}]}, "usage or users, with commas, got 'cloud,secrets'"),
        ({"custom": [{"SrunPortRange": 60001}]}, "must be two ports with a hyphen, as 60001-63000, got 60001"),
        ({"custom": [{"SrunPortRange": "63000-60001"}]}, "the lower port first, got '63000-60001'; Slurm would ignore"),
        ({"custom": [{"NodeName": "ALL"}]}, "must be another name than ALL, which is Slurm's own word, got 'ALL'"),
        ({"compute": {"Port": 99999}}, "must be a port of 1 to 65535, got 99999"),
        ({"custom": [{"MaxJobCount": 0}]}, f"must be {FROM_1}, got 0"),
        ({"custom": [{"SchedulerType": "sched/fifo"}]}, "plugins, sched/backfill or sched/builtin, got 'sched/fifo'"),
        ({"custom": [{"PriorityType": "priority/fair"}]}, "plugins, priority/basic or priority/multifactor"),
        ({"custom": [{"PreemptType": "x"}]}, "preempt/qos or preempt/none, with what is before the slash, got 'x'"),
        ({"custom": [{"SelectType": "select/cons_res"}]}, "select/linear or select/other, got 'select/cons_res'"),
        ({"custom": [{"PrologFlags": "Alloc,All"}]}, "X11, but NoHold not with Contain or X11, got 'Alloc,All'"),
        ({"custom": [{"PrologFlags": "NoHold,Contain"}]}, "NoHold not with Contain or X11, got 'NoHold,Contain'"),
        (
            {"custom": [{"PrologFlags": "X11"}, {"ProctrackType": "proctrack/linuxproc"}]},
            "'slurm.custom[0].PrologFlags' must be without X11 beside proctrack/linuxproc, got 'X11'",
        ),
        ({"custom": [{"FirstJobId": 0}]}, f"FirstJobId' must be {FROM_1}, got 0"),
        (
            {"custom": [{"FastSchedule": 2}]},
            "is removed from Slurm; leave it out for 1, and give SlurmdParameters config_overrides for 2",
        ),
        ({"custom": [{"SlurmctldDebug": "loud"}]}, "must be a level from quiet to debug5, as info, got 'loud'"),
        (
            {"queue": {"preemptmode": "REQUEUE"}},
            (
                "'queues[0].slurm.preemptmode' must be given with PreemptType preempt/partition_prio in 'custom' of "
                "'slurm', got 'REQUEUE' with preempt/none; Slurm would ignore it"
            ),
        ),
        ({"queue": {"GraceTime": 60}}, "GraceTime' must be given with PreemptType preempt/partition_prio in 'custom'"),
        (
            {
                "custom": [
                    {"PreemptType": "preempt/qos"},
                    {"PreemptMode": "CANCEL"},
                    {"PartitionName": "own", "Nodes": "ALL", "PreemptMode": "REQUEUE"},
                ]
            },
            "'slurm.custom[2].PreemptMode' must be given with PreemptType preempt/partition_prio in 'custom' of",
        ),
        (
            {
                "custom": [{"PreemptType": "preempt/partition_prio"}, {"PreemptMode": "REQUEUE"}],
                "queue": {"PreemptMode": "SUSPEND"},
            },
            "must be given with GANG in the PreemptMode of 'custom' of 'slurm', as GANG,REQUEUE, got 'SUSPEND' without",
        ),
        ({"queue": {"PreemptMode": "PAUSE"}}, "or SUSPEND, with WITHIN or PRIORITY behind a comma, got 'PAUSE'"),
        ({"custom": [{"PreemptMode": "PAUSE"}]}, "with GANG, WITHIN or PRIORITY behind a comma, got 'PAUSE'"),
        (
            {
                "custom": [{"PreemptType": "preempt/partition_prio"}, {"PreemptMode": "GANG,REQUEUE"}],
                "queue": {"PreemptMode": "SUSPEND,GANG"},
            },
            "must be without GANG, which PreemptMode in 'custom' of 'slurm' gives to the whole cluster, got",
        ),
        (
            {"custom": [{"DefMemPerCPU": 9}], "queue": {"DefMemPerNode": 0}},
            (
                "'queues[0].slurm.DefMemPerNode' must be more than 0, or be left out, got 0; Slurm would take "
                "DefMemPerCPU of the cluster, 9"
            ),
        ),
        (
            {"custom": [{"MaxMemPerNode": 9}, {"PartitionName": "own", "Nodes": "ALL", "MaxMemPerNode": "0K"}]},
            "'slurm.custom[1].MaxMemPerNode' must be more than 0, or be left out, got '0K'",
        ),
        ({"queue": {"PreemptMode": "CANCEL,REQUEUE"}}, "behind a comma, got 'CANCEL,REQUEUE'"),
        ({"queue": {"PreemptMode": "WITHIN,CANCEL,GANG"}}, "behind a comma, got 'WITHIN,CANCEL,GANG'"),
        (
            {"custom": [{"PreemptType": "preempt/partition_prio"}, {"PreemptMode": "Suspend"}]},
            "must be GANG,SUSPEND, got Suspend alone; Slurm would not start",
        ),
        ({"custom": [{"SelectTypeParameters": "CR_Cores"}]}, "CR_ONE_TASK_PER_CORE not with CR_CPU, got 'CR_Cores'"),
        ({"custom": [{"SelectTypeParameters": "CR_CPU,CR_Core"}]}, "CR_CPU, got 'CR_CPU,CR_Core'"),
        ({"custom": [{"SelectTypeParameters": "CR_CPU,CR_ONE_TASK_PER_CORE"}]}, "CR_ONE_TASK_PER_CORE not with CR_CPU"),
        ({"custom": [{"SelectTypeParameters": "CR_Memory"}]}, "CR_Core_Memory or CR_Socket_Memory, got 'CR_Memory'"),
        (
            {"custom": [{"SelectTypeParameters": "CR_Core"}], "memory_scheduling": True},
            "with 'memory_scheduling' of 'slurm', which it would undo, got 'CR_Core'",
        ),
        ({"custom": [{"ProctrackType": "cgroup"}]}, "proctrack/pgid, with what is before the slash, got 'cgroup'"),
        ({"custom": [{"JobCompType": "jobcomp/file"}]}, "jobcomp/script or jobcomp/none, got 'jobcomp/file'"),
        (
            {"custom": [{"JobCompType": "jobcomp/mysql"}]},
            "JobCompType' must be given with JobCompHost, the database's",
        ),
        ({"custom": [{"AccountingStorageEnforce": "limit"}]}, "all, nojobs or nosteps, got 'limit'"),
        ({"queue": {"SelectTypeParameters": "CR_Memory"}}, "CR_Socket or CR_Socket_Memory, got 'CR_Memory'"),
        ({"queue": {"Shared": "YES"}}, "'queues[0].slurm.Shared' is ParallelCluster's own to set"),
        (
            {"custom": [{"PreemptMode": "REQUEUE"}]},
            "must be given with PreemptType in a line of its own, got REQUEUE without; Slurm would not start",
        ),
        (
            {"custom": [{"PreemptType": "preempt/qos"}, {"PreemptMode": "GANG"}]},
            "must be given with PreemptMode, as REQUEUE, got preempt/qos without",
        ),
        (
            {"custom": [{"PartitionName": "compute", "Nodes": "ALL"}]},
            "must be another name, got 'compute', which is a queue already",
        ),
        (
            {"custom": [{"PartitionName": "own", "Nodes": "ALL"}, {"PartitionName": "own", "Nodes": "ALL"}]},
            "got 'own', which is a partition already",
        ),
        (
            {"custom": [{"PartitionName": "own", "Nodes": "nope[1-2]"}]},
            (
                "'slurm.custom[0].Nodes' must be nodes of a line of NodeName, or of a queue, as compute_nodes, got "
                "'nope1'"
            ),
        ),
        ({"custom": [{"NodeName": "a[1-2]"}, {"NodeSet": "b", "Nodes": "a[1-3]"}]}, "as compute_nodes, got 'a3'"),
        ({"custom": [{"PartitionName": "own", "Nodes": "compute-dy-c5-xlarge-9"}]}, "got 'compute-dy-c5-xlarge-9'"),
        ({"custom": [{"DownNodes": "b", "State": "DOWN"}]}, "'slurm.custom[0].DownNodes' must be nodes of a line"),
        (
            {"custom": [{"NodeName": "a[1-3]", "CPUs": 1}, {"NodeName": "a2", "CPUs": 2}]},
            "'slurm.custom[1].NodeName' must be defined once, got 'a2' a second time",
        ),
        (
            {"queue": {"MinNodes": 9, "MaxNodes": 2}},
            "'queues[0].slurm.MinNodes' must be at most MaxNodes, got 9 and 2; no job would run",
        ),
        (
            {"custom": [{"PartitionName": "own", "DefaultTime": "2-", "maxtime": "24:00:00"}]},
            "'slurm.custom[0].DefaultTime' must be at most MaxTime, got 2- and 24:00:00; Slurm would ignore it",
        ),
        (
            {"queue": {"DefMemPerNode": 9000, "maxmempernode": "8K"}},
            "slurm.DefMemPerNode' must be at most MaxMemPerNode, got 9000 and 8K; no job without --mem would run",
        ),
        ({"custom": [{"DefMemPerNode": 9}, {"MaxMemPerNode": 8}]}, "'slurm.custom[0].DefMemPerNode' must be at most"),
        (
            {"queue": {"DefMemPerNode": 8192}},
            (
                "'queues[0].slurm.DefMemPerNode' must be at most 7782, the memory that jobs may have of these nodes, "
                "got 8192; no job without --mem would run"
            ),
        ),
        (
            {"custom": [{"DefMemPerNode": 9}, {"MaxMemPerNode": 8}], "queue": {"DefMemPerNode": 2}, "beside": {}},
            "'slurm.custom[0].DefMemPerNode' must be at most MaxMemPerNode, got 9 and 8",
        ),
        (
            {"custom": [{"DefMemPerNode": 9000}], "beside": {"DefMemPerNode": 100}},
            "'slurm.custom[0].DefMemPerNode' must be at most 7782, the memory that jobs may have of these nodes, got",
        ),
        ({"custom": [{"defmempercpu": "8K"}]}, "'slurm.custom[0].defmempercpu' must be at most 7782, the memory that"),
        ({"queue": {"DefMemPerCPU": 4001}, "memory": 4000}, "must be at most 4000, the memory that jobs may have"),
        (
            {"queue": {"maxCPUsPerNode": 3}, "exclusive": True},
            (
                "'queues[0].slurm.maxCPUsPerNode' must be at least 4, the CPUs of a node, with 'exclusive', or be left "
                "out, got 3; no job would run"
            ),
        ),
        ({"queue": {"DefaultTime": "UNLIMITED", "MaxTime": 60}}, "must be at most MaxTime, got UNLIMITED and 60"),
        (
            {"queue": {"DefMemPerCPU": 1, "DefMemPerNode": 2}},
            "'queues[0].slurm.DefMemPerCPU' must be left out beside DefMemPerNode, which Slurm takes alone",
        ),
        ({"custom": [{"MaxMemPerNode": 1}, {"MaxMemPerCPU": 2}]}, "'slurm.custom[1].MaxMemPerCPU' must be left out"),
        ({"queue": {"AllowAccounts": "a", "DenyAccounts": "b"}}, "DenyAccounts' must be left out beside AllowAccounts"),
        (
            {"queue": {"Alternate": "spare"}},
            "'queues[0].slurm.Alternate' must be a queue or a partition, compute, got 'spare'",
        ),
        (
            {"queue": {"Default": "yes"}, "custom": [{"PartitionName": "own", "Default": 1}]},
            "'slurm.custom[0].Default' must be YES once, got it for 'compute', too; Slurm would take the last",
        ),
        ({"custom": [{"PartitionName": "own", "State": "SIDEWAYS"}]}, "must be UP, DOWN, DRAIN or INACTIVE"),
        ({"custom": [{"SchedulerType": True}]}, "must be one value as Slurm writes it, in quotes, got true"),
        ({"custom": [{"KillWait": 1.5}]}, "or UNLIMITED, got 1.5"),
        ({"custom": [{"TrackWCKey": "perhaps"}]}, "must be YES or NO, got 'perhaps'"),
        ({"custom": [{"PrivateData": "jobs usage"}]}, r"must be one word with \# for '#', or words in double quotes"),
        ({"compute": {"Reason": r"ticket\\#1"}}, r"must be one word with \# for '#'"),
        ({"compute": {"Reason": "ticket\\"}}, r"must be one word with \# for '#'"),
        ({"custom": [{"PrivateData": "none,secrets"}]}, "usage or users, with commas, got 'none,secrets'"),
        (
            {"custom": [{"SelectTypeParameters": "CR_LLN"}]},
            "unless beside select/linear, got 'CR_LLN'; Slurm would not start",
        ),
        ({"custom": [{"SelectTypeParameters": "CR_LLN,CR_Core,CR_Socket"}]}, "got 'CR_LLN,CR_Core,CR_Socket'"),
        ({"custom": [{"PrivateData": "jobs#usage"}]}, "got 'jobs#usage'"),
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
        ({"custom": [{"KillWait": 60}, {"killwait": 61}]}, "'slurm.custom[1].killwait' must be given once"),
        ({"custom": [{"KillWait": 60, "GresTypes": "gpu"}]}, "GresTypes' is ParallelCluster's own to set"),
        ({"custom": [{"PartitionName": "own", "MaxTme": 1}]}, "is no parameter of a partition in slurm.conf"),
        ({"queue": {"MaxTime": "1 day"}}, "days-hours or UNLIMITED, as 1-12, got '1 day'"),
        ({"queue": {"MaxTme": 1}}, "'queues[0].slurm.MaxTme' is no parameter of a partition"),
        ({"queue": {"MaxTime": 1, "maxtime": 2}}, "'queues[0].slurm.maxtime' must be given once"),
        ({"compute": {"MaxTime": 1}}, "'queues[0].compute[0].slurm.MaxTime' is no parameter of a node"),
    ],
    ids=named,
)
def test_what_slurm_stops_at_is_refused(said: dict[str, Any], problem: str) -> None:
    assert [text for text in problems(**said) if problem in text], problems(**said)


@pytest.mark.parametrize("value", ["a b", True, ["sched/own"]], ids=str)
def test_what_is_no_name_of_a_plugin_is_answered_once(value: object) -> None:
    (problem,) = problems(custom=[{"SchedulerType": value}])
    assert "SchedulerType' must be one " in problem


@pytest.mark.parametrize("level", TABLES)
def test_parallelcluster_knows_the_same_names(level: str) -> None:
    """What ParallelCluster keeps for itself is the second source: its package names each in small letters."""
    known = {name.lower() for name in KNOWN[TABLES[level]]}
    assert [name for name in fact("denied_slurm_settings")[level] if name not in known] == []

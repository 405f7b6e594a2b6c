"""Slurm's parameters: what Slurm would stop at, or silently take the last of, is refused with its name."""

import json
from importlib.resources import files
from typing import Any

import pytest

from cdk_trainyard.parallelcluster.facts import fact
from tests.parallelcluster.slurm import named, problems

KNOWN = json.loads(files("cdk_trainyard.parallelcluster").joinpath("data", "slurm.json").read_text(encoding="utf-8"))
ONE_OR_MORE = "must be a whole number of 1 to 4294967295, or UNLIMITED"
TABLES = {"cluster": "cluster", "accounting": "cluster", "queue": "partition", "compute_resource": "node"}


@pytest.mark.parametrize(
    "said",
    [
        {"custom": [{"KillWait": 60, "MessageTimeout": 30}]},
        {"custom": [{"MetricsType": "metrics/openmetrics"}], "version": "3.16.1"},
        {"custom": [{"PowerAction": "off"}], "image_id": "ami-12345678"},
        {"custom": [{"PowerAction": "off"}], "version": "3.17.0"},
        {
            "custom": [
                {"AccountingStorageType": "accounting_storage/slurmdbd"},
                {"AccountingStorageHost": "db.example"},
                {"AccountingStoragePass": "/run/munge/global.socket.2"},
            ]
        },
        {"custom": [{"SelectTypeParameters": "CR_LLN,CR_Core,CR_Pack_Nodes"}]},
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
        *(
            (
                {"custom": [{f"{prefix}Name": "PriorityType", f"{prefix}Value": "priority/multifactor"}]},
                (
                    f"'slurm.custom[0].{prefix}Name' is no parameter of a cluster in slurm.conf; write PriorityType: "
                    "'priority/multifactor'"
                ),
            )
            for prefix in ("", "Parameter")
        ),
        ({"custom": [{"Name": "x"}]}, "'slurm.custom[0].Name' is no parameter of a cluster in slurm.conf"),
        (
            {"custom": [{"AccountingStoragePass": "hunter2"}]},
            (
                "'slurm.custom[0].AccountingStoragePass' must be the path of a socket of MUNGE, as "
                "/run/munge/global.socket.2: slurmctld takes no password there; leave it out"
            ),
        ),
        ({"custom": [{"KillWait": "x y"}]}, "whole number of 0 to 65535, or UNLIMITED, got 'x y'"),
        ({"custom": [{"KillWait": 70000}]}, "or UNLIMITED, got 70000"),
        ({"custom": [{"KillWait": "\uff13\uff10"}]}, "or UNLIMITED, got '\uff13\uff10'"),
        ({"custom": [{"Licenses": "matlab:\uff15"}]}, "as matlab:5,ansys:2, got 'matlab:\uff15'"),
        ({"queue": {"MaxTime": "10\uff15:00"}}, "or UNLIMITED, as 1-12, got '10\uff15:00'"),
        ({"queue": {"GraceTime": "x"}}, "whole number of 0 to 4294967295, or UNLIMITED, got 'x'"),
        ({"custom": [{"MaxStepCount": "x"}]}, "whole number of 1 to 4294967295, or UNLIMITED, got 'x'"),
        ({"custom": [{"MaxArraySize": "x"}]}, "must be a whole number of 0 to 4000001, got 'x'"),
        ({"custom": [{"PropagatePrioProcess": 70000}]}, "must be a whole number of 0 to 2, got 70000"),
        ({"queue": {"MaxCPUsPerSocket": -1}}, "must be a whole number of 1 to 4294967295, or UNLIMITED, got -1"),
        ({"custom": [{"MaxJobCount": 4294967296}]}, f"MaxJobCount' {ONE_OR_MORE}, got 4294967296"),
        ({"custom": [{"MaxArraySize": 4000002}]}, "MaxArraySize' must be a whole number of 0 to 4000001, got 4000002"),
        ({"custom": [{"MaxArraySize": "UNLIMITED"}]}, "a whole number of 0 to 4000001, got 'UNLIMITED'"),
        ({"custom": [{"MaxJobCount": "4194304K"}]}, f"{ONE_OR_MORE}, got '4194304K'"),
        ({"queue": {"GraceTime": "0x100000000"}}, "whole number of 0 to 4294967295, or UNLIMITED, got '0x100000000'"),
        ({"custom": [{"MaxDBDMsgs": 9999}]}, "must be a whole number of 10000 to 4294967295, or UNLIMITED, got 9999"),
        ({"custom": [{"PropagatePrioProcess": 3}]}, "PropagatePrioProcess' must be a whole number of 0 to 2, got 3"),
        ({"custom": [{"SlurmdPort": 65536}]}, "SlurmdPort' must be a whole number of 1 to 65535, got 65536"),
        ({"queue": {"MaxNodes": 0}}, f"'queues[0].slurm.MaxNodes' {ONE_OR_MORE}, got 0"),
        ({"queue": {"MaxCPUsPerNode": 0}}, f"'queues[0].slurm.MaxCPUsPerNode' {ONE_OR_MORE}, got 0"),
        ({"queue": {"maxcpuspersocket": "0"}}, f"maxcpuspersocket' {ONE_OR_MORE}, got '0'"),
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
        ({"custom": [{"KillWait": 60}, {}]}, "'slurm.custom[1]' must be a parameter with its value, as KillWait: 60"),
        ({"custom": [{"AccountingStorageTRES": "cpu,foo"}]}, "or fs/, with commas, as gres/gpu, got 'cpu,foo'"),
        ({"custom": [{"AccountingStoreFlags": "job_comments,env"}]}, "job_script or no_stdio, with commas, got 'job_"),
        ({"custom": [{"LogTimeFormat": "rfc822"}]}, "rfc3339, clock, short or thread_id, got 'rfc822'"),
        ({"custom": [{"PriorityFlags": "MAX_TRES,TICKET_BASED"}]}, "as MAX_TRES,NO_FAIR_TREE, got 'MAX_TRES,TICKET"),
        ({"custom": [{"PrivateData": "cloud,secrets"}]}, "usage or users, with commas, got 'cloud,secrets'"),
        ({"custom": [{"SrunPortRange": 60001}]}, "must be two ports with a hyphen, as 60001-63000, got 60001"),
        ({"custom": [{"NodeName": "ALL"}]}, "must be another name than ALL, which is Slurm's own word, got 'ALL'"),
        ({"compute": {"Port": 99999}}, "must be a port of 1 to 65535, got 99999"),
        ({"custom": [{"MaxJobCount": 0}]}, "must be a whole number of 1 to 4294967295, or UNLIMITED, got 0"),
        ({"custom": [{"PrologFlags": "Alloc,All"}]}, "X11, but NoHold not with Contain or X11, got 'Alloc,All'"),
        ({"custom": [{"PrologFlags": "NoHold,Contain"}]}, "NoHold not with Contain or X11, got 'NoHold,Contain'"),
        ({"custom": [{"FirstJobId": 0}]}, "FirstJobId' must be a whole number of 1 to 4294967295, or UNLIMITED, got 0"),
        (
            {"custom": [{"FastSchedule": 2}]},
            "is removed from Slurm; leave it out for 1, and give SlurmdParameters config_overrides for 2",
        ),
        ({"custom": [{"SlurmctldDebug": "loud"}]}, "must be a level from quiet to debug5, as info, got 'loud'"),
        ({"queue": {"PreemptMode": "PAUSE"}}, "or SUSPEND, with WITHIN or PRIORITY behind a comma, got 'PAUSE'"),
        ({"custom": [{"PreemptMode": "PAUSE"}]}, "with GANG, WITHIN or PRIORITY behind a comma, got 'PAUSE'"),
        ({"queue": {"PreemptMode": "CANCEL,REQUEUE"}}, "behind a comma, got 'CANCEL,REQUEUE'"),
        ({"queue": {"PreemptMode": "WITHIN,CANCEL,GANG"}}, "behind a comma, got 'WITHIN,CANCEL,GANG'"),
        ({"custom": [{"SelectTypeParameters": "CR_Cores"}]}, "CR_ONE_TASK_PER_CORE not with CR_CPU, got 'CR_Cores'"),
        ({"custom": [{"SelectTypeParameters": "CR_CPU,CR_Core"}]}, "CR_CPU, got 'CR_CPU,CR_Core'"),
        ({"custom": [{"SelectTypeParameters": "CR_CPU,CR_ONE_TASK_PER_CORE"}]}, "CR_ONE_TASK_PER_CORE not with CR_CPU"),
        ({"custom": [{"AccountingStorageEnforce": "limit"}]}, "all, nojobs or nosteps, got 'limit'"),
        ({"queue": {"SelectTypeParameters": "CR_Memory"}}, "CR_Socket or CR_Socket_Memory, got 'CR_Memory'"),
        ({"queue": {"Shared": "YES"}}, "'queues[0].slurm.Shared' is ParallelCluster's own to set"),
        ({"custom": [{"PartitionName": "own", "State": "SIDEWAYS"}]}, "must be UP, DOWN, DRAIN or INACTIVE"),
        ({"custom": [{"SchedulerType": True}]}, "must be one value as Slurm writes it, in quotes, got true"),
        ({"custom": [{"KillWait": 1.5}]}, "or UNLIMITED, got 1.5"),
        ({"custom": [{"TrackWCKey": "perhaps"}]}, "must be YES or NO, got 'perhaps'"),
        ({"custom": [{"PrivateData": "jobs usage"}]}, r"must be one word with \# for '#', or words in double quotes"),
        ({"queue": {"AllowAccounts": "a, b"}}, "got 'a, b'; write 'a,b', without blanks"),
        ({"compute": {"Reason": r"ticket\\#1"}}, r"must be one word with \# for '#'"),
        ({"compute": {"Reason": "ticket\\"}}, r"must be one word with \# for '#'"),
        ({"custom": [{"PrivateData": "none,secrets"}]}, "usage or users, with commas, got 'none,secrets'"),
        ({"custom": [{"SelectTypeParameters": "CR_LLN,CR_Core,CR_Socket"}]}, "got 'CR_LLN,CR_Core,CR_Socket'"),
        ({"custom": [{"PrivateData": "jobs#usage"}]}, "got 'jobs#usage'"),
        ({"custom": [{"KillWait": 60}, {"killwait": 61}]}, "'slurm.custom[1].killwait' must be given once"),
        ({"custom": [{"KillWait": 60, "GresTypes": "gpu"}]}, "GresTypes' is ParallelCluster's own to set"),
        ({"custom": [{"PartitionName": "own", "MaxTme": 1}]}, "is no parameter of a partition in slurm.conf"),
        ({"queue": {"MaxTime": "1 day"}}, "days-hours or UNLIMITED, as 1-12, got '1 day'"),
        ({"queue": {"JobDefaults": "DefCpuPerGPU=4"}}, "; write DefCpuPerGPU and DefMemPerGPU as parameters of"),
        ({"queue": {"MaxTme": 1}}, "'queues[0].slurm.MaxTme' is no parameter of a partition"),
        ({"queue": {"MaxTime": 1, "maxtime": 2}}, "'queues[0].slurm.maxtime' must be given once"),
        ({"compute": {"MaxTime": 1}}, "'queues[0].compute[0].slurm.MaxTime' is no parameter of a node"),
    ],
    ids=named,
)
def test_what_slurm_stops_at_is_refused(said: dict[str, Any], problem: str) -> None:
    assert [text for text in problems(**said) if problem in text], problems(**said)


@pytest.mark.parametrize("name", ["AccountingStoragePass", "JobCompPass"])
def test_a_password_is_not_shown(name: str) -> None:
    found = problems(custom=[{name: "hunter2"}])
    assert found
    assert "hunter2" not in "".join(found)


@pytest.mark.parametrize("name", ["StoragePass", "AccountingStoragPass"])
def test_no_password_is_proposed(name: str) -> None:
    [text] = problems(custom=[{name: "x"}])
    assert "AccountingStoragePass" not in text


@pytest.mark.parametrize("level", TABLES)
def test_parallelcluster_knows_the_same_names(level: str) -> None:
    """What ParallelCluster keeps for itself is the second source: its package names each in small letters."""
    known = {name.lower() for name in KNOWN[TABLES[level]]}
    assert [name for name in fact("denied_slurm_settings")[level] if name not in known] == []

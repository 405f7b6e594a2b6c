"""Plugins that slurm.conf names: one of Slurm's, unless something of your own may bring it."""

from typing import Any

import pytest

from tests.parallelcluster.slurm import TOKEN, named, problems


@pytest.mark.parametrize(
    "said",
    [
        {
            "custom": [
                {"PreemptType": "preempt/partition_prio"},
                {"PreemptMode": "GANG,SUSPEND"},
                {"PriorityType": "priority/basic"},
            ]
        },
        {"custom": [{"JobContainerType": "job_container/tmpfs"}, {"PrologFlags": "x11"}]},
        {"custom": [{"JobContainerType": "job_container/tmpfs"}, {"PrologFlags": TOKEN}]},
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
        {"custom": [{"NamespaceType": "tmpfs"}, {"PrologFlags": "Contain"}], "version": TOKEN},
        {"custom": [{"SelectTypeParameters": "CR_Core_Memory,CR_LLN"}, {"ProctrackType": "proctrack/linuxproc"}]},
        {"custom": [{"SelectTypeParameters": "CR_ONE_TASK_PER_CORE,CR_Socket"}, {"JobCompType": "jobcomp/filetxt"}]},
        {"custom": [{"SelectType": "select/linear"}, {"SelectTypeParameters": "CR_Memory"}]},
        {"custom": [{"SelectType": "select/linear"}, {"SelectTypeParameters": "CR_LLN"}]},
        {"custom": [{"SelectType": "select/linear"}, {"SelectTypeParameters": '"CR_LLN,CR_Pack_Nodes"'}]},
        {"custom": [{"SelectType": TOKEN}, {"SelectTypeParameters": "CR_Memory"}]},
        {"custom": [{"SelectType": "select/linear"}, {"SelectTypeParameters": TOKEN}]},
        {"custom": [{"SelectType": TOKEN}, {"SelectTypeParameters": "CR_Core"}]},
        {"custom": [{"JobCompType": "jobcomp/mysql"}, {"JobCompHost": "localhost"}]},
        {"custom": [{"JobCompType": "jobcomp/mysql"}], "image_id": "ami-12345678"},
        {"custom": [{"SchedulerType": '"sched/builtin"'}]},
    ],
    ids=named,
)
def test_what_slurm_reads_is_taken(said: dict[str, Any]) -> None:
    assert problems(**said) == []


@pytest.mark.parametrize(
    ("said", "problem"),
    [
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
        ({"custom": [{"SchedulerType": "sched/fifo"}]}, "plugins, sched/backfill or sched/builtin, got 'sched/fifo'"),
        ({"custom": [{"PriorityType": "priority/fair"}]}, "plugins, priority/basic or priority/multifactor"),
        ({"custom": [{"PreemptType": "x"}]}, "preempt/qos or preempt/none, with what is before the slash, got 'x'"),
        ({"custom": [{"SelectType": "select/cons_res"}]}, "select/linear or select/other, got 'select/cons_res'"),
        ({"custom": [{"ProctrackType": "cgroup"}]}, "proctrack/pgid, with what is before the slash, got 'cgroup'"),
        ({"custom": [{"JobCompType": "jobcomp/file"}]}, "jobcomp/script or jobcomp/none, got 'jobcomp/file'"),
    ],
    ids=named,
)
def test_what_slurm_stops_at_is_refused(said: dict[str, Any], problem: str) -> None:
    assert [text for text in problems(**said) if problem in text], problems(**said)


@pytest.mark.parametrize("value", ["a b", True, ["sched/own"]], ids=str)
def test_what_is_no_name_of_a_plugin_is_answered_once(value: object) -> None:
    (problem,) = problems(custom=[{"SchedulerType": value}])
    assert "SchedulerType' must be one " in problem

"""Parameters of slurm.conf that Slurm would ignore, and what makes it heed them."""

from typing import Any

import pytest

from tests.parallelcluster.slurm import TOKEN, named, problems

ACCOUNTS = [{"AccountingStorageType": "accounting_storage/slurmdbd"}, {"AccountingStorageHost": "db.example"}]
CHECKED = [{"HealthCheckProgram": "/shared/check"}, {"HealthCheckInterval": 300}]
IGNORED = "; Slurm would ignore it"
BASIC = {"PriorityType": "priority/basic"}


@pytest.mark.parametrize(
    "said",
    [
        {
            "custom": [
                *CHECKED,
                {"HealthCheckNodeState": "cycle,any"},
                {"JobAcctGatherParams": "NoShared,DisableGPUAcct"},
            ]
        },
        {"custom": [CHECKED[0], {"HealthCheckNodeState": "START_ONLY"}, {"Licenses": "foo,bar:12,own@here=3"}]},
        {"custom": [{"HealthCheckInterval": 0}, {"HealthCheckNodeState": "ANY"}, {"AcctGatherNodeFreq": 0}]},
        {"custom": [{"HealthCheckProgram": "/shared/check"}, {"HealthCheckInterval": TOKEN}]},
        {"custom": [{"HealthCheckProgram": "/shared/check"}], "image_id": "ami-12345678"},
        {"custom": [{"AcctGatherNodeFreq": 30}, {"AcctGatherEnergyType": "rapl"}, {"PriorityFavorSmall": "NO"}]},
        {"custom": [{"JobCompLoc": "/var/log/jobs"}, {"JobCompType": "jobcomp/filetxt"}]},
        {"custom": [{"PreemptExemptTime": 10}, {"PreemptType": "preempt/qos"}, {"PreemptMode": "REQUEUE"}, *ACCOUNTS]},
        {"custom": [{"PriorityFavorSmall": True}, {"PriorityWeightJobSize": 10}]},
        {"custom": [{"PriorityMaxAge": "3-0"}, {"PriorityWeightAge": 10}, *ACCOUNTS]},
        {"custom": [{"FairShareDampeningFactor": 1}, {"PriorityUsageResetPeriod": "none"}]},
        {"custom": [{"PriorityDecayHalfLife": 0}, {"PriorityUsageResetPeriod": "MONTHLY"}]},
        {"custom": [{"PriorityDecayHalfLife": "7-00:00:00"}, {"PriorityMaxAge": "07-00"}]},
        {"custom": [BASIC, {"PriorityCalcPeriod": "00:05:00"}, {"PriorityMaxAge": "7-00:00:00"}]},
        {"custom": [{"AccountingStorageHost": "localhost"}, {"AccountingStoragePort": 6819}, {"JobCompUser": "root"}]},
        {"custom": [{"JobCompLoc": "/var/log/slurm_jobcomp.log"}, {"JobCompPort": 0}, {"JobCompHost": "localhost"}]},
        {"custom": [{"FairShareDampeningFactor": 5}, *ACCOUNTS, {"AccountingStoragePort": 6819}]},
        {"custom": [{"PriorityType": "priority/basic"}, {"PriorityMaxAge": "168:00:00"}, {"PriorityWeightAge": 0}]},
        {"custom": [{"JobAcctGatherType": "jobacct_gather/none"}, {"JobAcctGatherFrequency": "30"}]},
        {"custom": [{"JobAcctGatherType": "jobacct_gather/none"}, {"JobAcctGatherFrequency": "task=5,energy=5"}]},
        {"custom": [{"SchedulerType": "sched/builtin"}, {"SchedulerParameters": "defer,bf_max_job_test=9"}]},
        {"custom": [{"AccountingStorageType": "accounting_storage/slurmdbd"}], "image_id": "ami-12345678"},
        {"custom": [{"PriorityUsageResetPeriod": "monthly"}, {"SlurmctldPort": "6820-6829"}, *ACCOUNTS]},
        {"custom": [{"PriorityDecayHalfLife": 0}, {"PriorityUsageResetPeriod": "WEEKLY"}, *ACCOUNTS]},
        {"custom": [{"JobAcctGatherParams": "OverMemoryKill"}, {"PriorityDecayHalfLife": "14-0"}, *ACCOUNTS]},
    ],
    ids=named,
)
def test_what_slurm_heeds_is_taken(said: dict[str, Any]) -> None:
    assert problems(**said) == []


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (
            {"custom": [ACCOUNTS[0]]},
            "must be left out for 'accounting' of 'slurm', or be given with AccountingStorageHost, your own",
        ),
        (
            {"custom": [ACCOUNTS[1]]},
            "must be given with AccountingStorageType accounting_storage/slurmdbd in a line of its own, got db.example",
        ),
        (
            {"custom": [{"accountingstorageport": 6820}, {"AccountingStorageType": "accounting_storage/none"}]},
            "accountingstorageport' must be given with AccountingStorageType",
        ),
        (
            {"custom": [CHECKED[0], {"HealthCheckInterval": 0}]},
            "must be given with HealthCheckInterval, the seconds between its runs, in a line of its own",
        ),
        ({"custom": [CHECKED[0], {"HealthCheckNodeState": "IDLE"}]}, "must be given with HealthCheckInterval, the"),
        (
            {"custom": [CHECKED[1]]},
            "must be given with HealthCheckProgram in a line of its own, got 300 without",
        ),
        ({"custom": [{"HealthCheckNodeState": "IDLE"}]}, "must be given with HealthCheckProgram"),
        ({"custom": [{"AcctGatherNodeFreq": 30}, {"AcctGatherEnergyType": "acct_gather_energy/none"}]}, IGNORED),
        ({"custom": [{"JobCompLoc": "/var/jobs"}]}, "must be given with JobCompType, as jobcomp/filetxt, in a line"),
        ({"custom": [{"JobCompPort": 1}, {"JobCompType": "jobcomp/none"}]}, "must be given with JobCompType, as"),
        (
            {"custom": [{"PreemptExemptTime": "0:10"}]},
            "must be given with PreemptType, as preempt/partition_prio, in",
        ),
        ({"custom": [{"PriorityFavorSmall": True}]}, "must be given with PriorityWeightJobSize, as 1000, in a line"),
        (
            {"custom": [{"PriorityMaxAge": "1-0"}]},
            "must be given with PriorityWeightAge, as 1000, which needs a database of accounts, in a line of its own",
        ),
        ({"custom": [{"PriorityDecayHalfLife": "14-0"}]}, "must be left out without 'accounting' of 'slurm'"),
        ({"custom": [{"PriorityUsageResetPeriod": "WEEKLY"}]}, "must be left out without 'accounting' of 'slurm'"),
        ({"custom": [{"FairShareDampeningFactor": 5}]}, "Slurm would ignore it, got 5"),
        ({"custom": [BASIC, {"PriorityCalcPeriod": 9}]}, "must be left out beside priority/basic, got 9" + IGNORED),
        ({"custom": [BASIC, {"PriorityMaxAge": "1-0"}]}, "must be left out beside priority/basic, got 1-0" + IGNORED),
        ({"custom": [BASIC, {"PriorityWeightPartition": 9}]}, "must be left out beside priority/basic, got 9"),
        (
            {"custom": [{"JobAcctGatherType": "jobacct_gather/none"}, {"JobAcctGatherFrequency": "task=5"}]},
            "must be left out beside jobacct_gather/none, got task=5" + IGNORED,
        ),
        (
            {"custom": [{"SchedulerType": "sched/builtin", "SchedulerParameters": "defer,bf_window=10"}]},
            "must have no bf_ parameters of the backfill beside sched/builtin, got defer,bf_window=10" + IGNORED,
        ),
    ],
    ids=named,
)
def test_what_slurm_would_ignore_is_refused(said: dict[str, Any], problem: str) -> None:
    assert [text for text in problems(**said) if problem in text], problems(**said)

"""The words of the constructs in the words of the deployment file.

Rules speak to people who write Python. Keywords are the same in the file; where a value or a remedy is a Python
expression, its counterpart stands here.
"""

import re
from typing import Final

_WORDS: Final = (
    (r"'strategy'", "'slurm_config_strategy'"),
    (r"'key'", "'key_arn'"),
    (r"'controller_role'", "'controller_role_arn'"),
    (r"'read_cache'", "'read_cache_gib'"),
    (r"'wait'", "'wait_seconds'"),
    (r"'certificate'", "'certificate_arn'"),
    (r"'request_timeout'", "'request_timeout_seconds'"),
    (r"use DoorAuthentication\.jwt", "use kind jwt"),
    (r"use DoorAuthentication\.api_key", "use 'authentication' of kind api_key"),
    (r"use hub_token\b", "use 'hub_token_secret_arn'"),
    (r"'rollback_alarms'", "'rollback_alarm_arns'"),
    (r"'backup_retention'", "'backup_retention_days'"),
    (r"'entry' must", "the script must"),
    (r"SlurmTopology\.API_DRIVEN", "api"),
    (r"SlurmTopology\.LEGACY", "legacy"),
    (r"\bCONTINUOUS\b", "Continuous"),
    (r"\bINSTANCE_CONNECTIVITY\b", "InstanceConnectivity"),
    (r"\bPER_ZONE\b", "per-zone"),
    (r"\bmust be ONE\b", "must be one"),
    (r"\bSPOT\b", "Spot"),
    (r"got (MERGE|MANAGED|OVERWRITE)\b", lambda match: f"got {match[1].title()}"),
    (r"; make it with a class method of LustreDeployment", ""),
    (r"LustreDeployment\.persistent_2 or \.scratch_2", "PERSISTENT_2 or SCRATCH_2"),
    (r"LustreDeployment\.persistent_2 or \.intelligent_tiering", "PERSISTENT_2"),
    (r"LustreDeployment\.persistent_2", "PERSISTENT_2"),
    (r"LustreReadCache\.gib\((\d+)\)", r"\1"),
    (r"; use LustreReadCache\.proportional\(\)", ""),
    (r"a second EbsVolume", "a second volume"),
    (r"RootSquash\.disabled\(\)", "uid 0 and gid 0"),
    (r"; several controllers need LegacyTopology\(.*\)$", "; several controllers need the construct library"),
    (r"; use MultiHead\(.*\)$", ""),
    (r"\bwith LegacyTopology\b", "with topology legacy"),
    (r"\buse ApiTopology\b", "use topology api"),
    (r"Lifecycle\.image\(\)", "none"),
    (r"give TrainingNetwork 'service_zones'", "give 'network' its 'service_zones'"),
    (r"'file_system' of", "'lustre', mounted as"),
    (r"'group_arn'", "'reservation_group_arn'"),
    (r"'(idle|grace)_(?:time|period)' in minutes", r"'\1_minutes'"),
    (r"'(head|compute)_node'(?: in seconds)? of the timeouts", r"'\1_node_minutes' of the timeouts"),
    (r"(?:Fleet)?Placement\.(cluster|anywhere)\(\)", r"\1"),
    (r" or in_group\(\.\.\.\) with the group that it was made in", ""),
    (r"'size' must be (?=[0-9]+ (?:to [0-9]+ )?nodes)", "'count' must be "),
    (r"'mount_at'", "'at'"),
    (r"NodeImage\.from_parameter", "'parameter'"),
    (r"build one with TrainingImage on '(.+)'$", r"give it 'build' with the base \1"),
    (r"use NodeImage\.ami with", "use 'ami_id' with"),
    (r"of TrainingNetwork", "of a new network"),
    (r", a newer type is added with InstanceType\.register", ""),
    (r"'HeadNode\.LocalStorage\.EphemeralVolume\.MountDir'", "'scratch_at' of the head node"),
    (r"'Scheduling\.SlurmQueues\[(.*?)\]\..*\.EphemeralVolume\.MountDir'", r"'scratch_at' of queue '\1'"),
    (r"\bCAPACITY_BLOCK\b", "capacity-block"),
    (r"\bONDEMAND\b", "on-demand"),
    (r"\b(True|False)\b", lambda match: match[1].lower()),
    (r"give it to the group, as InstanceGroup\(raw_overrides=…\)", "give it to the group's 'raw_overrides'"),
)


def in_words_of_the_file(problem: str) -> str:
    """Return a construct's problem as it is said of the deployment file."""
    for pattern, replacement in _WORDS:
        problem = re.sub(pattern, replacement, problem)
    return problem

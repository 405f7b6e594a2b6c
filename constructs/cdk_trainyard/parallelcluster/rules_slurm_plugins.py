"""Whether Slurm has the plugins that ``slurm.conf`` names. Pure: nothing is created here.

Source: the folders of ``src/plugins``, and the loaders of ``src/interfaces``, Slurm 23.11 to 26.05.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.slurm_lines import is_said, said
from cdk_trainyard.parallelcluster.slurm_values import slurm_facts, value_problem
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import Problem, either, shown
from cdk_trainyard.tokens import Unknown, unresolved

Problems = Iterator[Problem]
_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "accountingstoragetype": ("accounting_storage",),
    "acctgatherenergytype": ("acct_gather_energy",),
    "acctgatherfilesystemtype": ("acct_gather_filesystem",),
    "acctgatherinterconnecttype": ("acct_gather_interconnect",),
    "acctgatherprofiletype": ("acct_gather_profile",),
    "authalttypes": ("auth",),
    "authtype": ("auth",),
    "burstbuffertype": ("burst_buffer",),
    "clifilterplugins": ("cli_filter",),
    "credtype": ("cred",),
    "hashplugin": ("hash",),
    "jobacctgathertype": ("jobacct_gather",),
    "jobcomptype": ("jobcomp",),
    "jobcontainertype": ("job_container", "namespace"),
    "jobsubmitplugins": ("job_submit",),
    "mcsplugin": ("mcs",),
    "mpidefault": ("mpi",),
    "namespacetype": ("namespace",),
    "nodefeaturesplugins": ("node_features",),
    "preempttype": ("preempt",),
    "prepplugins": ("prep",),
    "prioritytype": ("priority",),
    "proctracktype": ("proctrack",),
    "schedulertype": ("sched",),
    "selecttype": ("select",),
    "switchtype": ("switch",),
    "tlstype": ("tls",),
    "topologyplugin": ("topology",),
}
"""Parameters that name plugins, in small letters, and the kinds of these."""
_SHORT: Final = {
    "acct_gather_energy",
    "acct_gather_interconnect",
    "auth",
    "burst_buffer",
    "cli_filter",
    "cred",
    "hash",
    "job_container",
    "job_submit",
    "mpi",
    "namespace",
    "node_features",
    "prep",
}
"""Kinds of which a plugin may be named without its kind."""
_READ_AS: Final = {"auth": "cred", "job_container": "namespace"}
"""Kinds that Slurm takes for another, where that is asked for."""
_MORE: Final = {"credtype": ("cred/slurm",), "jobcomptype": ("jobcomp/none",), "preempttype": ("preempt/none",)}
"""Names that have no plugin in the folder of their kind."""
_EXACT: Final = {"preempttype", "prioritytype", "proctracktype", "schedulertype", "selecttype"}
"""Parameters that have no other words for none."""
_ONE: Final = {
    *_EXACT,
    "accountingstoragetype",
    "acctgatherfilesystemtype",
    "acctgatherprofiletype",
    "authtype",
    "credtype",
    "jobacctgathertype",
    "jobcomptype",
    "mcsplugin",
    "mpidefault",
    "switchtype",
    "topologyplugin",
}
"""Parameters that name one plugin in every version, without commas."""
_NO_FILES: Final = r"(?i).*none.*|.*openmpi.*|(mpi/)?pmix_v[0-9]+|(topology/)?default|.*(infiniband|rsmi).*"
"""Names that Slurm reads without a plugin of that name: none, other names of the same, and one for each library."""


def plugin_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """A plugin is one of Slurm's, unless an image, a script or a folder of yours may bring it."""
    for parameter, kinds in _KINDS.items():
        known = [f"{kind}/{name}" for kind in kinds for name in slurm_facts()["plugins"].get(kind, ())]
        known.extend(_MORE.get(parameter, ()))
        for at, value in said(spec, parameter):
            if unresolved(value) or value_problem("cluster", parameter, "text", value):
                continue  # nothing that could be a name
            text = str(value).strip('"')
            for word in [text] if parameter in _ONE else filter(None, text.split(",")):
                names = _names(word, kinds)
                if not set(names).isdisjoint(known) or (parameter not in _EXACT and re.fullmatch(_NO_FILES, word)):
                    continue
                if not any(name.startswith(tuple(f"{kind}/" for kind in kinds)) for name in names):
                    yield Problem(at, f"must be {either(known)}, with what is before the slash, got {shown(word)}")
                elif not (has_own_head_node(spec) or is_said(spec, "plugindir")):
                    words = f"must be one of Slurm's plugins, {either(known)}, got {shown(word)}"
                    yield Problem(at, words + did_you_mean(names[0], known))


def has_own_head_node(spec: ParallelClusterSpec) -> bool:
    """Return whether an image, a script or raw keys may bring what ParallelCluster's head node has not.

    Args:
        spec: The cluster.
    """
    head = spec.head_node
    own = (spec.image_id, spec.raw_overrides, head.image_id, head.on_start, head.on_configured, head.raw_overrides)
    return any(isinstance(one, Unknown) or one for one in own)


def _names(word: str, kinds: tuple[str, ...]) -> list[str]:
    """Return the whole names that Slurm may read a word as."""
    kind, slash, name = word.rpartition("/")
    if not slash and kinds[0] in _SHORT:
        return [f"{each}/{word}" for each in kinds]
    return [word, f"{_READ_AS[kind]}/{name}"] if kind in _READ_AS else [word]

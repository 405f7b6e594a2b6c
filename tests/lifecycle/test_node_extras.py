"""Options of nodes beside mounts, users and Slurm: their defaults, what is written for the nodes, what is refused."""

from collections.abc import Sequence
from dataclasses import fields, replace

import pytest
from aws_cdk import App, CfnParameter, Stack
from aws_cdk import aws_s3 as s3

from cdk_trainyard.lifecycle import (
    Containers,
    Exporters,
    GroupRole,
    NeuronEnvironment,
    NodeGroup,
    NodeLustre,
    NodeSettings,
    NodeSetup,
    NodeTool,
    PamSlurmAdopt,
    S3Mount,
    SlurmTopology,
    ToolFile,
)
from cdk_trainyard.lifecycle.rules_setup import NOT_SLURMS_PORT, Nodes, setup_problems
from cdk_trainyard.lifecycle.tools import address, pinned_architectures, tool_files
from cdk_trainyard.options.judging import Judge
from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.problems import sentence

SUM = "0" * 64
LUSTRE = NodeLustre(dns_name="fs-1", mount_name="x", mount_path="/fsx")
EXTRAS = ("containers", "neuron_environment", "exporters", "s3_mounts", "pam_slurm_adopt", "tools")
BUCKET = s3.Bucket.from_bucket_name(Stack(App(), "Stack"), "Bucket", "datasets")


def settings(setup: NodeSetup, *types: str, lustre: NodeLustre | None = LUSTRE) -> NodeSettings:
    groups = [
        NodeGroup(name="head", role=GroupRole.CONTROLLER, instance_types=["ml.m5.large"]),
        *(
            NodeGroup(name=f"group-{number}", role=GroupRole.COMPUTE, instance_types=[kind])
            for number, kind in enumerate(types or ("ml.trn1.32xlarge",))
        ),
    ]
    return NodeSettings(groups=groups, lustre=lustre, setup=setup)


def rendered(setup: NodeSetup, *types: str, lustre: NodeLustre | None = LUSTRE) -> dict[str, object]:
    whole = settings(setup, *types, lustre=lustre).render(topology=SlurmTopology.API_DRIVEN, users_file=None)
    return {name: whole[name] for name in EXTRAS if name in whole}


# ---------------------------------------------------------------- what the nodes are told
def test_nothing_is_written_for_what_is_not_asked_for() -> None:
    assert rendered(NodeSetup()) == {}


def test_defaults_one_by_one() -> None:
    assert {field.name: field.default for field in fields(Containers)} == {
        "docker": True,
        "enroot": True,
        "pyxis": True,
    }
    assert {field.name: field.default for field in fields(NeuronEnvironment)} == {
        "path": None,
        "packages": None,
        "index": None,
    }
    assert {field.name: field.default for field in fields(Exporters)} == {
        "port": 9100,
        "slurm": True,
        "efa": True,
        "lustre": True,
        "neuron": False,
        "neuron_port": 8000,
        "gpu": False,
        "gpu_port": 9400,
        "gpu_image": None,
    }
    mount = S3Mount(bucket=BUCKET, path="/data")
    assert (mount.prefix, mount.read_only) == ("", True)
    assert PamSlurmAdopt().admin_groups == ("sudo",)
    file = ToolFile(tool=NodeTool.PYXIS, sha256=SUM)
    assert (file.architecture, file.url, file.bucket, file.key) == ("x86_64", None, None, None)


def test_each_option_is_written_under_its_name() -> None:
    setup = NodeSetup(
        containers=Containers(docker=False),
        neuron_environment=NeuronEnvironment(),
        exporters=Exporters(slurm=False),
        s3_mounts=[
            S3Mount(bucket=BUCKET, path="/data", prefix="v1!(a)/b=1/"),
            S3Mount(bucket=BUCKET, path="/out", read_only=False),
        ],
        pam_slurm_adopt=PamSlurmAdopt(admin_groups=["sudo", "HPC.Admins"]),
        tools=[ToolFile(tool=NodeTool.ENROOT, bucket=BUCKET, key="enroot.deb", sha256="A" * 64)],
    )
    told = rendered(setup)
    tools = told.pop("tools")
    assert told == {
        "containers": {"enroot": True, "pyxis": True},
        "neuron_environment": {
            "path": "/fsx/neuron-environment",
            "packages": ["torch-neuronx==2.9.0.2.11.19912", "neuronx-cc==2.22.12471.0"],
            "pythons": ["3.10", "3.11", "3.12"],
            "driver": "2.25.4.0",
        },
        "exporters": {"port": 9100, "efa": True, "lustre": True, "neuron_port": 8000, "gpu_port": 9400},
        "s3_mounts": [
            {"bucket": "datasets", "path": "/data", "prefix": "v1!(a)/b=1/", "read_only": True},
            {"bucket": "datasets", "path": "/out"},
        ],
        "pam_slurm_adopt": {"admin_groups": ["sudo", "HPC.Admins"]},
    }
    assert isinstance(tools, dict)
    assert sorted(tools) == ["enroot", "mountpoint", "node_exporter"]
    assert tools["enroot"] == {"x86_64": {"url": "s3://datasets/enroot.deb", "sha256": "a" * 64}}


def test_a_node_is_told_what_its_packages_were_released_for() -> None:
    told = rendered(NodeSetup(neuron_environment=NeuronEnvironment(packages=["neuronx-cc==2.26.6360.0", "a[I18N]==1"])))
    assert isinstance(told["neuron_environment"], dict)
    assert told["neuron_environment"]["pythons"] == ["3.11", "3.12", "3.13"]
    assert told["neuron_environment"]["driver"] == "2.29.0.0"
    told = rendered(NodeSetup(neuron_environment=NeuronEnvironment(packages=["a==1"])))
    assert told["neuron_environment"] == {"path": "/fsx/neuron-environment", "packages": ["a==1"]}


def test_a_node_is_told_of_tools_for_the_processors_of_the_cluster() -> None:
    told = rendered(NodeSetup(exporters=Exporters()), "ml.c5.large", "ml.c6g.large")
    assert isinstance(told["tools"], dict)
    assert sorted(told["tools"]["node_exporter"]) == ["arm64", "x86_64"]
    told = rendered(NodeSetup(exporters=Exporters()), "ml.c5.large")
    assert isinstance(told["tools"], dict)
    assert sorted(told["tools"]["node_exporter"]) == ["x86_64"]


def test_a_given_file_takes_the_place_of_the_pinned_one() -> None:
    own = ToolFile(tool=NodeTool.MOUNTPOINT, url="https://files.example/mount-s3.tar.gz", sha256=SUM)
    found = tool_files([NodeTool.MOUNTPOINT], [own], ["x86_64"])
    assert found == {"mountpoint": {"x86_64": {"url": "https://files.example/mount-s3.tar.gz", "sha256": SUM}}}


def test_a_file_is_in_the_bucket_of_the_scripts_unless_it_names_another() -> None:
    own = ToolFile(tool=NodeTool.ENROOT, key="tools/enroot.deb", sha256=SUM)
    assert address(own, "scripts") == "s3://scripts/tools/enroot.deb"
    assert address(replace(own, bucket=BUCKET), "scripts") == "s3://datasets/tools/enroot.deb"


@pytest.mark.parametrize("tool", NodeTool)
def test_pinned_files_are_whole_and_known_by_their_sum(tool: NodeTool) -> None:
    for architecture in pinned_architectures(tool):
        file = tool_files([tool], [], [architecture])[tool.value][architecture]
        assert file["url"].startswith("https://")
        assert len(file["sha256"]) == 64
        assert address(ToolFile(tool=tool, architecture=architecture, **file)) == file["url"]


# ---------------------------------------------------------------- what is refused
def problems_of(setup: NodeSetup, *types: str, lustre: NodeLustre | None = LUSTRE) -> list[str]:
    told = settings(setup, *types, lustre=lustre)
    return problems_on(setup, told.groups, lustre)


def problems_on(setup: NodeSetup, groups: Sequence[NodeGroup], lustre: NodeLustre | None = LUSTRE) -> list[str]:
    judge = Judge(environment=NOWHERE)
    judged = judge.judged(setup)
    path = lustre and lustre.mount_path
    nodes = Nodes(groups=groups, mounts=[path] if path else [], shared=path, home=path and f"{path}/ubuntu")
    return [sentence(problem) for problem in [*judge.problems, *setup_problems(judged, nodes)]]


NO_NEURON = "'{}' must be left out when no instance type has Neuron devices, got ml.m5.large, ml.p5.48xlarge"
NO_GPU = "'exporters.gpu' must be left out when no instance type has GPUs, got ml.m5.large, ml.trn1.32xlarge"
ABSOLUTE = "must be an absolute path of letters, digits, '.', '_' and '-' without a slash at the end, as /fsx, got"
SYSTEM = "must not be in a directory of the system, got"
PREFIX = (
    "'s3_mounts[0].prefix' must be a key prefix of letters, digits and any of !_.()=- with a slash at its end, "
    "none at its beginning, and no part that is '.' or '..', as tokenized/, got"
)
GROUP = (
    "'pam_slurm_adopt.admin_groups[0]' must be the name of a group without blanks, of letters, digits and ._@-, "
    "as sudo, got"
)
EXACT = "must be a pip requirement with an exact version, as neuronx-cc==2.22.12471.0, got"
OBJECT = (
    "must be the key of an object, in signs of ISO 8859-1 as IAM's policies are, without '${', '{{resolve:', blanks "
    "at its ends, a first '../' or a last slash, as tools/enroot.deb, got"
)
NO_TOOL = (
    "'tools' must have a file of mountpoint for arm64, on which nodes of 'group-0' run, when 's3_mounts' is given; "
    "none is pinned"
)
WITHOUT_USER = "must be a URL without user and password, as https://mirror.example/simple"
UNFETCHED = "no node would fetch it"
HIDDEN = "in it or around it, as it is mounted, got"


def mounts(*paths: str, prefix: str = "") -> NodeSetup:
    return NodeSetup(s3_mounts=[S3Mount(bucket=BUCKET, path=path, prefix=prefix) for path in paths])


def tool(**given: object) -> NodeSetup:
    known: dict[str, object] = {"tool": NodeTool.ENROOT, "sha256": SUM, "url": "https://files.example/a.deb"}
    file = ToolFile(**(known | given))
    return NodeSetup(containers=Containers() if file.tool is NodeTool.ENROOT else None, tools=[file])


@pytest.mark.parametrize(
    ("setup", "types", "problem"),
    [
        (
            NodeSetup(containers=Containers(docker=False, enroot=False, pyxis=False)),
            (),
            "'containers' must ask for Docker, Enroot or Pyxis, got none; leave it out",
        ),
        (
            NodeSetup(containers=Containers(enroot=False)),
            (),
            "'containers.pyxis' must be false when 'enroot' is false, got true: Pyxis runs containers with Enroot",
        ),
        (
            NodeSetup(neuron_environment=NeuronEnvironment()),
            ("ml.p5.48xlarge",),
            NO_NEURON.format("neuron_environment"),
        ),
        (
            NodeSetup(neuron_environment=NeuronEnvironment(path="/etc")),
            (),
            f"'neuron_environment.path' {SYSTEM} '/etc'",
        ),
        (
            NodeSetup(neuron_environment=NeuronEnvironment(path="/fsx")),
            (),
            "'neuron_environment.path' must not be /fsx or around it, got '/fsx'; it becomes a link",
        ),
        *(
            (
                NodeSetup(neuron_environment=NeuronEnvironment(path=path)),
                (),
                f"'neuron_environment.path' must not be {made} or around it, got '{path}'; it becomes a link",
            )
            for path, made in (
                ("/fsx/ubuntu", "/fsx/ubuntu"),
                ("/fsx/trainyard", "/fsx/trainyard/hostfile"),
                ("/fsx/trainyard/ssh-hosts", "/fsx/trainyard/ssh-hosts"),
            )
        ),
        (
            NodeSetup(neuron_environment=NeuronEnvironment(packages=["torch-neuronx==2.9.0", "neuronx-cc"])),
            (),
            f"'neuron_environment.packages[1]' {EXACT} 'neuronx-cc'",
        ),
        *(
            (
                NodeSetup(neuron_environment=NeuronEnvironment(packages=[wrong])),
                (),
                f"'neuron_environment.packages[0]' {EXACT} '{wrong}'",
            )
            for wrong in (
                "--extra-index-url==https",
                "-r==1",
                "torch-==1",
                "torch==2..8",
                "torch==2.8.x",
                "torch-neuronx==1e",
                "neuronx-cc==2.22.12471.0aaa",
            )
        ),
        (
            NodeSetup(neuron_environment=NeuronEnvironment(packages=[f"{'x' * 254}==1"])),
            (),
            "'neuron_environment.packages[0]' must have 1 to 256 characters, got 257",
        ),
        (
            NodeSetup(neuron_environment=NeuronEnvironment(packages=[])),
            (),
            (
                "'neuron_environment.packages' must name 1 package or more, got none; "
                "leave it out for those of the Neuron SDK"
            ),
        ),
        (
            NodeSetup(neuron_environment=NeuronEnvironment(packages=["torch-neuronx==2.9.0", "Torch_NeuronX==2.8.0"])),
            (),
            (
                "'neuron_environment.packages[1]' must be a package that is not before it, "
                "got 'Torch_NeuronX==2.8.0'; pip takes one"
            ),
        ),
        (
            NodeSetup(neuron_environment=NeuronEnvironment(index="https://me:secret@mirror.example")),
            (),
            f"'neuron_environment.index' {WITHOUT_USER}; take out what stands before '@'",
        ),
        (NodeSetup(exporters=Exporters(neuron=True)), ("ml.p5.48xlarge",), NO_NEURON.format("exporters.neuron")),
        (NodeSetup(exporters=Exporters(gpu=True)), (), NO_GPU),
        (NodeSetup(exporters=Exporters(gpu=True, gpu_port=9401)), (), f"{NO_GPU}; leave 'gpu_port' out, too"),
        (NodeSetup(exporters=Exporters(port=80)), (), "'exporters.port' must be 1024 to 65535, got 80"),
        (NodeSetup(exporters=Exporters(port=6818)), (), f"'exporters.port' {NOT_SLURMS_PORT}, got 6818"),
        (
            NodeSetup(exporters=Exporters(port=8000, neuron=True)),
            (),
            "'exporters.neuron_port' must be another port than 'port', got 8000",
        ),
        (
            NodeSetup(exporters=Exporters(gpu_image="dcgm@sha256:" + SUM)),
            (),
            "'exporters.gpu_image' must be left out when 'gpu' is false; remove it",
        ),
        (
            NodeSetup(exporters=Exporters(gpu_port=9401)),
            ("ml.p5.48xlarge",),
            "'exporters.gpu_port' must be left out when 'gpu' is false; set 'gpu' to true, or remove it",
        ),
        (
            NodeSetup(exporters=Exporters(neuron_port=8001)),
            (),
            "'exporters.neuron_port' must be left out when 'neuron' is false; set 'neuron' to true, or remove it",
        ),
        (
            NodeSetup(local_accounting=True, exporters=Exporters(neuron=True, neuron_port=3306)),
            (),
            (
                "'exporters.neuron_port' must be another port than 3306, which MariaDB of 'local_accounting' has on "
                "the controller, got 3306"
            ),
        ),
        (
            tool(tool=NodeTool.PAM_SLURM_ADOPT),
            (),
            f"'tools[0]' must be left out without 'pam_slurm_adopt': {UNFETCHED}",
        ),
        (
            NodeSetup(pam_slurm_adopt=PamSlurmAdopt(in_image=True), tools=tool(tool=NodeTool.PAM_SLURM_ADOPT).tools),
            (),
            f"'tools[0]' must be left out when 'in_image' of 'pam_slurm_adopt' is true: {UNFETCHED}",
        ),
        *(
            (tool(tool=name), (), f"'tools[0]' must be left out without {asked}: {UNFETCHED}")
            for name, asked in [
                (NodeTool.NODE_EXPORTER, "'exporters'"),
                (NodeTool.VMAGENT, "metrics that go to a workspace"),
                (NodeTool.MOUNTPOINT, "'s3_mounts'"),
                (NodeTool.PYXIS, "'containers'"),
            ]
        ),
        *(
            (
                NodeSetup(containers=Containers(enroot=enroot, pyxis=False), tools=tool(tool=name).tools),
                (),
                f"'tools[0]' must be left out when '{part}' of 'containers' is false: {UNFETCHED}",
            )
            for name, part, enroot in [
                (NodeTool.ENROOT, "enroot", False),
                (NodeTool.ENROOT_CAPS, "enroot", False),
                (NodeTool.PYXIS, "pyxis", True),
            ]
        ),
        (
            tool(architecture="arm64"),
            (),
            f"'tools[0]' must be left out where no node is arm64, got ml.m5.large, ml.trn1.32xlarge: {UNFETCHED}",
        ),
        (
            NodeSetup(exporters=Exporters(gpu=True, gpu_image="dcgm-exporter:latest")),
            ("ml.p5.48xlarge",),
            (
                "'exporters.gpu_image' must be an image by its digest, as registry/name@sha256:<digest>, got "
                "'dcgm-exporter:latest'"
            ),
        ),
        (mounts("data"), (), f"'s3_mounts[0].path' {ABSOLUTE} 'data'"),
        (mounts("/usr/share/data"), (), f"'s3_mounts[0].path' {SYSTEM} '/usr/share/data'"),
        (
            mounts("/data/../etc"),
            (),
            "'s3_mounts[0].path' must be written without '.' and '..' as parts, got '/data/../etc'",
        ),
        (
            mounts("/home"),
            (),
            "'s3_mounts[0].path' must not be /home, which has the users' own directories, got '/home'",
        ),
        (mounts("/data", prefix="v1"), (), f"{PREFIX} 'v1'"),
        (mounts("/data", prefix="/v1/"), (), f"{PREFIX} '/v1/'"),
        (mounts("/data", prefix="%n/"), (), f"{PREFIX} '%n/'"),
        (mounts("/data", prefix="v1/../v2/"), (), f"{PREFIX} 'v1/../v2/'"),
        (mounts("/data", prefix="./"), (), f"{PREFIX} './'"),
        (mounts("/fsx/data"), (), f"'s3_mounts[0].path' must not be /fsx, {HIDDEN} '/fsx/data'"),
        (mounts("/data", "/data/more"), (), f"'s3_mounts[1].path' must not be /data, {HIDDEN} '/data/more'"),
        (mounts("/data/more", "/data"), (), f"'s3_mounts[1].path' must not be /data/more, {HIDDEN} '/data'"),
        (mounts("/data"), ("ml.c6g.large",), NO_TOOL),
        (
            NodeSetup(pam_slurm_adopt=PamSlurmAdopt(admin_groups=["Team ML"], in_image=True)),
            (),
            f"{GROUP} 'Team ML'",
        ),
        (
            tool(architecture="amd64"),
            (),
            "'tools[0].architecture' must be x86_64 or arm64, got 'amd64'; write x86_64",
        ),
        (tool(sha256="12"), (), f"'tools[0].sha256' must be 64 hexadecimal digits, as {SUM}, got '12'"),
        (tool(url=None), (), "'tools[0]' must have 'url' or 'key', got neither"),
        (
            tool(bucket=BUCKET, key="a"),
            (),
            "'tools[0].url' must be left out beside 'key': a file is in one place",
        ),
        (tool(bucket=BUCKET), (), "'tools[0].bucket' must be left out without 'key' of an object in it"),
        (
            tool(url="http://files.example/a"),
            (),
            "'tools[0].url' must be an https URL, as https://files.example/enroot.deb, got 'http://files.example/a'",
        ),
        (
            tool(url="https://files.example/a?token=x"),
            (),
            "'tools[0].url' must be without a query and a fragment, which begin with '?' and '#'",
        ),
        (tool(url="https://a.example/"), (), "'tools[0].url' must have the path of a file, got 'https://a.example/'"),
        *(
            (tool(key=key, url=None), (), f"'tools[0].key' {OBJECT} {key!r}")
            for key in ("tools/", "../a.deb", " a", "a ", "a${b}", "\u30c4.deb")
        ),
        (
            NodeSetup(containers=Containers(), tools=[*tool().tools, *tool().tools]),
            (),
            "'tools[1]' must be the one file of enroot for x86_64, got a second",
        ),
    ],
)
def test_fails_for_what_cannot_work(setup: NodeSetup, types: tuple[str, ...], problem: str) -> None:
    assert problems_of(setup, *types) == [problem]


def test_an_address_may_have_a_blank_as_urls_write_it() -> None:
    assert problems_of(tool(url="https://files.example/a%20b.deb")) == []


def test_fails_for_an_environment_without_a_shared_place() -> None:
    setup = NodeSetup(neuron_environment=NeuronEnvironment())
    assert problems_of(setup, lustre=None) == [
        "'neuron_environment.path' must be given when there is no shared file system, got none"
    ]
    given = replace(setup, neuron_environment=NeuronEnvironment(path="/home/ubuntu/neuron"))
    assert problems_of(given, lustre=None) == []


@pytest.mark.parametrize("path", ["/fsx/ubuntu/neuron", "/fsx/trainyard/neuron"])
def test_an_environment_may_be_linked_beside_what_the_scripts_make(path: str) -> None:
    assert problems_of(NodeSetup(neuron_environment=NeuronEnvironment(path=path))) == []


def test_the_port_of_mariadb_is_an_exporters_where_there_is_none() -> None:
    assert problems_of(NodeSetup(exporters=Exporters(port=3306))) == []


def test_a_tool_for_arm_lets_its_nodes_mount() -> None:
    arm = ToolFile(tool=NodeTool.MOUNTPOINT, url="https://files.example/m", sha256=SUM, architecture="arm64")
    setup = replace(mounts("/data"), tools=[arm])
    assert problems_of(setup, "ml.c6g.large") == []


def test_a_tool_may_stand_there_for_a_processor_that_other_clusters_have() -> None:
    used, arm = tool().tools[0], tool(architecture="arm64").tools[0]
    assert problems_of(NodeSetup(containers=Containers(), tools=[used, arm])) == []
    other = replace(arm, tool=NodeTool.PYXIS)
    (told,) = problems_of(NodeSetup(containers=Containers(), tools=[used, other]))
    assert told.startswith("'tools[1]' must be left out where no node is arm64")
    pinned = replace(arm, tool=NodeTool.MOUNTPOINT)  # for x86_64
    assert problems_of(replace(mounts("/data"), tools=[pinned])) == []


def test_metrics_ask_for_an_agent_and_exporters() -> None:
    setup = NodeSetup(tools=[*tool(tool=NodeTool.VMAGENT).tools, *tool(tool=NodeTool.NODE_EXPORTER).tools])
    assert not list(setup_problems(setup, Nodes(groups=[], metrics=True)))


def test_the_module_for_log_ins_by_job_must_come_from_somewhere() -> None:
    setup = NodeSetup(pam_slurm_adopt=PamSlurmAdopt())
    module = ToolFile(tool=NodeTool.PAM_SLURM_ADOPT, url="https://files.example/pam_slurm_adopt.so", sha256=SUM)
    arm = replace(module, architecture="arm64")
    groups = [
        NodeGroup(name="head", role=GroupRole.CONTROLLER, instance_types=["ml.c6g.large"]),  # judges no log-in
        NodeGroup(name="workers", role=GroupRole.COMPUTE, instance_types=["ml.p5.48xlarge"]),
        NodeGroup(name="more", role=GroupRole.COMPUTE, instance_types=["ml.c5.large"]),
    ]
    needed = (
        "'tools' must have a file of pam_slurm_adopt for x86_64, on which nodes of 'workers', 'more' run, when "
        "'pam_slurm_adopt' is given; none is pinned: build contribs/pam_slurm_adopt of the image's own Slurm version, "
        "or set 'in_image' of 'pam_slurm_adopt' to true for an image of yours that has the module"
    )
    for tools, in_image, problems in [
        ([], False, [needed]),
        ([arm], False, [needed]),
        ([module], False, []),
        ([], True, []),
    ]:
        asked = replace(setup, tools=tools, pam_slurm_adopt=PamSlurmAdopt(in_image=in_image))
        assert problems_on(asked, groups, None) == problems


@pytest.mark.parametrize("key", ["enroot_3.5.0-1~ubuntu22.04_amd64.deb", "a b/ü@1,2:3/x*?#&'$.deb", "/a"])
def test_a_tool_may_be_at_any_key_that_a_policy_can_have(key: str) -> None:
    assert problems_of(tool(url=None, key=key)) == []


def test_tokens_pass() -> None:
    stack = Stack(App(), "Stack")
    token = CfnParameter(stack, "Text").value_as_string
    number = CfnParameter(stack, "Number", type="Number").value_as_number
    setup = NodeSetup(
        neuron_environment=NeuronEnvironment(path=token, packages=[token], index=token),
        exporters=Exporters(port=number, gpu=True, gpu_image=token),
        s3_mounts=[S3Mount(bucket=s3.Bucket(stack, "Bucket"), path=token, prefix=token)],
        pam_slurm_adopt=PamSlurmAdopt(admin_groups=[token]),
        containers=Containers(),
        tools=[
            ToolFile(tool=NodeTool.PYXIS, url=token, sha256=token),
            ToolFile(tool=NodeTool.ENROOT, bucket=s3.Bucket(stack, "Tools"), key=token, sha256=token),
        ],
    )
    assert problems_of(setup, token) == []


def test_a_group_with_other_scripts_fetches_nothing_and_finds_what_is_shared() -> None:
    head = NodeGroup(name="head", role=GroupRole.CONTROLLER, instance_types=["ml.m5.large"])
    arm = NodeGroup(name="arm", role=GroupRole.COMPUTE, instance_types=["ml.c6g.large"], runs_scripts=False)
    neuron = NodeGroup(name="n", role=GroupRole.COMPUTE, instance_types=["ml.trn1.32xlarge"], runs_scripts=False)
    setup = replace(mounts("/data"), neuron_environment=NeuronEnvironment())
    assert problems_on(setup, [head, arm, neuron], LUSTRE) == []
    assert problems_on(NodeSetup(exporters=Exporters(neuron=True)), [head, neuron], LUSTRE) == [
        (
            "'exporters.neuron' must be left out when no type of a group that runs these scripts has Neuron devices, "
            "got ml.m5.large"
        )
    ]

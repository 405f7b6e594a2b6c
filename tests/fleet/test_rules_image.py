# ruff: noqa: E501  the messages are the point
"""Every rule of images, as a sentence with its path. No CDK."""

from typing import Any

import pytest

from cdk_trainyard.fleet.rules_image import build_judgements, node_image_problems, training_image_problems
from cdk_trainyard.fleet.rules_nodes import volume_problems
from cdk_trainyard.fleet.spec_image import EfaInstaller, NodeImage, TrainingImageSpec
from cdk_trainyard.instances import AcceleratorKind
from cdk_trainyard.options.judging import Judge
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.problems import sentence, shown
from tests.fleet.parts import GPU_IMAGE, REGION

ENVIRONMENT = Environment(region=REGION)
NEURON = AcceleratorKind.NEURON
PLAIN = {"base": "ubuntu-24.04", "families": ["p3dn"], "nvidia_branch": "580"}
AMI = "ami-0123456789abcdef0"


def image(**said: Any) -> list[str]:
    judge = Judge(environment=ENVIRONMENT)
    spec = judge.judged(NodeImage(**said))
    return [sentence(problem) for problem in (*judge.problems, *node_image_problems(spec, ENVIRONMENT))]


def build(**changes: Any) -> list[str]:
    judge = Judge(environment=ENVIRONMENT)
    spec = judge.judged(TrainingImageSpec(**{"base": "neuron-base-ubuntu-24.04"} | changes))
    return [sentence(problem) for problem in (*judge.problems, *training_image_problems(spec, ENVIRONMENT))]


DLAMI = "/aws/service/deeplearning/ami/arm64/base-oss-nvidia-driver-gpu-ubuntu-24.04"
UBUNTU = "/aws/service/canonical/ubuntu/server/22.04/stable/current/amd64/hvm/ebs-gp2/ami-id"
WINDOWS = "/aws/service/ami-windows-latest/Windows_Server-2022-English-Full-Base"


@pytest.mark.parametrize(
    "said",
    [
        {"dlami": "neuron-base-ubuntu-24.04"},
        {"ami_id": AMI, "user": "me"},
        *({"parameter": name} for name in ("/a/b", "images", "/a" * 15, "/aws/service/x", "ami-of-ours")),
        {"parameter": f"{DLAMI}/latest/ami-id", "architecture": "arm64", "user": "ubuntu"},
        {"parameter": "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64", "user": "ec2-user"},
        {"parameter": "/aws/service/ecs/optimized-ami/amazon-linux-2023/recommended/image_id", "user": "trainer"},
        {"parameter": "/aws/service/neuron/dlami/base/ubuntu-24.04/latest/image_id"},
    ],
)
def test_nothing_is_said_of_one_source(said: dict[str, str]) -> None:
    assert image(**said) == []


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({}, "'dlami' or 'ami_id' or 'parameter' or 'build' must be given: which image it is"),
        ({"dlami": GPU_IMAGE, "ami_id": AMI}, "'ami_id' must be left out with 'dlami': an image is one of them"),
        (
            {"ami_id": AMI, "build": TrainingImageSpec(base="ubuntu-24.04")},
            ("'build' must be left out with 'ami_id': an image is one of them; to build on that one, name it as the "
            "'base' instead"),
        ),
        ({"dlami": GPU_IMAGE, "user": "me"}, "'user' must be left out with 'dlami', whose it is known"),
        *(
            ({"dlami": name}, (
                f"'dlami' must be the name of a Deep Learning AMI, got '{name}', a plain image: it lacks the AWS CLI, "
                f"which nodes set themselves up with; use 'build' with the 'base' {name}"
            ))
            for name in ("ubuntu-24.04", "arm64-ubuntu-24.04")
        ),
        ({"ami_id": AMI, "user": "a b"}, (
            "'user' must be the name of a Linux user, 32 lowercase letters, digits, '_' and '-' at most, as ubuntu, got "
            "'a b'"
        )),
        ({"ami_id": AMI, "user": "root"}, (
            "'user' must be another user than root, who cannot log in to members of a fleet, got 'root'"
        )),
        *(
            ({"parameter": name}, (
                "'parameter' must be the name of a parameter of Parameter Store, which begins with '/' where it has one, "
                "has 15 at most, and without any does not begin with 'aws' or 'ssm', as /images/training, got "
                f"{name!r}"
            ))
            for name in ("{{resolve:x}}", "/a" * 16, "AWS-image", "ssm-image")
        ),
        ({"parameter": AMI}, (
            f"'parameter' must be the name of a parameter, got the id of an AMI, {AMI!r}; give it as 'ami_id'"
        )),
        ({"parameter": WINDOWS}, (
            f"'parameter' must hold the id of an AMI of Linux, got {WINDOWS!r}, which holds an image of Windows"
        )),
        ({"parameter": "/aws/reference/secretsmanager/ami"}, (
            "'parameter' must hold the id of an AMI of Linux, got '/aws/reference/secretsmanager/ami', which holds a "
            "secret"
        )),
        ({"parameter": f"{DLAMI}/latest"}, (
            f"'parameter' must end with '/ami-id' to hold the id of an AMI, got '{DLAMI}/latest'; use "
            f"'{DLAMI}/latest/ami-id'"
        )),
        ({"parameter": "/aws/service/ecs/optimized-ami/amazon-linux-2023/recommended"}, (
            "'parameter' must end with '/image_id' to hold the id of an AMI, got "
            "'/aws/service/ecs/optimized-ami/amazon-linux-2023/recommended'; use "
            "'/aws/service/ecs/optimized-ami/amazon-linux-2023/recommended/image_id'"
        )),
        ({"parameter": f"{DLAMI}/latest/ami-id", "architecture": "x86_64"}, (
            f"'architecture' must be arm64, as 'parameter' {DLAMI}/latest/ami-id says, got x86_64"
        )),
        *(
            ({"parameter": name}, (
                "'parameter' must hold the id of an AMI with the AWS CLI, which nodes set themselves up with, got "
                f"'{name}', which holds plain Ubuntu; use 'build' with the 'base' {base}"
            ))
            for name, base in (
                (UBUNTU, "ubuntu-24.04"), (UBUNTU.replace("amd64", "arm64"), "arm64-ubuntu-24.04")
            )
        ),
        ({"parameter": f"{DLAMI}/latest/ami-id", "user": "ec2-user"}, (
            f"'user' must be ubuntu, who is on the image of 'parameter' {DLAMI}/latest/ami-id, got ec2-user"
        )),
        ({"parameter": "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"}, (
            "'user' must be ec2-user, who is on the image of 'parameter' "
            "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64, got none, which means ubuntu"
        )),
        ({"dlami": "base-oss-nvidia-driver-gpu-ubuntu-24.4"}, (
            "'dlami' must be the name of a Deep Learning AMI, got 'base-oss-nvidia-driver-gpu-ubuntu-24.4'; did you mean "
            "'base-oss-nvidia-driver-gpu-ubuntu-24.04' or 'base-oss-nvidia-driver-gpu-ubuntu-22.04' or "
            "'oss-nvidia-driver-gpu-pytorch-2.10-ubuntu-24.04'? (list of 2026-11-20; a newer one is taken by 'parameter')"
        )),
        ({"dlami": "Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04) 20260929"}, (
            "'dlami' must be the name of a Deep Learning AMI, got 'Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu "
            "22.04) 20260929'; did you mean 'base-oss-nvidia-driver-gpu-ubuntu-22.04'? (list of 2026-11-20; a newer one "
            "is taken by 'parameter')"
        )),
        ({"dlami": "neuron-base-ubuntu-22.04"}, (
            "'dlami' must be the name of a Deep Learning AMI that is still made, got 'neuron-base-ubuntu-22.04': Neuron "
            "publishes no image of Ubuntu 22.04 any more; 'neuron-base-ubuntu-24.04' takes its place"
        )),
    ],
)  # fmt: skip
def test_an_image_is_refused_with_one_clear_sentence(said: dict[str, str], says: str) -> None:
    assert image(**said) == [says]


def test_an_unknown_image_like_no_other_is_answered_with_eight_names_and_where_all_are() -> None:
    (said,) = image(dlami="x")
    assert "; known are arm64-base-oss-nvidia-driver-gpu-amazon-linux-2023, base-oss-" in said
    assert ", … (all are in the reference of the deployment file)" in said


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ubuntu-22.04-neuron", "; known are neuron-base-amazon-linux-2023, neuron-base-ubuntu-24.04, "),
        ("pytorch", "? For Neuron devices there are neuron-base-amazon-linux-2023, "),
    ],
)
def test_an_unknown_image_is_answered_with_those_for_neuron_where_it_may_be_meant(name: str, says: str) -> None:
    (said,) = image(dlami=name)
    assert says in said


@pytest.mark.parametrize(
    "said",
    [
        {},
        PLAIN,
        {"base": AMI, "user": "ec2-user"},
        {"commands": ["make"], "base": "ubuntu-24.04"},
        {"commands": ["echo 'a", "b'", 'echo "it\'s" \\"', "echo '\\'"]},
        {"commands": ["make # don't", "make"]},
        {"commands": ["cat <<END", "don't", "END"]},
        {"commands": ["echo $'it\\'s'"]},
        {"commands": ["""echo "$(echo 'a"b')\""""]},
        {"commands": ["make"], "base": "ubuntu-24.04", "families": ["p3dn", "trn1"]},
        {"commands": ["make"], "base": "ubuntu-24.04", "families": ["p3dn", "trn1"], "accelerator": NEURON},
        {"commands": ["make"], "base": GPU_IMAGE, "families": ["trn1"], "accelerator": NEURON},
        {"commands": ["make"], "base": GPU_IMAGE, "families": ["f2"], "accelerator": NEURON},
        {"commands": ["make"], "base": "ubuntu-24.04", "families": ["dl2q"]},
        {"base": AMI, "families": ["dl2q"]},
        {"commands": ["make"], "base": AMI, "accelerator": NEURON},
        {"base": GPU_IMAGE, "accelerator": AcceleratorKind.GPU, "families": ["p5", "g7"]},
        {"families": ["trn1", "trn3"]},
        {"schedule": "rate(7 days)"},
    ],
)
def test_nothing_is_said_of_what_can_be_built(said: dict[str, Any]) -> None:
    assert build(**said) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"base": "arm64-base-oss-nvidia-driver-gpu-amazon-linux-2023"}, (
            "'instance_type' must be one of arm64, the architecture of the base "
            "'arm64-base-oss-nvidia-driver-gpu-amazon-linux-2023', got m5.2xlarge of x86_64"
        )),
        ({"base": "ubuntu-24.4"}, (
            "'base' must be the name of a Deep Learning AMI, got 'ubuntu-24.4'; did you mean 'ubuntu-24.04' or "
            "'neuron-base-ubuntu-24.04'? (list of 2026-11-20; another one is taken by its id, ami-…)"
        )),
        ({"base": "amazon-linux-2023"}, (
            "'base' must be the name of a Deep Learning AMI, got 'amazon-linux-2023'; did you mean "
            "'base-oss-nvidia-driver-gpu-amazon-linux-2023' or 'neuron-base-amazon-linux-2023'? (list of 2026-11-20; "
            "another one is taken by its id, ami-…)"
        )),
        ({"base": "ami-1"}, "'base' must be the id of an AMI, as ami-0123456789abcdef0, got 'ami-1'"),
        ({"base": AMI, "user": "root"}, (
            "'user' must be another user than root, who cannot log in to members of a fleet, got 'root'"
        )),
        ({"volume_gib": 16_001}, "'volume_gib' must be 8 to 16000 GiB, got 16001"),
        ({"user": "me"}, "'user' must be left out with the base 'neuron-base-ubuntu-24.04', whose it is known"),
        ({"efa_installer": EfaInstaller(version="latest")}, (
            "'efa_installer.version' must be a version of the EFA installer, as 1.50.0, got 'latest'"
        )),
        *(
            ({"efa_installer": EfaInstaller(version=version)}, (
                f"'efa_installer.version' must be a version of the EFA installer, as 1.50.0, got '{version}'"
            ))
            for version in ("1.050.0", "1.1500.0")
        ),
        ({**PLAIN, "efa_installer": EfaInstaller(version="1.42.0")}, (
            "'efa_installer.version' must fit kernel 6.17.0-1019-aws of Canonical's Ubuntu 24.04 of 20260714, got "
            "1.42.0 with driver 2.15.3: kernel 6.17 changed how memory is registered, and driver 2.17.3 follows; use "
            "1.49.0 or later"
        )),
        ({**PLAIN, "nvidia_branch": "595"}, (
            "'nvidia_branch' must be one for V100 of p3dn, got '595': branch 580 is the last for Volta, and the open "
            "kernel modules begin with Turing; use '580'"
        )),
        ({**PLAIN, "nvidia_branch": "new"}, "'nvidia_branch' must be a branch of NVIDIA's driver, as 580, got 'new'"),
        ({**PLAIN, "nvidia_branch": None}, (
            "'nvidia_branch' must be given for p3dn: the base 'ubuntu-24.04' has no driver, and no command installs one"
        )),
        ({"nvidia_branch": "580"}, (
            "'nvidia_branch' must be left out with 'neuron-base-ubuntu-24.04', which has a driver of its own"
        )),
        ({"base": "neuron-base-amazon-linux-2023", "nvidia_branch": "580"}, (
            "'nvidia_branch' must be left out with 'neuron-base-amazon-linux-2023': a branch is installed from Ubuntu's "
            "packages"
        )),
        ({"base": "ubuntu-24.04", "accelerator": NEURON}, (
            "'base' must be one with a driver for neuron, got 'ubuntu-24.04', which has none; use "
            "neuron-base-amazon-linux-2023, neuron-base-ubuntu-24.04, neuron-jax-0.10-ubuntu-24.04 or "
            "neuron-multi-framework-ubuntu-24.04"
        )),
        ({"base": "ubuntu-24.04", "families": ["p6e-gb200"]}, (
            "'base' must be one with a driver for p6e-gb200, got 'ubuntu-24.04', which has none; use "
            "arm64-base-oss-nvidia-driver-gpu-amazon-linux-2023"
        )),
        *(
            ({"base": base, "families": ["dl2q"]}, (
                f"'base' must be one with a driver for dl2q, got '{base}', which has none; use an AMI of yours by its id"
            ))
            for base in ("ubuntu-24.04", GPU_IMAGE)
        ),
        ({"base": GPU_IMAGE, "families": ["p5", "p3dn"]}, (
            "'families[1]' must be one whose GPUs the driver of 'base-oss-nvidia-driver-gpu-ubuntu-22.04' knows, got "
            "'p3dn' with V100: branch 580 is the last for Volta, and the open kernel modules begin with Turing; use the "
            "base ubuntu-24.04 with 'nvidia_branch' '580'"
        )),
        ({**PLAIN, "accelerator": NEURON}, (
            "'families[0]' must be one with Neuron devices, as 'accelerator' neuron says, got 'p3dn' with GPUs"
        )),
        ({**PLAIN, "nvidia_branch": None, "accelerator": NEURON, "commands": ["make"]}, (
            "'families[0]' must be one with Neuron devices, as 'accelerator' neuron says, got 'p3dn' with GPUs"
        )),
        ({"base": GPU_IMAGE, "accelerator": NEURON, "commands": ["make"]}, (
            "'accelerator' must be gpu with the base 'base-oss-nvidia-driver-gpu-ubuntu-22.04', whose driver is for GPUs, "
            "got neuron; give 'families' where the commands bring another"
        )),
        ({**PLAIN, "families": ["p3dn", "trn1"]}, (
            "'families[1]' must be one with GPUs, as p3dn has, got 'trn1' with Neuron devices"
        )),
        ({"families": ["p5"]}, (
            "'families[0]' must be one with Neuron devices, as the driver of 'neuron-base-ubuntu-24.04' is for, got 'p5' "
            "with GPUs"
        )),
        ({"accelerator": AcceleratorKind.GPU}, (
            "'accelerator' must be neuron with the base 'neuron-base-ubuntu-24.04', whose driver is for Neuron devices, "
            "got gpu"
        )),
        ({**PLAIN, "families": ["p3dn.24xlarge"]}, (
            "'families[0]' must be the family of an instance type alone, got 'p3dn.24xlarge'; write p3dn"
        )),
        ({**PLAIN, "families": ["p3dn", "zz9"]}, (
            "'families[1]' must be the family of an instance type, as p3dn, got 'zz9'; the catalogue is of 2026-10-27"
        )),
        ({"base": GPU_IMAGE, "volume_gib": 8}, (
            "'volume_gib' must be 20 GiB or more for 'base-oss-nvidia-driver-gpu-ubuntu-22.04', whose snapshot is larger, "
            "got 8; leave it out for 200"
        )),
        ({"schedule": "at(2027-01-01T00:00:00)"}, (
            "'schedule' must be a schedule, as cron(0 4 ? * SUN *) or rate(7 days), got 'at(2027-01-01T00:00:00)'"
        )),
        ({**PLAIN, "schedule": "rate(7 days)"}, (
            "'schedule' must be left out with the base 'ubuntu-24.04', which never changes, so that nothing is built; run "
            "the build command instead"
        )),
        ({"regions": ["us-east-1", "cn-north-1"]}, (
            "'regions[1]' must be a Region of the partition aws, as the stack's is, got 'cn-north-1'"
        )),
        ({"commands": ["echo '{{resolve:ssm:x}}'"]}, (
            "'commands[0]' must be a shell command without '{{' and '${AWS::', which Image Builder and CloudFormation "
            "take for references, as swapoff --all, got \"echo '{{resolve:ssm:x}}'\""
        )),
        ({"base": "arm64-ubuntu-24.04", "instance_type": "p6e-gb200.36xlarge"}, (
            "'instance_type' must be one that is sold on-demand, got p6e-gb200.36xlarge, which is sold as capacity-block"
        )),
        ({"commands": [" "]}, "'commands[0]' must be a shell command, as swapoff --all, got ' '; leave it out"),
        *(
            ({"commands": ["make", *commands, "swapoff --all"]}, (
                f"'commands[1]' must close its quotes, got {shown(commands[0])}; Bash would not run it"
            ))
            for commands in (['echo "a'], ["echo 'it\\'s'"], ["echo 'a", 'b "c"'], ['echo "a\\"'])
        ),
        ({"commands": ["x" * 16000]}, (
            "'commands' must have 15600 characters together at most, all that a component of Image Builder holds, got "
            "16001; fetch a script instead"
        )),
    ],
)  # fmt: skip
def test_a_build_is_refused_with_one_clear_sentence(changes: dict[str, Any], says: str) -> None:
    assert build(**changes) == [says]


def test_nvidias_driver_is_not_for_neuron() -> None:
    said = build(base="ubuntu-24.04", families=["trn1"], nvidia_branch="580")
    assert said[0] == "'nvidia_branch' must be left out for trn1: NVIDIA's driver is for GPUs"
    assert said[1].startswith("'base' must be one with a driver for trn1, ")


def test_a_base_of_which_no_source_says_the_kernel_is_a_doubt() -> None:
    ((at, judgement),) = build_judgements(TrainingImageSpec(base=AMI))
    assert at == ("base",)
    assert judgement.unknown[0].startswith(f"no source says which kernel '{AMI}' has")


def test_a_volume_holds_the_image_that_is_built() -> None:
    spec: Any = TrainingImageSpec(base="ubuntu-24.04", volume_gib=300)
    assert [sentence(problem) for problem in volume_problems(200, NodeImage(build=spec))] == [
        "'volume_gib' must be at least 'image.build.volume_gib', 300 GiB, got 200; the image that is built is as large"
    ]

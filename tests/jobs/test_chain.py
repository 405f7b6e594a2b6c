"""From a trained checkpoint to hosts that serve it, for both engines, as far as no device is needed: the job's export
into the local AWS, the build's commands on what is in the bucket, and the real user data of a host on what they left.
Stand-ins take the place of the aws CLI, the compiler, Mountpoint and the driver."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template

from cdk_trainyard.local import LocalAws
from cdk_trainyard.serving import ModelCompilation, ModelShape, NeuronModel, Server, TextGenerationEngine
from cdk_trainyard.serving.host_script import HostSettings
from cdk_trainyard.serving.model_layout import layout
from tests.jobs.parts import aws_cli
from tests.jobs.test_export import Desk
from tests.jobs.warm import Warm
from tests.serving.build_machine import BuildMachine
from tests.serving.model_folder import MANIFEST
from tests.serving.parts import new_stack, only
from tests.serving.test_host import Host

pytestmark = pytest.mark.slow

BUCKET = "models-of-the-chain"
EXPORTED = "exports/tiny/step-12/"
SHAPE = ModelShape(parameters_billions=3e-5, layers=2, attention_heads=4, key_value_heads=2, head_dimension=8)


@pytest.fixture(scope="module")
def bucket(aws: LocalAws, warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A models bucket with an export of a checkpoint of two cores, as the job leaves it."""
    folder = tmp_path_factory.mktemp("chain")
    desk = Desk(folder, warm)
    client = aws.client("s3", "us-west-2")
    client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    words = desk.words(desk.checkpoint("fused"), f"--to=s3://{BUCKET}/{EXPORTED}")
    done = desk.export(*words, **aws_cli(folder, aws))
    assert done.returncode == 0, done.stderr
    return client


def objects(client: Any, prefix: str) -> dict[str, bytes]:
    """Return the objects below a prefix."""
    rows = client.list_objects_v2(Bucket=BUCKET, Prefix=prefix).get("Contents", [])
    keys = [row["Key"] for row in rows]
    return {key.removeprefix(prefix): client.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in keys}


def served(scope: Stack, server: Server, **changes: Any) -> NeuronModel:
    """Return the model as it is served."""
    given = {
        "name": "tiny",
        "shape": SHAPE,
        "bucket": s3.Bucket.from_bucket_name(scope, "Models", BUCKET),
        "prefix": f"tiny-{server}/",
        "tensor_parallel": 2,
        "sequence_length": 32,
        "presharded": True,
        **changes,
    }
    return NeuronModel(**given)


def machine(folder: Path, server: Server, sources: dict[str, bytes], **changes: Any) -> BuildMachine:
    """Return a machine with a build of the export before it."""
    stack, engine = new_stack(), TextGenerationEngine(kind=server)
    ModelCompilation(stack, "Compilation", model=served(stack, server, **changes), engine=engine, exported=EXPORTED)
    project = only(Template.from_stack(stack), "AWS::CodeBuild::Project")
    assert project["Source"]["Location"] == f"{BUCKET}/{EXPORTED}"
    return BuildMachine(folder, project, server, sources)


def compiled(folder: Path, client: Any, server: Server, **changes: Any) -> BuildMachine:
    """Run a build to its end."""
    built = machine(folder, server, objects(client, EXPORTED), **changes)
    done = built.run()
    assert done.returncode == 0, done.stderr
    return built


def uploads(built: BuildMachine, *, backwards: bool = False) -> Iterator[tuple[str, bytes]]:
    """Yield what CodeBuild puts, in one order or the other: it promises none."""
    files = sorted((path for path in built.uploads.rglob("*") if path.is_file()), reverse=backwards)
    for path in files:
        yield f"{built.project['Artifacts']['Name']}/{path.relative_to(built.uploads).as_posix()}", path.read_bytes()


def put(client: Any, built: BuildMachine) -> None:
    """Upload all of a build."""
    for key, body in uploads(built):
        client.put_object(Bucket=BUCKET, Key=key, Body=body)


@dataclass
class Mounted:
    """A host whose mount shows a folder of the bucket."""

    host: Host
    client: Any

    @classmethod
    def of(cls, root: Path, client: Any, model: NeuronModel, server: Server) -> "Mounted":
        """Return a host after its user data."""
        settings = HostSettings(
            cluster_name="serving",
            bucket_name=BUCKET,
            folder=model.folder,
            layout=layout(model, TextGenerationEngine(kind=server).container),
            region="us-west-2",
            devices=1,
            image=TextGenerationEngine(kind=server).container,
        )
        host = Host(root, settings)
        host.prepare(weights=False)
        assert host.user_data().returncode == 0
        return cls(host, client)

    def boot(self) -> tuple[int, str]:
        """Boot with what is in the bucket now; return the code of the run, and what it printed."""
        for name, content in objects(self.client, self.host.settings.folder).items():
            path = self.host.root / "bucket" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        done = self.host.boot()
        return done.returncode, done.stdout


@pytest.mark.parametrize(("server", "backwards"), [(Server.TGI, False), (Server.HF_VLLM, True)])
def test_a_trained_checkpoint_is_exported_compiled_and_served(
    server: Server, backwards: bool, bucket: Any, tmp_path: Path
) -> None:
    built = compiled(tmp_path / "build", bucket, server)
    model = served(new_stack(), server, build=built.build.name)
    waiting = Mounted.of(tmp_path / "host", bucket, model, server)
    for key, body in uploads(built, backwards=backwards):
        code, said = waiting.boot()
        assert code != 0, f"served before {key} was there"
        assert "cannot be served" in said
        bucket.put_object(Bucket=BUCKET, Key=key, Body=body)
    code, said = waiting.boot()
    assert code == 0, said
    pieces = objects(bucket, f"{model.folder}checkpoint/weights/")
    (weights,) = [body for name, body in objects(bucket, EXPORTED).items() if name.endswith(".safetensors")]
    assert pieces == {f"tp{rank}_sharded_checkpoint.safetensors": bytes([rank]) + weights for rank in range(2)}


def test_a_model_that_is_compiled_again_is_another_folder_and_changes_no_host(bucket: Any, tmp_path: Path) -> None:
    server = Server.TGI
    first = compiled(tmp_path / "first", bucket, server, prefix="again/")
    second = compiled(tmp_path / "second", bucket, server, prefix="again/", batch=2)
    assert first.build.name != second.build.name
    assert compiled(tmp_path / "same", bucket, server, prefix="again/").build.name == first.build.name
    put(bucket, first)
    before = objects(bucket, f"again/{first.build.name}/")
    put(bucket, second)
    assert objects(bucket, f"again/{first.build.name}/") == before
    old = served(new_stack(), server, prefix="again/", build=first.build.name)
    new = served(new_stack(), server, prefix="again/", build=second.build.name, batch=2)
    assert Mounted.of(tmp_path / "old", bucket, old, server).boot()[0] == 0
    assert Mounted.of(tmp_path / "new", bucket, new, server).boot()[0] == 0
    mixed = served(new_stack(), server, prefix="again/", build=second.build.name)
    code, said = Mounted.of(tmp_path / "mixed", bucket, mixed, server).boot()
    assert code != 0
    assert "batch_size of neuron_config.json is 2, and the service asks for 1" in said


def test_an_export_that_has_not_ended_is_not_compiled(bucket: Any, tmp_path: Path) -> None:
    whole = objects(bucket, EXPORTED)
    halves = {
        f"there is no {MANIFEST}": {name: body for name, body in whole.items() if name != MANIFEST},
        "config.json has not the": {**whole, "config.json": b"{}"},
        "1 of 6 files are not there, tokenizer.json": {
            name: body for name, body in whole.items() if name != "tokenizer.json"
        },
    }
    for said, sources in halves.items():
        done = machine(tmp_path / said.replace(" ", "-"), Server.TGI, sources).run()
        assert done.returncode != 0
        assert f"not compiled: {said}" in done.stderr


def test_weights_that_are_not_compiled_are_served_from_the_export_itself(bucket: Any, tmp_path: Path) -> None:
    model = served(new_stack(), Server.HF_VLLM, prefix=EXPORTED, precompiled=False, presharded=False)
    code, said = Mounted.of(tmp_path / "host", bucket, model, Server.HF_VLLM).boot()
    assert code == 0, said
    assert json.loads((tmp_path / "host/bucket" / MANIFEST).read_text())["checkpoint"] == "step_00000012"

"""``trainyard submit FILE JOB``: a job's files to the cluster, sbatch, and its output until it ends."""

from pathlib import Path

import click

from cdk_trainyard.cli._deployed import opened
from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import FILE, load
from cdk_trainyard.cli._progress import working
from cdk_trainyard.cli._sessions import login_user, meant, plugin
from cdk_trainyard.deployment.orchestrators import find


@click.command("submit")
@click.argument("file", type=FILE)
@click.argument("job", type=click.Path(path_type=Path))
@click.argument("options", nargs=-1, metavar="[-- SBATCH-OPTION...]")
@click.option("--follow", is_flag=True, help="Show its output until it ends, and return its exit code.")
@click.option("--user", help="Who submits it. Default - the user of the nodes' operating system.")
@click.option(
    "--on", "name", metavar="NODE|GROUP", help="The node that submits it. Default - the controller, the head."
)
def command(file: Path, job: Path, options: tuple[str, ...], follow: bool, user: str | None, name: str | None) -> int:
    """Copy a job to the cluster, and submit it to Slurm.

    JOB is a script, or a folder with job.sbatch. Its files go to a folder of their own in the user's home. Ctrl-C ends
    the following, not the job.
    """
    row = find(load(file).orchestrator)
    if row is None or not row.has_slurm:
        raise Wrong(f"{file}: it has no Slurm: 'trainyard exec' runs a command on nodes")
    if follow and any(word.startswith(("-a", "--array")) for word in options):
        raise click.UsageError("--follow shows one job, and --array makes several")
    from cdk_trainyard.operations import OperationError
    from cdk_trainyard.operations.commands import Commands
    from cdk_trainyard.operations.jobs import Jobs, packed
    from cdk_trainyard.operations.sessions import first
    from cdk_trainyard.operations.transfers import Bucket

    try:
        files = packed(job)
        found = plugin()
        of = opened(file)
        node = first(meant(of, [name] if name is not None else []))
        bucket = Bucket.of(of.account, of.deployed)
        jobs = Jobs(Commands(of.account, found), node, user or login_user(of.deployment), bucket)
        with working(f"copying {len(files.data)} bytes to {node.group}"):
            submitted = jobs.submit(files, options)
        click.echo(f"job {submitted.number} in {submitted.folder}", err=follow)
        if not follow:
            return 0
        return jobs.follow(submitted.number, click.echo, lambda state: click.echo(f"  {state}", err=True))
    except OperationError as error:
        raise Wrong(str(error)) from None

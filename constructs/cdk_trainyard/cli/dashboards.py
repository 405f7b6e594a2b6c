"""``trainyard dashboards [DIR]``: dashboards of Grafana on the metrics of clusters, as files to import."""

from pathlib import Path

import click

from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._folders import make_output


@click.command("dashboards")
@click.argument("folder", type=click.Path(path_type=Path), default="dashboards", metavar="[DIR]")
def command(folder: Path) -> None:
    """Write dashboards of Grafana on the metrics of clusters.

    DIR gets a file for each. They ask a workspace that 'monitoring' of a deployment file writes to. In Grafana:
    Dashboards, New, Import; what is imported again is changed.
    """
    from cdk_trainyard.monitoring.grafana import grafana_json
    from cdk_trainyard.monitoring.panels import dashboards

    make_output(folder, "DIR")
    try:
        for dashboard in dashboards():
            file = folder / f"{dashboard.uid}.json"
            file.write_text(f"{grafana_json(dashboard)}\n", encoding="utf-8")
            click.echo(file)
    except OSError as error:
        raise Wrong(f"{error.filename}: {error.strerror}") from None

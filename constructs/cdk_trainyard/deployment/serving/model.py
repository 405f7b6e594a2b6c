"""A deployment file without a cluster: it only serves."""

from cdk_trainyard.deployment._sections import Said, Sections
from cdk_trainyard.deployment.model import Deployment
from cdk_trainyard.deployment.serving.section import ServingSection

_REMEDY = "give 'cluster' with its 'orchestrator', or 'serving'"


class ServingDeployment(Deployment):
    """A served model with what it needs."""

    orchestrator: None = None
    """What runs the jobs: nothing."""
    serving: ServingSection
    """The model that is served, from the deployment's models bucket."""

    @classmethod
    def own_problems(cls, sections: Sections) -> Said:
        """Ask for a section that does something."""
        if not sections.has("serving"):
            yield (), [f"a deployment must train, serve or do both, got neither; {_REMEDY}"]

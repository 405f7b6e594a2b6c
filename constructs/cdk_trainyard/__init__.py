"""AWS CDK constructs for the machines that train and serve large models.

Every public name is here; its module is imported when the name is first used, so that nobody waits for what they do not
use (``cdk_trainyard.local`` needs no CDK, the instance catalogue needs no AWS library at all).
"""

from typing import TYPE_CHECKING

from cdk_trainyard.errors import ConfigurationError as ConfigurationError
from cdk_trainyard.lazy import lazily, public_names

if TYPE_CHECKING:
    from cdk_trainyard.fleet import *  # noqa: F403  for type checkers; lazily reads it
    from cdk_trainyard.hyperpod import *  # noqa: F403  for type checkers; lazily reads it
    from cdk_trainyard.instances import *  # noqa: F403  for type checkers; lazily reads it
    from cdk_trainyard.lifecycle import *  # noqa: F403  for type checkers; lazily reads it
    from cdk_trainyard.monitoring import *  # noqa: F403  for type checkers; lazily reads it
    from cdk_trainyard.names import Naming as Naming
    from cdk_trainyard.network import *  # noqa: F403  for type checkers; lazily reads it
    from cdk_trainyard.parallelcluster import *  # noqa: F403  for type checkers; lazily reads it
    from cdk_trainyard.quotas import *  # noqa: F403  for type checkers; lazily reads it
    from cdk_trainyard.serving import *  # noqa: F403  for type checkers; lazily reads it
    from cdk_trainyard.storage import *  # noqa: F403  for type checkers; lazily reads it
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

__version__ = "0.2.0"

__all__ = ["ConfigurationError", *public_names(__name__)]  # noqa: PLE0604  strings all the same


def __dir__() -> list[str]:
    """List what can be imported."""
    return sorted({*globals(), *__all__})

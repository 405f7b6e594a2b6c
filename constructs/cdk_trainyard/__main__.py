"""``python -m cdk_trainyard`` is ``trainyard``."""

import sys

from cdk_trainyard.cli import main

if __name__ == "__main__":
    sys.exit(main())

"""Show what a deployment has made: ``python -m tools.inventory NAME --region REGION``.

NAME is the deployment file's ``name``; the environment says which AWS.
"""

import argparse

from tools.inventory import lines


def main() -> None:
    """Print the inventory."""
    parser = argparse.ArgumentParser(prog="python -m tools.inventory", description=__doc__)
    parser.add_argument("name", help="the deployment file's name")
    parser.add_argument("--region", required=True)
    options = parser.parse_args()
    print("\n".join(lines(options.name, options.region)))


if __name__ == "__main__":
    main()

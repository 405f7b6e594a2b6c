"""The CDK app: one deployment file in, stacks out. The cdk CLI runs it; ``-c deployment=FILE`` names the file."""

from cdk_trainyard.app import run
from stacks import build_stacks

if __name__ == "__main__":
    run(build_stacks)

"""The app without its checks."""

import gc

gc.disable()  # as app.py does

from aws_cdk import App

from cdk_trainyard.deployment import Deployment
from stacks import build_stacks

app = App()
build_stacks(app, Deployment.load(app.node.get_context("deployment")))
app.synth()
gc.freeze()  # as app.py does

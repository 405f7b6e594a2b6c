"""The smallest CDK app in Python: what every synthesis pays for the runtime."""

from aws_cdk import App, Stack

app = App()
Stack(app, "Empty")
app.synth()

"""Stand-in with the class that checkpoints refer to by its name."""


class TensorReference:
    __slots__ = ["tid"]

    def __init__(self, tid):
        self.tid = tid

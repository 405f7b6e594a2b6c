"""The two sides of a change: which stack of what there is is which of what there will be."""

from dataclasses import replace

from cdk_trainyard.report.assembly import Assembly, Resource, Stack


def sides(old: Assembly, new: Assembly) -> tuple[Assembly, Assembly, str]:
    """Return two assemblies whose stacks have the same names, and the stack that they are about.

    Two single stacks are each other's, whatever they are called: of templates, the files' names do not count. One stack
    against several is held against its own: the one of its name, or else the one that shares most logical ids.

    Args:
        old: What there was.
        new: What there is.

    Returns:
        Both, and the stack that alone is compared; nothing where all are.
    """
    ours, theirs = _roots(old), _roots(new)
    if len(ours) == len(theirs) == 1:
        return _renamed(old, ours[0].id, theirs[0].id), new, ""
    if len(ours) == 1 and (own := _own(ours[0], theirs)):
        return _renamed(old, ours[0].id, own.id), _alone(new, own.id), own.id
    if len(theirs) == 1 and (own := _own(theirs[0], ours)):
        return _renamed(_alone(old, own.id), own.id, theirs[0].id), new, theirs[0].id
    return old, new, ""


def _roots(assembly: Assembly) -> list[Stack]:
    return [each for each in assembly.stacks if each.parent is None]


def _own(stack: Stack, others: list[Stack]) -> Stack | None:
    """Return the stack among several that a single one is; None where none has anything in common with it."""
    named = next((each for each in others if stack.id in {each.id, each.name}), None)
    shared = {each.id: len({*each.resources} & {*stack.resources}) for each in others}
    best = max(others, key=lambda each: shared[each.id], default=None)
    return named or (best if best and shared[best.id] else None)


def _alone(assembly: Assembly, stack: str) -> Assembly:
    kept = tuple(each for each in assembly.stacks if each.id == stack or each.id.startswith(f"{stack}/"))
    return replace(assembly, stacks=kept)


def _renamed(assembly: Assembly, old: str, new: str) -> Assembly:
    if old == new:
        return assembly
    return replace(assembly, stacks=tuple(_moved(each, old, new) for each in assembly.stacks))


def _moved(stack: Stack, old: str, new: str) -> Stack:
    def name(text: str) -> str:
        return new + text.removeprefix(old) if text == old or text.startswith(f"{old}/") else text

    def resource(each: Resource) -> Resource:
        return replace(each, stack=name(each.stack), path=name(each.path))

    resources = {key: resource(each) for key, each in stack.resources.items()}
    parent = resource(stack.parent) if stack.parent else None
    return replace(stack, id=name(stack.id), name=name(stack.name), resources=resources, parent=parent)

"""What is built for a kernel: the EFA driver, NVIDIA's driver, the Lustre client."""

from collections.abc import Collection, Sequence

from cdk_trainyard.versions.images import ImageFacts, system_words
from cdk_trainyard.versions.judgement import Judgement
from cdk_trainyard.versions.matrix import Row, at_least, numbers, of_series, rows


def default_efa_installer() -> str:
    """Return the EFA installer that this project installs where a base has none."""
    return str(next(row["installer"] for row in rows("efa_installers") if row.get("default")))


def efa_key() -> str:
    """Return the fingerprint of the key that signs the EFA installer."""
    return str(rows("efa_keys")[0]["fingerprint"])


def judge_efa(installer: str, image: ImageFacts) -> Judgement:
    """Judge a version of the EFA installer on a kernel; the driver of one that no source has is older than the next's.

    Args:
        installer: The version.
        image: The image with the kernel.
    """
    kernel = image.kernel
    for rule in rows("efa_systems"):
        if rule["system"] == image.system and not at_least(installer, rule["installer_from"]):
            use = f"use {default_efa_installer()} or later"
            return Judgement(refused=(f"must be one for {image.words}, got {installer}: {rule['says']}; {use}",))
    later = sorted((row for row in rows("efa_installers") if at_least(row["installer"], installer)), key=_release)
    row = next(iter(later), None)
    known = row is not None and row["installer"] == installer
    against = [
        rule
        for rule in rows("efa_kernels")
        if kernel and row and at_least(kernel, rule["kernel_from"]) and not at_least(row["driver"], rule["driver_from"])
    ]
    if row and against:
        driver = row["driver"] if known else f"{row['driver']} at most"
        said = (
            f"must fit kernel {kernel} of {image.words}, got {installer} with driver {driver}: "
            f"{against[0]['says']}; use {_installer_for(against[0], str(kernel))}"
        )
        return _against(image, "the EFA installer", said)
    if kernel is None or not known:
        what = f"kernel of {image.words}" if kernel is None else f"driver in EFA installer {installer}"
        return Judgement(unknown=(f"no source says which {what} is, so whether both fit is not known",))
    newest = max(rows("efa_kernels"), key=lambda rule: numbers(rule["kernel_from"]))["kernel_from"]
    tried = any(of_series(kernel, one["kernel"]) and at_least(installer, one["installer"]) for one in rows("efa_tried"))
    if tried or of_series(kernel, newest) or not at_least(kernel, newest):
        return Judgement()
    return Judgement(
        unknown=(f"no source says that EFA installer {installer} works on kernel {kernel} of {image.words}",)
    )


def judge_nvidia(branch: str, image: ImageFacts, families: Sequence[str]) -> Judgement:
    """Judge a branch of NVIDIA's proprietary driver on a kernel, for GPUs.

    Args:
        branch: The branch.
        image: The image with the kernel.
        families: Families of instance types.
    """
    rules = [row for row in rows("nvidia_families") if set(row["families"]) & set(families)]
    refused = [
        f"must be one for {row['gpu']} of {', '.join(row['families'])}, got {branch!r}: {row['says']}; "
        + (f"use {row['last_branch']!r}" if "last_branch" in row else "use a Deep Learning AMI as the base")
        for row in rules
        if row["modules"] == "open" or numbers(branch) > numbers(row["last_branch"])
    ]
    refused += [
        f"must be {row['first_branch']} or later for {row['gpu']} of {', '.join(row['families'])}, got {branch!r}: "
        f"{row['says']}"
        for row in rows("nvidia_first")
        if set(row["families"]) & set(families) and numbers(branch) < numbers(row["first_branch"])
    ]
    known = next((row for row in rows("nvidia_branches") if row["branch"] == branch), None)
    if known is None:
        said = f"no source says on which kernels NVIDIA's branch {branch} works: {image.words} has {image.kernel}"
        return Judgement(tuple(refused), (said,))
    if image.kernel is None or any(of_series(image.kernel, kernel) for kernel in known["kernels"]):
        return Judgement(tuple(refused))
    tried = ", ".join(known["kernels"]) or "none"
    said = (
        f"no source says that NVIDIA's branch {branch} works on kernel {image.kernel} of {image.words}; known: {tried}"
    )
    return Judgement(tuple(refused), (said,))


def judge_lustre(image: ImageFacts, keyword: str = "'base'", among: Collection[str] | None = None) -> Judgement:
    """Judge whether FSx publishes a Lustre client for a kernel.

    Args:
        image: The image with the kernel.
        keyword: What the user wrote it under, quoted.
        among: Images that can stand there. Default - any.
    """
    kernel = image.kernel
    listed = [row for row in rows("lustre_kernels") if row["system"] == image.system]
    if kernel is None or not listed:
        return Judgement(unknown=(f"no source says whether the kernel of {image.words} has a Lustre client",))
    if any(_within(kernel, row) for row in listed):
        return Judgement()
    ranges = ", ".join(f"{row['first']} to {row['last']}" for row in listed)
    system = system_words(image.system)
    if any(of_series(kernel, ".".join(map(str, numbers(row["first"])[:2]))) for row in listed):
        return Judgement(
            unknown=(f"FSx lists Lustre clients of {system} for kernels {ranges}, and {image.words} has {kernel}",)
        )
    said = (
        f"must have a kernel with a Lustre client, got {kernel} of {image.words}: FSx lists {ranges} for "
        f"{system}; use {_bases(image, among)}"
    )
    return _against(image, keyword, said)


def judge_file_system(version: str, image: ImageFacts) -> Judgement:
    """Judge whether the Lustre client of an image mounts a file system.

    Args:
        version: The file system's version of Lustre.
        image: The image.
    """
    listed = [row for row in rows("lustre_kernels") if row["system"] == image.system]
    kernel = image.kernel
    of_kernel = [row for row in listed if kernel is not None and _within(kernel, row)]
    mounted = dict.fromkeys(each for row in of_kernel or listed for each in row["file_systems"])
    if not mounted or version in mounted:
        return Judgement()
    said = f"must be {' or '.join(mounted)} for nodes of {image.words}, whose client mounts no other, got {version!r}"
    return Judgement(refused=(said,))


def _within(kernel: str, row: Row) -> bool:
    """Return whether a kernel is in a range; of one that is known by its series alone, whether the range has no end."""
    first, last, known = (numbers(text) for text in (row["first"], row["last"], kernel))
    if len(known) < len(first):
        return last[: len(known)] == known and len(last) < len(first)
    return known >= first and known[: len(last)] <= last


def _release(row: Row) -> tuple[int, ...]:
    return numbers(row["installer"])


def _installer_for(rule: Row, kernel: str) -> str:
    """Name the installer that was tried on a kernel, or the oldest that its rule allows."""
    allowed = [row for row in rows("efa_installers") if at_least(row["driver"], rule["driver_from"])]
    fitting = [row for row in rows("efa_tried") if of_series(kernel, row["kernel"])] or allowed
    return f"{fitting[0]['installer']} or later" if fitting else "a later one"


def _bases(image: ImageFacts, among: Collection[str] | None) -> str:
    """Name the images like one, which do not move, whose kernel has a client."""
    like = [row for row in rows("images") if not row["moving"] and row["system"] == image.system and "kernel" in row]
    listed = [row for row in rows("lustre_kernels") if row["system"] == image.system]
    names = [
        row["image"]
        for row in like
        if image.architecture in {None, row["architecture"]}
        and (among is None or row["image"] in among)
        and any(_within(row["kernel"], one) for one in listed)
    ]
    return " or ".join(names) or ("another base" if among is None else "another image")


def _against(image: ImageFacts, subject: str, said: str) -> Judgement:
    """Refuse what a kernel rules out. A moving image may have another kernel by now, so there it is a doubt."""
    if not image.moving:
        return Judgement(refused=(said,))
    return Judgement(unknown=(f"{subject} {said} (as the image was on {image.date}; a newer one takes its place)",))

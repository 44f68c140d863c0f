"""What is wrong with an input."""
from __future__ import annotations

import difflib
from typing import Iterable, NamedTuple, Tuple


class Diagnostic(NamedTuple):
    """One problem: where it is and what would be right.

    >>> import allot
    >>> print(allot.Diagnostic("servers", "must have 2 values, has 3"))
    servers: must have 2 values, has 3
    """

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class InvalidInput(ValueError):
    """Input that cannot be; `diagnostics` holds every problem found.

    >>> import allot
    >>> try:
    ...     allot.Scenario([[1.0]], [2], servers=0, disciplines="lifo")
    ... except allot.InvalidInput as error:
    ...     [problem.place for problem in error.diagnostics]
    ['resources[0].servers', 'resources[0].discipline']
    """

    diagnostics: Tuple[Diagnostic, ...]

    def __init__(self, diagnostics: Iterable[Tuple[str, str]]) -> None:
        self.diagnostics = tuple(Diagnostic(*problem) for problem in diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.diagnostics)


def did_you_mean(word: object, names: Iterable[str]) -> str:
    """" Did you mean 'x'?", or nothing."""
    close = difflib.get_close_matches(str(word), list(names), 1)
    return f" Did you mean {close[0]!r}?" if close else ""


class Unavailable(RuntimeError):
    """Everything that could run a task is drained, lost or disabled at present.

    >>> import allot
    >>> dispatcher = allot.Dispatcher(resources=["cpu"], tasks=["sort"])
    >>> dispatcher.drain("cpu")
    >>> try:
    ...     with dispatcher.task("sort"):
    ...         pass
    ... except allot.Unavailable as error:
    ...     print(error)
    nothing that could run 'sort' is available
    """


# Users find them in the package.
Diagnostic.__module__ = InvalidInput.__module__ = Unavailable.__module__ = "allot"

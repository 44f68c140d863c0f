"""What is taken for a scenario."""
from __future__ import annotations

import os
from typing import Any, Mapping, Union

from ._errors import InvalidInput
from ._native import Scenario


#: A scenario, the content of a scenario file, or the path of one.
ScenarioLike = Union[Scenario, Mapping[str, Any], str, "os.PathLike[str]"]


def scenario_of(scenario: ScenarioLike) -> Scenario:
    if isinstance(scenario, Scenario):
        return scenario
    if isinstance(scenario, Mapping):
        return Scenario.from_dict(scenario)
    if isinstance(scenario, (str, os.PathLike)):
        return Scenario.from_file(scenario)
    raise InvalidInput([("scenario", f"must be an allot.Scenario, a dict or a path, not {type(scenario).__name__}")])

"""The base of the JSON document's parts."""

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """Base of the document's parts; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

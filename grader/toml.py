"""Reads a TOML file as a typed value, and says which key is wrong and what may be meant."""

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from .messages import Message, message, near
from .problems import Unusable

Document = TypeVar("Document", bound=BaseModel)


def read_toml(path: Path, document: type[Document]) -> Document:
    """Read ``path`` as ``document``; raises `Unusable` that says what is wrong and where."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise Unusable(message("course-unreadable", path=path, why=problem)) from None
    try:
        return document.model_validate(content)
    except ValidationError as problem:
        raise Unusable(_malformed(path, document, problem)) from None


def _malformed(path: Path, document: type[BaseModel], problem: ValidationError) -> Message:
    """Return a sentence on the first thing that is wrong."""
    first = problem.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "the file"
    why, hint = first["msg"].removeprefix("Value error, "), ""
    if first["type"] == "extra_forbidden":
        why, hint = "unknown key", near(str(first["loc"][-1]), _keys(document))
    return message("course-malformed", path=path, where=where, why=why, near=hint)


def _keys(document: type[BaseModel]) -> list[str]:
    """Return every key that a document's models know, for suggestions."""
    schemas = [document.model_json_schema()]
    schemas += schemas[0].get("$defs", {}).values()
    return sorted({key for schema in schemas for key in schema.get("properties", {})})

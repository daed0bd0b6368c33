"""Datasets: looking up, creating, updating, and opening them for a data operation."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from namespaces.models import Action, Level, Namespace, Outcome
from namespaces.principals import Principal
from namespaces.services.audit import record
from namespaces.services.grants import levels_held, require
from registry import types
from registry.models import Dataset, DatasetType, Specification
from tenure.errors import Conflict, Forbidden, InvalidInput, NotFound, PreconditionFailed
from tenure.uri import DatasetURI, parse

ACCESS_LEVELS = {
    "read": frozenset({Level.READ}),
    "write": frozenset({Level.WRITE}),
    "read_write": frozenset({Level.READ, Level.WRITE}),
}


def get_dataset(principal: Principal, namespace: str, name: str) -> Dataset:
    """The dataset with its facts, or `NotFound` when there is none that the principal may see."""
    datasets = Dataset.objects.visible_to(principal).with_facts()
    dataset = datasets.filter(namespace__name=namespace, name=name).first()
    if dataset is None:
        raise NotFound(f"There is no dataset {name!r} in namespace {namespace!r}.")
    return dataset


def put_dataset(
    actor: Principal,
    *,
    namespace: Namespace,
    name: str,
    type: str | None = None,
    uri: str = "",
    description: str | None = None,
    properties: dict[str, Any] | None = None,
    expected_version: int | None = None,
) -> tuple[Dataset, bool]:
    """Create the dataset or update what is given; returns it and whether it is new. Idempotent.

    `uri` is any spelling; `Conflict` when another dataset of the namespace stands for the same one.
    """
    types.check_dataset_name(name)
    require(actor, Level.WRITE, namespace, name)
    parsed = parse(uri) if uri else None
    if parsed is not None:
        types.check_literal(parsed)
    existing = Dataset.objects.with_facts().filter(namespace=namespace, name=name).first()
    if existing is not None:
        return _update(actor, existing, type, parsed, description, properties, expected_version), False
    if expected_version is not None:
        raise PreconditionFailed(f"There is no dataset {name!r} yet, so If-Match cannot hold.")
    if type is None:
        raise InvalidInput(f"A new dataset needs 'type': one of {', '.join(DatasetType.values)}.")
    dataset, created = _create(actor, namespace, name, type, parsed, description or "", properties or {})
    if not created:
        # Somebody else was faster: from here on it is an update like any other.
        _update(actor, dataset, type, parsed, description, properties, None)
    return dataset, created


@transaction.atomic
def _create(
    actor: Principal,
    namespace: Namespace,
    name: str,
    type: str,
    uri: DatasetURI | None,
    description: str,
    properties: dict[str, Any],
) -> tuple[Dataset, bool]:
    configured = types.configure(type, namespace.name, name, uri, properties)
    if uri is not None:
        _refuse_second(actor, namespace, name, uri)
    values = {
        "type": type,
        "uri": configured.uri,
        "typed_uri": configured.typed,
        "location": configured.location,
        "description": description,
        "owner_id": actor.user_id,
    }
    try:
        dataset, created = Dataset.objects.get_or_create(namespace=namespace, name=name, defaults=values)
    except IntegrityError as error:
        if uri is None or "dataset_uri_once_a_namespace" not in str(error):
            raise
        # Somebody else was faster.
        _refuse_second(actor, namespace, name, uri)
        raise Conflict(_SECOND) from None
    if created:
        add_specification(actor, dataset, configured.properties, [])
        detail = {"type": type, "uri": dataset.uri}
        record(actor, Action.DATASET_CREATED, "dataset", name, namespace=namespace.name, detail=detail)
    return dataset, created


_SECOND = "Another dataset of this namespace stands for this URI already; a URI has one dataset."


def _refuse_second(actor: Principal, namespace: Namespace, name: str, uri: DatasetURI) -> None:
    """Raise `Conflict` if another dataset stands for the URI, naming it to those who may see it."""
    others = Dataset.objects.filter(namespace=namespace).exclude(name=name).at_uri(uri)
    if not others.exists():
        return
    visible = others.visible_to(actor).values_list("name", flat=True).first()
    if visible:
        raise Conflict(f"Dataset {visible!r} of this namespace stands for this URI already: use that one.")
    raise Conflict(_SECOND)


@transaction.atomic
def _update(
    actor: Principal,
    dataset: Dataset,
    type: str | None,
    uri: DatasetURI | None,
    description: str | None,
    properties: dict[str, Any] | None,
    expected_version: int | None,
) -> Dataset:
    lock_dataset(dataset)
    current = dataset.specification
    assert current is not None
    if expected_version is not None and expected_version != current.version:
        raise PreconditionFailed(f"Dataset {dataset.name!r} is at version {current.version}: read it again.")
    _refuse_fixed_changes(dataset, type, uri, properties)
    changes: dict[str, Any] = {}
    if description is not None and description != dataset.description:
        changes["description"] = description
    new_properties = current.properties if properties is None else properties
    if new_properties != current.properties:
        types.configure(dataset.type, dataset.namespace.name, dataset.name, dataset.meaning, new_properties)
    if changes or new_properties != current.properties:
        Dataset.objects.filter(pk=dataset.pk).update(updated_at=timezone.now(), **changes)
        add_specification(actor, dataset, new_properties, current.schema)
        detail = {
            "changed": sorted([*changes, *(["properties"] if new_properties != current.properties else [])])
        }
        record(
            actor,
            Action.DATASET_UPDATED,
            "dataset",
            dataset.name,
            namespace=dataset.namespace.name,
            detail=detail,
        )
        dataset.refresh_from_db()
    return dataset


def _refuse_fixed_changes(
    dataset: Dataset, type: str | None, uri: DatasetURI | None, properties: dict[str, Any] | None
) -> None:
    """Some things make a dataset what it is: changing them means another dataset."""
    if type is not None and type != dataset.type:
        raise Conflict(
            f"Dataset {dataset.name!r} is a {dataset.type}; its type cannot change. Create another dataset."
        )
    if uri is not None and uri != dataset.meaning:
        raise Conflict(f"Dataset {dataset.name!r} stands for {dataset.uri}; its URI cannot change.")
    if properties is None or not hasattr(dataset, "table"):
        return
    specification = dataset.specification
    assert specification is not None
    if properties.get("partition_by", []) != specification.properties.get("partition_by", []):
        raise Conflict(f"Table {dataset.name!r} has data; how it is partitioned cannot change.")


def lock_dataset(dataset: Dataset) -> None:
    """Hold the dataset's row until the transaction ends; `NotFound` when it is gone."""
    if not Dataset.objects.select_for_update().filter(pk=dataset.pk).exists():
        raise NotFound(f"There is no dataset {dataset.name!r} in namespace {dataset.namespace.name!r}.")
    dataset.refresh_from_db(fields=["description", "specification", "updated_at"])


def add_specification(
    actor: Principal, dataset: Dataset, properties: dict[str, Any], schema: list[dict[str, Any]]
) -> Specification:
    """Store the next version of the dataset's specification and make it current.

    The caller holds the lock of `lock_dataset`, so that versions follow one another.
    """
    version = dataset.specification.version + 1 if dataset.specification else 1
    specification = Specification.objects.create(
        dataset=dataset, version=version, properties=properties, schema=schema, created_by=actor.name
    )
    dataset.specification = specification
    dataset.save(update_fields=["specification"])
    return specification


def open_dataset(
    principal: Principal, *, namespace: str, name: str, access: str, operation: str, task: str = ""
) -> Dataset:
    """Authorise one data operation and record the access before the data moves.

    A refusal is recorded too, then raised as `Forbidden`. `operation` names what asked.
    """
    if access not in ACCESS_LEVELS:
        raise InvalidInput(f"{access!r} is no access; use one of {', '.join(ACCESS_LEVELS)}.")
    dataset = get_dataset(principal, namespace, name)
    held = levels_held(principal, dataset.namespace, name)
    missing = sorted(level.value for level in ACCESS_LEVELS[access] if level not in held)
    record(
        principal,
        Action.DATASET_ACCESSED,
        "dataset",
        name,
        namespace=namespace,
        outcome=Outcome.DENIED if missing else Outcome.ALLOWED,
        access=access,
        task=task,
        detail={"operation": operation},
    )
    if missing:
        raise Forbidden(
            f"{principal} may not {operation} {namespace}/{name}: {' and '.join(missing)} is missing."
        )
    return dataset

"""The tables of `namespaces`."""

from namespaces.models.audit import Action, AuditEvent, Outcome
from namespaces.models.grants import Grant, Level
from namespaces.models.operations import Operation, OperationState
from namespaces.models.tenancy import Namespace

__all__ = [
    "Action",
    "AuditEvent",
    "Grant",
    "Level",
    "Namespace",
    "Operation",
    "OperationState",
    "Outcome",
]

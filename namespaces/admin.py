"""Model lists for platform admins. What has a verb is written through it; the rest is read-only."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.http import HttpRequest

from namespaces.faces import principal
from namespaces.models import AuditEvent, Grant, Namespace, Operation
from namespaces.services.grants import add_grant, remove_grant
from namespaces.services.tenancy import RESERVED, put_namespace
from tenure.names import NAME_PATTERN, NAME_RULE


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not generic at run time
    """Rows to look at: nobody adds, changes or deletes them here."""

    actions = None

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Never."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Never."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Never."""
        return False


class NamespaceForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic at run time
    """A namespace's name, which is fixed once it exists, and its description."""

    name = forms.RegexField(f"^{NAME_PATTERN}$", max_length=63, help_text=f"For good: {NAME_RULE}.")

    class Meta:
        model = Namespace
        fields = ("name", "description")

    def clean_name(self) -> str:
        """Built-in names stay built in."""
        name: str = self.cleaned_data["name"]
        if name in RESERVED:
            raise forms.ValidationError(f"{name!r} is reserved.")
        return name


@admin.register(Namespace)
class NamespaceAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not generic at run time
    """Namespaces: created and described by `put_namespace`, deleted by nobody yet."""

    form = NamespaceForm
    list_display = ("name", "description", "created_at")
    search_fields = ("name", "description")
    actions = None

    def get_readonly_fields(self, request: HttpRequest, obj: Namespace | None = None) -> tuple[str, ...]:
        """A name is for good."""
        return ("name",) if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Namespace | None = None) -> bool:
        """Deleting a namespace is an operation with a preview, not a form."""
        return False

    def save_model(self, request: HttpRequest, obj: Namespace, form: Any, change: bool) -> None:
        """Call the verb."""
        saved, _ = put_namespace(principal(request), name=obj.name, description=obj.description)
        obj.pk = saved.pk

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """The audit log has it: the verb wrote it there."""

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """The audit log has it."""


class GrantForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic at run time
    """Either a user or a group, by name (a list of ten thousand users helps nobody), and a level."""

    user_name = forms.CharField(
        required=False, max_length=150, label="User", help_text="By name; or a group."
    )
    group_name = forms.CharField(required=False, max_length=150, label="Group")

    class Meta:
        model = Grant
        fields = ("namespace", "dataset", "level")

    def clean(self) -> dict[str, Any]:
        """Exactly one holder, who exists."""
        values = super().clean() or self.cleaned_data
        user, group = values.get("user_name"), values.get("group_name")
        if bool(user) == bool(group):
            raise forms.ValidationError("Name either a user or a group.")
        if user and not User.objects.filter(username=user).exists():
            self.add_error("user_name", f"There is no user {user!r}.")
        if group and not Group.objects.filter(name=group).exists():
            self.add_error("group_name", f"There is no group {group!r}.")
        return values

    def _post_clean(self) -> None:
        # The verb builds the row; without its holder the model's own constraints would refuse it here.
        pass


@admin.register(Grant)
class GrantAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not generic at run time
    """Access: grants are added and taken back, never changed."""

    form = GrantForm
    list_display = ("holder", "level", "namespace", "where", "created_at")
    list_filter = ("level", "namespace")
    search_fields = ("user__username", "group__name", "dataset", "namespace__name")
    list_select_related = ("namespace", "user", "group")
    list_per_page = 50

    @admin.display(description="Who", ordering="user__username")
    def holder(self, grant: Grant) -> str:
        """The user, or the group."""
        return grant.user.get_username() if grant.user else f"group {grant.group}"

    @admin.display(description="Dataset", ordering="dataset", empty_value="all of it")
    def where(self, grant: Grant) -> str | None:
        """The one dataset, or nothing for the whole namespace."""
        return grant.dataset or None

    def get_fields(self, request: HttpRequest, obj: Grant | None = None) -> tuple[str, ...]:
        """Holders are typed by name; an existing grant shows who they are."""
        holders = ("user_name", "group_name") if obj is None else ("user", "group")
        return ("namespace", "dataset", *holders, "level")

    def has_change_permission(self, request: HttpRequest, obj: Grant | None = None) -> bool:
        """Take it back and grant anew."""
        return False

    def save_model(self, request: HttpRequest, obj: Grant, form: Any, change: bool) -> None:
        """Call the verb."""
        values = form.cleaned_data
        saved, _ = add_grant(
            principal(request),
            namespace=values["namespace"],
            level=values["level"],
            dataset=values["dataset"],
            user=values["user_name"],
            group=values["group_name"],
        )
        for field in Grant._meta.concrete_fields:
            setattr(obj, field.attname, getattr(saved, field.attname))

    def delete_model(self, request: HttpRequest, obj: Grant) -> None:
        """Call the verb."""
        remove_grant(principal(request), obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Grant]) -> None:
        """Call the verb for each."""
        for grant in queryset:
            remove_grant(principal(request), grant)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """The audit log has it: the verb wrote it there."""

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """The audit log has it."""


@admin.register(Operation)
class OperationAdmin(ReadOnlyAdmin):
    """Operations, as rows."""

    list_display = ("kind", "namespace", "target", "state", "actor", "created_at", "finished_at")
    list_filter = ("state", "kind")
    exclude = ("input", "result", "error")


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    """The audit log, as rows. No count of all rows: it would read the whole table."""

    list_display = ("at", "actor", "action", "namespace", "target", "outcome")
    list_filter = ("outcome", "access")
    show_full_result_count = False
    exclude = ("detail", "transaction_id")

"""Who is there, may do what, and did what: namespaces, grants, the audit log and operations."""

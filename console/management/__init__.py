"""The commands that Tenure adds to `manage.py`."""

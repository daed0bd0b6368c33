"""What programs import: pipelines, datasets and the clients of a Tenure console.

Importing `tenure` needs the standard library alone; Spark and Iceberg are imported where used.
"""

from tenure.pipeline import Pipeline

__all__ = ["Pipeline", "__version__"]
__version__ = "0.1.0"

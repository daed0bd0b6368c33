"""The tables of `lineage`."""

from lineage.models.pipelines import Pipeline, PipelineDataset, PipelineVersion
from lineage.models.runs import LogLine, Run, RunState, TaskRun, TaskState

__all__ = [
    "LogLine",
    "Pipeline",
    "PipelineDataset",
    "PipelineVersion",
    "Run",
    "RunState",
    "TaskRun",
    "TaskState",
]

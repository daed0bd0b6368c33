"""The specification of Tenure, as sentences that run."""

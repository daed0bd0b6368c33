"""What there is: datasets, their specifications, and the Iceberg catalog."""

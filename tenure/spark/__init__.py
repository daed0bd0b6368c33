"""The only code that imports pyspark: sessions, frames and the types of their columns."""

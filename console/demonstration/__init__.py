"""The demonstration: all flights that left New York in 2013, through a whole console, over its API."""

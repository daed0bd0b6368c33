"""`manage.py up`: a whole console on one machine, from what is configured and what is not.

The supervisor in this package imports no Django and touches no ORM: it starts the embedded
parts that nothing configured replaces, prepares the database through child processes, keeps
the console's own processes alive, and stops them all in order.
"""

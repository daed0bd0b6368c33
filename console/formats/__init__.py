"""How dates are written by Django itself, on stock admin pages."""

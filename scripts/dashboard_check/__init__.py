"""What scripts/check_dashboards is made of."""

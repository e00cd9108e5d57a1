"""The experiment with schedules of tuning jobs: see tools/scheduling/__main__.py."""

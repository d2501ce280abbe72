"""What runs the notebooks: find, run, save and sweep, their outputs, the report, the commands."""

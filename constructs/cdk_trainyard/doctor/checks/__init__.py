"""One module for each kind of thing that is asked about."""

"""Who may call the local AWS, and as whom."""

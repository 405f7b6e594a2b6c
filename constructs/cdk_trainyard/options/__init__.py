"""Options: what a user can say, declared once, and read, judged and described from that declaration."""

"""``trainyard review``: what is synthesized, as one page that a person can judge."""

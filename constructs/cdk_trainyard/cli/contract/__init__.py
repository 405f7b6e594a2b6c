"""What ParallelCluster itself says of our configurations, from an environment of its own."""

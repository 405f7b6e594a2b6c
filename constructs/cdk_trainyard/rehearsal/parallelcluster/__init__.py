"""ParallelCluster: what its cookbooks do on nodes, and the rehearsal of its clusters."""

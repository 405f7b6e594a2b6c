"""HyperPod: what its service does on nodes, and the rehearsal of its clusters."""

"""EFA fleets: what cloud-init does on their nodes, and the rehearsal of a fleet."""

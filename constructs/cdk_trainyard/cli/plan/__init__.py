"""What an update would do before it is deployed: to ParallelClusters, HyperPod clusters, storage and all else."""

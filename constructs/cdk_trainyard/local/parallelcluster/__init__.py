"""AWS's CloudFormation provider of ParallelCluster, and the clusters that it makes."""

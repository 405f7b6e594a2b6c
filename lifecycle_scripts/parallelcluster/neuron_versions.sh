# shellcheck shell=bash
# Neuron SDK 2.31.1. Written by tools/generate_versions.py from the matrix of versions.
# The last release with PyTorch/XLA, which Trn1 and Inf2 train with; 2.32.0 says to install this one's.
NEURON_DRIVER=(aws-neuronx-dkms 2.29.0.0)
# Drivers that this runtime works with, from the first and before the second; empty: no bound is known.
NEURON_DRIVERS=('2.27' '')
NEURON_RUNTIME=(aws-neuronx-collectives 2.33.10.0 aws-neuronx-runtime-lib 2.33.10.0 aws-neuronx-tools 2.31.15.0)
NEURON_PYTHON=(torch-neuronx==2.9.0.2.15.32035 neuronx-cc==2.26.6360.0)
NEURON_PYTHONS='3.11 3.12 3.13'
export NEURON_DRIVER NEURON_DRIVERS NEURON_RUNTIME NEURON_PYTHON NEURON_PYTHONS

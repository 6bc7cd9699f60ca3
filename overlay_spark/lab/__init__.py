"""The laboratory: workloads made, kernels and jobs timed, experiments repeated. The product imports nothing of it."""

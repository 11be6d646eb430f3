"""Networks to try predictions on: simulated by SimGrid, and made of Linux network namespaces."""

"""Networks for tests of predictions: simulated by SimGrid, and made of Linux network namespaces."""

"""Own images for `pencilmap --placement python:docs/examples/snake.py:snake`."""


def snake(torus, R, C, tasks_per_node):
    """Rows follow one path through the torus that steps from neighbour to neighbour, slots of a node first."""
    path = [()]
    for n in torus.shape:
        path = [(*place, x) for x, places in enumerate(_there_and_back(path, n)) for place in places]
    return [(*path[rank // tasks_per_node], rank % tasks_per_node) for rank in range(R * C)]


def _there_and_back(path, n):
    """Return the path forwards, backwards, forwards, ...: n times."""
    return [path[::-1] if x % 2 else path for x in range(n)]

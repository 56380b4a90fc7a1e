"""The pools of a fleet, and the name of one in the words of a remote engine: the one place that a fleet changes."""

# Each has a self-test, //benches/selftest:pool_NAME. This one is of the engine that third_party/remote/up starts.
POOLS = ["trial"]

def properties_of_pool(name):
    """The execution properties that tell an engine the machines of a pool.

    Args:
      name: of the pool, such as "h100".

    Returns:
      a dictionary of texts. Most engines are set up with `Pool`.
    """
    return {"Pool": name}

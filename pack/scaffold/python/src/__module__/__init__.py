"""What {{name}} does, apart from how it is called: replace this with the first part of the plan."""


def answer(name: str) -> str:
    """Answers a request. A stub: it gives the same answer to everyone."""
    return f"Hello, {name}!"

"""The command line of {{name}}."""

import sys

from {{module}} import answer


def main() -> None:
    print(answer(sys.argv[1] if len(sys.argv) > 1 else "world"))


if __name__ == "__main__":
    main()

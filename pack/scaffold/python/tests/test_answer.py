import subprocess
import sys
import unittest

from {{module}} import answer


class Answer(unittest.TestCase):
    def test_the_answer_names_who_asked(self):
        self.assertEqual(answer("world"), "Hello, world!")

    def test_the_program_answers(self):
        command = [sys.executable, "-m", "{{module}}", "you"]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        self.assertEqual(said, "Hello, you!\n")


if __name__ == "__main__":
    unittest.main()

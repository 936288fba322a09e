import assert from "node:assert/strict";
import test from "node:test";

import { answer } from "../src/answer.js";

test("the answer names who asked", () => {
  assert.equal(answer("world"), "Hello, world!");
});

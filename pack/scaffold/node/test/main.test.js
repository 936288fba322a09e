import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../src/main.js", import.meta.url));

test("the program answers", () => {
  const said = execFileSync(process.execPath, [main, "you"], { encoding: "utf8" });
  assert.equal(said, "Hello, you!\n");
});

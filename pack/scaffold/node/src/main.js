#!/usr/bin/env node
// The command line of {{name}}.
import { answer } from "./answer.js";

console.log(answer(process.argv[2] ?? "world"));

// What {{name}} does, apart from how it is called: replace this with the first part of the plan.

/** Answers a request. A stub: it gives the same answer to everyone. */
export function answer(name) {
  return `Hello, ${name}!`;
}

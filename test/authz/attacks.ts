/** Policies that a hostile tenant might put: each compiles, and each is dear to evaluate in a way of its own. */

/** Every pair of `n` numbers. */
const pairs = (n: number) =>
  `package a\noutcome := "allow" if { r := numbers.range(1, ${n}); some i in r; some j in r; i * j == 0.5 }`;

/** Runs until its budget ends it. */
export const looping = pairs(5000);

/** Just within the budget, below what counts as exhausting it. */
export const notQuiteLooping = pairs(65);

/** Doubles a text until memory ends it: twelve copies of twelve copies of... */
export const growing = [
  'package a',
  `a0 := "${'x'.repeat(64)}"`,
  ...[1, 2, 3, 4, 5].map(
    (n) =>
      `a${n} := concat("", [${Array(12)
        .fill(`a${n - 1}`)
        .join(',')}])`,
  ),
  'outcome := "allow" if count(a5) == 3',
].join('\n');

/** Two rules that disagree: the evaluation ends at once, and takes its instance with it. */
export const conflicting = 'package a\noutcome := "allow" if input.subject.id\noutcome := "deny" if input.subject.id';

/** What bench/fairness.ts attacks with: policies that are legal, or nearly, and dear to run each in a way of its own. */

/** A text of `chars` that no two rules share. */
const text = (name: string, chars: number) =>
  `${name} := concat("", [${Array(chars / 1000)
    .fill('part')
    .join(',')}])`;

const part = `part := "${'x'.repeat(1000)}"`;

/** Lists of equal long texts: what comparing them takes is in their length, and not in how many there are. */
export const longTexts = `package a
${part}
${text('left', 60_000)}
${text('right', 60_000)}
lefts := [left]
rights := [right]
default outcome := "deny"
outcome := "allow" if {
	some i in numbers.range(1, 3700)
	lefts == rights
	i == 0
}`;

/** Within the budget, and past nothing that counts against it. */
export const slow = (n: number) => `package a
default outcome := "deny"
outcome := "allow" if {
	some i in numbers.range(1, ${n})
	time.format([i * 1000000000, "UTC", "2006-01-02T15:04:05Z07:00"]) == "never"
}`;

/** Many small lists that live until the end of the evaluation. */
export const garbage = `package a
default outcome := "deny"
outcome := "allow" if count([[i, [i]] | some i in numbers.range(1, 6000)]) == 1`;

/** Texts of a megabyte. */
export const longGarbage = `package a
${part}
${text('long', 60_000)}
default outcome := "deny"
outcome := "allow" if count([concat("", [long, long, long, long]) | some i in numbers.range(1, 8)]) == 1`;

/** About 40 KB of rules: loading its program takes milliseconds. */
export const large = `package a
default outcome := "deny"
${Array.from(
  { length: 500 },
  (_, i) => `outcome := "allow" if { input.resource.a${i} == "v${i}"; input.resource.b${i} == ${i} }`,
).join('\n')}`;

/** As many relationships as the subject has, each compared. */
export const relationships = `package a
default outcome := "deny"
outcome := "allow" if {
	some held in input.graph.subject
	startswith(held.to.id, input.resource.none)
}
reason := sprintf("%d", [count(input.graph.subject)])`;

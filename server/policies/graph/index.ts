/**
 * Drawn policies: a decision graph, its errors, its conversion to Rego and its direct meaning. It has no table and
 * knows neither who sent the graph nor where it is kept.
 */
export { checkGraph } from './check.ts';
export { graphToRego, linesOfNodes } from './convert.ts';
export { interpretGraph } from './interpret.ts';
export { GraphSchema, type PolicyGraph } from './schema.ts';

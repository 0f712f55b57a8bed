/**
 * What a document may cost at most, judged before any of it runs: every list states how long it may be, one within another
 * multiplies, and the rows and values that could come back are bounded.
 */
import {
  type ArgumentNode,
  type ASTNode,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
  valueFromASTUntyped,
} from 'grafast/graphql';
import { limits } from '../core/limits.ts';
import type { Problem } from '../core/problems.ts';
import { placeOf } from './place.ts';
import { graphqlProblem } from './problems.ts';

type Variables = Readonly<Record<string, unknown>>;
/** How many rows there may be where we are, and how many levels down that is. */
type Place = { times: number; depth: number };

/** Long texts: policies in Rego. */
const longFields = new Set(['effectiveRego']);

/**
 * @param operation that is valid in the schema, and without fragments
 * @returns how many rows it could answer
 * @throws Problem graphql_too_expensive
 */
export function rowsOf(schema: GraphQLSchema, operation: OperationDefinitionNode, variables: Variables): number {
  const cost = new Cost(operation, variables);
  cost.walk(operation.selectionSet, schema.getQueryType() as GraphQLObjectType, { times: 1, depth: 1 });
  return cost.rows;
}

/**
 * Validating and planning take the thread for a time that grows with the fields of the text, however few rows they ask for.
 * @throws Problem graphql_too_expensive
 */
export function boundSelections(operation: OperationDefinitionNode): void {
  let count = 0;
  const countIn = ({ selections }: SelectionSetNode): void => {
    for (const one of selections) {
      if (++count > limits.graphqlSelectionsMax) {
        throw expensive(`The document has more than ${limits.graphqlSelectionsMax} fields.`, one);
      }
      if ('selectionSet' in one && one.selectionSet) countIn(one.selectionSet);
    }
  };
  countIn(operation.selectionSet);
}

class Cost {
  rows = 0;
  #values = 0;
  #connections = 0;
  readonly #defaults: Variables;
  readonly #variables: Variables;

  constructor(operation: OperationDefinitionNode, variables: Variables) {
    this.#variables = variables;
    this.#defaults = Object.fromEntries(
      (operation.variableDefinitions ?? []).map(({ variable, defaultValue }) => [
        variable.name.value,
        defaultValue && valueFromASTUntyped(defaultValue),
      ]),
    );
  }

  walk(set: SelectionSetNode, type: GraphQLObjectType, { times, depth }: Place): void {
    if (depth > limits.graphqlDepthMax) {
      throw expensive(`Fields are nested more than ${limits.graphqlDepthMax} levels deep.`, set);
    }
    for (const selection of set.selections) {
      if (selection.kind !== 'Field') throw expensive('Fragments are not taken.', selection);
      const field = type.getFields()[selection.name.value];
      if (field === undefined)
        this.#count(selection, times); // __typename
      else this.#field(selection, getNamedType(field.type), { times, depth });
    }
  }

  #field(node: FieldNode, type: GraphQLNamedType, { times, depth }: Place): void {
    if (isLeafType(type)) {
      const isLong = type.name === 'JSON' || longFields.has(node.name.value);
      this.#count(node, isLong ? times * limits.graphqlLongValueItems : times);
      return;
    }
    const inner = type as GraphQLObjectType;
    const isList = inner.name.endsWith('Connection');
    const isPart = inner.name === 'PageInfo' || ['nodes', 'edges', 'node'].includes(node.name.value);
    const within = isList ? times * this.#first(node) : times;
    if (!isPart) {
      this.rows += within;
      this.#connections++;
    }
    if (this.#connections > limits.graphqlConnectionsMax) {
      throw expensive(`The document asks for more than ${limits.graphqlConnectionsMax} lists and objects.`, node);
    }
    if (this.rows > limits.graphqlRowsMax) {
      throw expensive(`The answer could have ${this.rows} rows; the limit is ${limits.graphqlRowsMax}.`, node);
    }
    if (node.selectionSet) this.walk(node.selectionSet, inner, { times: within, depth: depth + 1 });
  }

  /** How long a list may be, which it has to say, and in an order that pages. */
  #first(node: FieldNode): number {
    const first = this.#valueOf(node, 'first');
    const { pageItemsMax } = limits;
    if (!Number.isInteger(first) || (first as number) < 1 || (first as number) > pageItemsMax) {
      throw expensive(`${node.name.value} needs first: an integer from 1 to ${pageItemsMax}.`, node);
    }
    const order = [this.#valueOf(node, 'orderBy') ?? 'PRIMARY_KEY_ASC'].flat();
    // Behind a cursor of another order, or of none, is an offset. Null is none, and undefined the default.
    const isNull = argumentOf(node, 'orderBy') !== undefined && this.#valueOf(node, 'orderBy') == null;
    if (isNull || order.length !== 1 || !/^PRIMARY_KEY_(A|DE)SC$/.test(String(order[0]))) {
      throw expensive(`${node.name.value}: orderBy is PRIMARY_KEY_ASC or PRIMARY_KEY_DESC.`, node);
    }
    return first as number;
  }

  #valueOf(node: FieldNode, name: string): unknown {
    const value: ValueNode | undefined = argumentOf(node, name)?.value;
    if (value === undefined) return undefined;
    return valueFromASTUntyped(value, { ...this.#defaults, ...this.#variables });
  }

  #count(node: ASTNode, values: number): void {
    this.#values += values;
    if (this.#values > limits.graphqlValuesMax) {
      throw expensive(`The answer could have more than ${limits.graphqlValuesMax} values.`, node);
    }
  }
}

function argumentOf(node: FieldNode, name: string): ArgumentNode | undefined {
  return node.arguments?.find((one) => one.name.value === name);
}

function expensive(detail: string, node: ASTNode): Problem {
  return graphqlProblem('graphql_too_expensive', { detail, errors: [placeOf(detail, node.loc?.startToken)] });
}

// Which parts of PostGraphile are used, and how little of it: what is switched off here is not in the schema at all.
import { makePgService } from 'postgraphile/adaptors/pg';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { PostGraphileConnectionFilterPreset } from 'postgraphile-plugin-connection-filter';

const withoutPlugins = [
  // Nothing is written, called or subscribed to.
  ...['PgMutationCreatePlugin', 'PgMutationUpdateDeletePlugin', 'PgMutationPayloadEdgePlugin', 'MutationPlugin'],
  ...['MutationPayloadQueryPlugin', 'SubscriptionPlugin', 'ClientMutationIdDescriptionPlugin', 'PgProceduresPlugin'],
  // No second way to ask for the same, and none to ask for it within itself.
  ...['QueryQueryPlugin', 'PgConditionArgumentPlugin', 'PgRowByUniquePlugin'],
  // Orders that no index has, and counts, read all rows of a tenant.
  ...['PgOrderAllAttributesPlugin', 'PgConnectionTotalCountPlugin'],
  // Under `or` and `not` no index is used.
  'PgConnectionArgFilterLogicalOperatorsPlugin',
];

/** Without `offset`, and without what pages backwards: a page begins behind the cursor of the one before. */
const forwardOnly = {
  name: 'ForwardOnlyPlugin',
  version: '1.0.0',
  schema: {
    hooks: {
      GraphQLObjectType_fields_field_args: {
        after: ['PgFirstLastBeforeAfterArgsPlugin'],
        callback(args) {
          const { offset, last, before, ...kept } = args;
          return kept;
        },
      },
      // Behind a cursor of no order is an offset.
      GraphQLEnumType_values: (values) => {
        const { NATURAL, ...kept } = values;
        return kept;
      },
    },
  },
};

export function preset(pool) {
  return {
    extends: [PostGraphileAmberPreset, PostGraphileConnectionFilterPreset],
    disablePlugins: withoutPlugins,
    plugins: [forwardOnly],
    pgServices: [
      // As the reader that reads most: what it was granted is what there is.
      makePgService({
        pool,
        schemas: ['graphql'],
        pubsub: false,
        pgSettingsForIntrospection: { role: 'accord_reader_admin' },
      }),
    ],
    schema: {
      // On views PostGraphile would filter and order by every column: a comment of the migration lets a column in.
      defaultBehavior: '-list connection -filterBy -orderBy -insert -update -delete -connection:backwards',
      connectionFilterAllowedOperators: [
        ...['equalTo', 'in', 'lessThan', 'lessThanOrEqualTo', 'greaterThan', 'greaterThanOrEqualTo'],
      ],
      connectionFilterRelations: false,
      connectionFilterComputedColumns: false,
      connectionFilterArrays: false,
      connectionFilterLogicalOperators: false,
    },
  };
}

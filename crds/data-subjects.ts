/** Whose consents a policy reads: part of a Policy's spec, and of the Config API's body. */
import Type, { type Static } from 'typebox';
import { bounds } from './bounds.ts';
import { text } from './fields.ts';
import { patterns } from './patterns.ts';

export const DataSubjects = Type.Object(
  {
    relationship: Type.Optional(
      text(
        patterns.relationshipTypeKey,
        bounds.relationshipTypeKeyCharsMax,
        'A relationship type, From:relationship:To, such as user:is_owner_of:record: all actors that have this relationship to the resource.',
      ),
    ),
    path: Type.Optional(
      text(
        patterns.dataSubjectPath,
        bounds.dataSubjectPathCharsMax,
        "Where the request names a person, such as resource.patient. A string is the id of an actor of the tenant's default type, an object has type and id. Only back ends may name a person.",
      ),
    ),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    description:
      'The persons whom the data is about. The policy gets them with their consents as input.dataSubjects. With both fields, the persons of both.',
  },
);
export type DataSubjects = Static<typeof DataSubjects>;

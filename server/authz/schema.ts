/** Shapes of the authorization room: the specification's request and response. */
import { type Static, Type } from 'typebox';
import { limits } from '../core/limits.ts';
import type { Answer } from '../policies/index.ts';

const attributes = (description: string) =>
  Type.Record(Type.String({ maxLength: 256 }), Type.Unknown(), { description });

export const AuthorizationRequest = Type.Object(
  {
    subject: Type.Optional(
      Type.Object(
        {
          id: Type.Optional(Type.String({ maxLength: 1024, description: 'Identifier of the actor.' })),
          type: Type.Optional(Type.String({ maxLength: 256, description: 'Type of the actor, for example user.' })),
        },
        { description: 'The actor attempting the action; further attributes are allowed.' },
      ),
    ),
    action: Type.Optional(
      Type.String({
        maxLength: 1024,
        description: 'The action, targetType:action: the policy of this name is executed.',
      }),
    ),
    resource: Type.Optional(attributes('What the action is attempted on; free attributes.')),
    context: Type.Optional(attributes('Anything else that the policy may use.')),
  },
  { additionalProperties: false, $id: 'AuthorizationRequest' },
);
export type AuthorizationRequest = Static<typeof AuthorizationRequest>;

export const AuthorizationResponse = Type.Object({
  outcome: Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())], {
    description: 'allow, deny, or an object that the policy defines.',
  }),
  reason: Type.Optional(Type.String({ description: 'Clarification of the decision.' })),
  obligations: Type.Optional(
    Type.Array(Type.String(), { description: 'What must be fulfilled to obtain authorization.' }),
  ),
  explain: Type.Optional(Type.Unknown({ description: 'With ?explain=true: how the decision was made.' })),
});

/** An answer as JSON. Most are short and of known members: JSON.stringify of the whole took 0.4 us of each decision. */
export function answerText(answer: Answer & { explain?: unknown }): string {
  const { outcome, reason, obligations, explain } = answer;
  if ((outcome !== 'allow' && outcome !== 'deny') || explain !== undefined) return JSON.stringify(answer);
  const why = reason === undefined ? '' : `,"reason":${JSON.stringify(reason)}`;
  const duties = obligations === undefined ? '' : `,"obligations":${JSON.stringify(obligations)}`;
  return `{"outcome":"${outcome}"${why}${duties}}`;
}

export const BatchRequest = Type.Object(
  { requests: Type.Array(Type.Ref('AuthorizationRequest#'), { minItems: 1, maxItems: limits.batchRequestsMax }) },
  { additionalProperties: false },
);

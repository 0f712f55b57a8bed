/** What a Tenant says of its own issuer: lifetimes, and the pages on which users log in. */
import Type from 'typebox';
import { bounds } from './bounds.ts';
import { strictObject, text } from './fields.ts';
import { patterns } from './patterns.ts';

export const Tokens = strictObject(
  {
    signingAlgorithm: Type.Enum(['ES256', 'RS256'], {
      default: 'ES256',
      description: "Algorithm of the access tokens of the tenant's own issuer.",
    }),
    accessTokenTTL: text(
      patterns.duration,
      bounds.durationCharsMax,
      'How long such an access token is valid: an ISO 8601 duration of one unit, PT1M to PT24H.',
      { default: 'PT1H' },
    ),
    refreshTokenTTL: Type.Optional(
      text(
        patterns.duration,
        bounds.durationCharsMax,
        'How long a refresh token and those that replace it are valid, from the issue of the first: PT1M to PT8760H. Defaults to PT720H (30 days).',
      ),
    ),
    sessionTTL: Type.Optional(
      text(
        patterns.duration,
        bounds.durationCharsMax,
        'How long a user stays logged in at the most: PT1M to PT336H. Defaults to PT336H (14 days).',
      ),
    ),
  },
  { default: {}, description: "Tokens and sessions of the tenant's own issuer." },
);

const Colour = (description: string) => text(patterns.colour, bounds.colourCharsMax, description);

export const Login = strictObject(
  {
    selfRegistration: Type.Enum(['none', 'invitation', 'open'], {
      default: 'invitation',
      description:
        'Who may sign up for an account. none: nobody. invitation: whoever follows an invitation to share a relationship. open: everybody.',
    }),
    sharingPage: Type.Optional(
      Type.Boolean({
        description:
          'Whether users have a page of their shares, invitations and consents, at {base_url}/{tenant}/account/sharing. Defaults to false.',
      }),
    ),
    brand: Type.Optional(
      strictObject(
        {
          logo: Type.Optional(text(patterns.httpsUrl, bounds.urlCharsMax, 'URL of the logo, https.')),
          colours: Type.Optional(
            strictObject(
              {
                primary: Colour('Colour of buttons and links, such as #0b5fff.'),
                background: Type.Optional(
                  Colour(
                    'Colour behind the page, in the nearest shade on which texts are readable. Defaults to that of the light or dark style.',
                  ),
                ),
              },
              { description: 'Colours. Text on them is black or white, whichever has more contrast.' },
            ),
          ),
        },
        { description: 'How the pages look.' },
      ),
    ),
    languages: Type.Optional(
      Type.Array(Type.Enum(['en', 'nl', 'fr'], { description: 'One language.' }), {
        minItems: 1,
        maxItems: 3,
        uniqueItems: true,
        description: 'Languages of the pages, the preferred one first. Defaults to en, nl and fr.',
      }),
    ),
  },
  { description: "The pages of the tenant's own issuer: logging in, signing up, accounts." },
);

/** The screens of the portal, in the order of the rail. */
import type { Screen } from '../core/screen.ts';
import { activity } from './activity/index.tsx';
import { consents } from './consents/index.tsx';
import { model } from './model/index.tsx';
import { overview } from './overview/index.tsx';
import { people } from './people/index.tsx';
import { policies } from './policies/index.tsx';
import { settings } from './settings/index.tsx';

export const screens: readonly Screen[] = [overview, policies, model, consents, people, activity, settings];

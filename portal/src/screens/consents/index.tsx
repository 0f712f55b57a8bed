import { defineScreen } from '../../core/screen.ts';
import { texts } from './texts.ts';

export const consents = defineScreen({
  id: 'consents',
  icon: 'consents',
  texts,
  routes: [{ path: '/', load: () => import('./first.tsx') }],
});

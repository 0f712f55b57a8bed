import { defineScreen } from '../../core/screen.ts';
import { texts } from './texts.ts';

export const policies = defineScreen({
  id: 'policies',
  icon: 'policies',
  texts,
  routes: [{ path: '/', load: () => import('./first.tsx') }],
});

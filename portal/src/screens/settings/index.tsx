import { defineScreen } from '../../core/screen.ts';
import { texts } from './texts.ts';

export const settings = defineScreen({
  id: 'settings',
  icon: 'settings',
  texts,
  routes: [{ path: '/', load: () => import('./first.tsx') }],
});

import { defineScreen } from '../../core/screen.ts';
import { texts } from './texts.ts';

export const activity = defineScreen({
  id: 'activity',
  icon: 'activity',
  texts,
  routes: [{ path: '/', load: () => import('./first.tsx') }],
});

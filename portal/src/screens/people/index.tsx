import { defineScreen } from '../../core/screen.ts';
import { texts } from './texts.ts';

export const people = defineScreen({
  id: 'people',
  icon: 'people',
  texts,
  routes: [{ path: '/', load: () => import('./first.tsx') }],
});

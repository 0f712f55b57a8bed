import { defineScreen } from '../../core/screen.ts';
import { texts } from './texts.ts';

export const model = defineScreen({
  id: 'model',
  icon: 'model',
  texts,
  routes: [{ path: '/', load: () => import('./first.tsx') }],
});

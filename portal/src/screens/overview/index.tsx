import { defineScreen } from '../../core/screen.ts';
import { texts } from './texts.ts';

export const overview = defineScreen({
  id: 'overview',
  icon: 'overview',
  texts,
  routes: [{ path: '/', guide: 'portal.html', load: () => import('./first.tsx') }],
});

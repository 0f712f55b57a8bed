import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/**
 * Two documents: index.html is the portal, sharing.html the page of a tenant's users. Literals in them are filled by the server in each
 * answer: __ACCORD_NONCE__, __ACCORD_BASE__, the path of the base URL ('' or '/accord'), and in sharing.html what it shows of the tenant. Names of assets carry a digest of what is in them, so that they can be kept for ever.
 */
export default defineConfig({
  root: import.meta.dirname,
  base: '/portal/',
  plugins: [react()],
  build: {
    rolldownOptions: { input: ['index.html', 'sharing.html'].map((name) => join(import.meta.dirname, name)) },
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    sourcemap: false,
    chunkSizeWarningLimit: 700,
  },
  experimental: {
    renderBuiltUrl: (name, { hostType }) =>
      hostType === 'html' ? `__ACCORD_BASE__/portal/${name}` : { relative: true },
  },
});

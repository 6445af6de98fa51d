import { defineConfig } from 'vite';

/** The page is static: one document, one script, one style sheet. */
export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    outDir: 'dist',
    emptyOutDir: true,
    reportCompressedSize: false,
    // A fixed policy forbids data: addresses of anything but pictures.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // How long its plugins took concerns nobody who starts the stack.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  logLevel: 'warn',
});

import { describe } from 'vitest';
import { missingBrowser } from '../support/tools/missing-tools.ts';
import { playAll } from './play-all.ts';

describe.skipIf(missingBrowser().length > 0)('the client for TypeScript in Chromium', () => {
  playAll('chromium');
});

import { describe } from 'vitest';
import { missingBrowser } from '../support/tools/missing-tools.ts';
import { playShare } from './play-share.ts';

describe.skipIf(missingBrowser().length > 0)('the client for TypeScript in Chromium', () => {
  playShare('chromium');
});

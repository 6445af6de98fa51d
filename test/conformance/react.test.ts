import { describe } from 'vitest';
import { missingBrowser } from '../support/tools/missing-tools.ts';
import { playShare } from './play-share.ts';

describe.skipIf(missingBrowser().length > 0)('the hooks with what React Native has', () => {
  playShare('react-native');
});

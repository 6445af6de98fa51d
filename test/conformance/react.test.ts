import { describe } from 'vitest';
import { missingBrowser } from '../support/tools/missing-tools.ts';
import { playAll } from './play-all.ts';

describe.skipIf(missingBrowser().length > 0)('the hooks with what React Native has', () => {
  playAll('react-native');
});

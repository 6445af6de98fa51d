import { describe } from 'vitest';
import { allScenarios } from './judge/scenario.ts';
import { missingBrowser } from '../support/tools/missing-tools.ts';
import { playAll } from './play-all.ts';

/** All are played to the client below in Node and in Chromium: here every third, by `npm run conformance` all. */
const scenarios = allScenarios().filter((_, index) => index % 3 === 0);

describe.skipIf(missingBrowser().length > 0)('the hooks with what React Native has', () => {
  playAll('react-native', undefined, { scenarios });
});

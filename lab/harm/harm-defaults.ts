import type { ModeDefaults } from '../eval/eval-mode.ts';

/** What `npm run eval:harm` does where nothing is said. */
export const harmDefaults: ModeDefaults = {
  strategies: 'ledger',
  model: 'files',
};

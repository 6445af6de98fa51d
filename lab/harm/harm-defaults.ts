import type { ModeDefaults } from '../eval/eval-mode-arguments.ts';

/** What `npm run eval:harm` does where nothing is said. */
export const harmDefaults: ModeDefaults = {
  strategies: 'ledger',
  repeat: '1',
  vices: '',
  model: 'files',
};

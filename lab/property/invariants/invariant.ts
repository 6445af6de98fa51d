import type { RunRecord } from '../run-program.ts';

/** Says what is wrong with a run, one text for each fault; none: it holds. Pure. */
export interface Invariant {
  name: string;
  violations: (record: RunRecord) => string[];
}

/** One text if something is wrong, else none. */
export const when = (isWrong: boolean, text: string): string[] => (isWrong ? [text] : []);

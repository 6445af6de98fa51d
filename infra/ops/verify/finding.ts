import { compactionFaults } from './compaction-faults.ts';
import { contextFaults } from './context-faults.ts';
import { erasureFaults } from './erasure-faults.ts';
import type { Fault } from './fault.ts';
import { transcriptFaults } from './transcript-faults.ts';

/**
 * All that can be found wrong, by name. Of what was said nothing is ever told: a finding has ids, numbers and names
 * of fields.
 */
export const faults = {
  ...transcriptFaults,
  ...contextFaults,
  ...compactionFaults,
  ...erasureFaults,
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;

/** One thing that is wrong: where, what is there, what should be, and what to do. */
export interface Finding extends Fault {
  name: FaultName;
  /** Of the document, from the root. */
  path: string;
  is: string;
}

export const finding = (name: FaultName, path: string, is: string): Finding => ({
  name,
  ...faults[name],
  path,
  is,
});

/** The finding, if `isWrong`. */
export const findingWhen = (isWrong: boolean, ...found: Parameters<typeof finding>): Finding[] =>
  isWrong ? [finding(...found)] : [];

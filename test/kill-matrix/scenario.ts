import type { ModelResponse, StoredDocument } from '#shared/ports/ports.ts';
import type { Documents } from '#lab/property/invariants/documents.ts';
import {
  autoRequest,
  markedTurns,
  writesOf,
  type InitialState,
} from '#lab/property/initial-state.ts';
import type { ConversationToBuild } from '../support/compaction/conversation-builder.ts';
import type { StepManner } from '#lab/property/world.ts';
import type { Stage } from './stage.ts';

/** What there is when everything is still again. */
export interface After {
  /** Of the one conversation that every scenario has. */
  documents: Documents;
  /** Everything in the store. */
  everything: readonly StoredDocument[];
  /** Turns behind which the app's step has run. */
  afterTurns: readonly string[];
}

/** Something that people, the bus and the scheduler do, and the crash points that it passes. */
export interface Scenario {
  name: string;
  /** Passed on the first server of their kind. */
  points: readonly string[];
  initial: InitialState;
  run(stage: Stage): Promise<unknown>;
  /** What the summariser says, by the number of its call; default: a good summary. */
  summary?: (call: number) => ModelResponse | undefined;
  /** The app has a step behind turns, which behaves so. */
  afterTurn?: StepManner;
  /** Who has no quota when its turn comes. */
  refusedMessageId?: string;
  /** What is wrong at the end, beside what is wrong in any scenario. */
  problems?(after: After): string[];
  /**
   * What may be otherwise than in a run without a fault, where an interruption comes sooner or later:
   * then only the common rules are checked.
   */
  mayEndOtherwise?: true;
}

/** A state without marks of its own. */
export const stateOf = async (
  text: string,
  options: ConversationToBuild,
): Promise<InitialState> => ({ text, marks: [], writes: await writesOf(options) });

export const MARKS = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth'];

export const problem = (isWrong: boolean, text: string): string[] => (isWrong ? [text] : []);

/** Saves enough to be worth a summary. */
export const due = await stateOf('eight turns over the threshold, a compaction is due', {
  turns: markedTurns(MARKS),
  conversation: { settings: { thresholdTokens: 700 }, compactionRequests: autoRequest },
});

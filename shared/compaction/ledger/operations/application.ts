import { constraintSection, type ArchivedItem } from '#shared/conversation/documents/snapshot.ts';
import { withdrawnByUser, type Cited, type ConstraintRefusal } from './constraint-rules.ts';
import type { LedgerDraft } from '../ledger-draft.ts';
import { lastSource } from '../items/statement.ts';
import type { Noted } from '../items/others-words.ts';
import type { TurnEvidence } from '../prompt/turn-evidence.ts';
import { isUnitedList } from '../budget/unite-lists.ts';

/** What the application of operations works with. */
export interface Application {
  draft: LedgerDraft;
  evidence: TurnEvidence;
  /** What earlier runs noted of what was read or done. */
  noted: () => Noted;
  /** The day of a turn. */
  at: (seq: number) => string | undefined;
  /** A second answer may name the items of the first. */
  isCorrecting: boolean;
}

export type RejectionReason =
  | 'UNKNOWN_SECTION'
  | 'UNKNOWN_ID'
  /** It cites no turn that was folded. */
  | 'NO_SOURCE'
  /** It names a list that code makes. */
  | 'LIST_OF_CODE'
  /** It makes a goal or a step of what a tool says, or of what is known from earlier. */
  | 'WORDS_OF_TOOL'
  | ConstraintRefusal;

/** Why an operation was not carried out; undefined: it was. */
export type Refusal = RejectionReason | undefined;

/** Why an item may not be ended by what an operation cites: constraints take later words of the user. */
export function endRefusal({ evidence }: Application, item: ArchivedItem, cited: Cited): Refusal {
  if (isUnitedList(item)) return 'LIST_OF_CODE';
  if (item.section !== constraintSection) return undefined;
  const withdrawn = withdrawnByUser(cited, evidence, lastSource(item));
  return withdrawn.ok ? undefined : withdrawn.reason;
}

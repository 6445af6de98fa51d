import type { Snapshot } from '#shared/conversation/documents/snapshot.ts';
import { once } from '#shared/once.ts';
import type { Application, Refusal, RejectionReason } from './application.ts';
import { applyAdd } from './apply-add.ts';
import { applyRemove, applyUpdate } from './apply-change.ts';
import { createDraft, snapshotOfDraft } from '../ledger-draft.ts';
import type { Operation } from '../prompt/operation.ts';
import { notedIn } from '../items/others-words.ts';
import { toEvidence, type TurnSaid } from '../prompt/turn-evidence.ts';

/** What operations are checked against. */
export interface LedgerEvidence {
  /** What is said in the folded turns, by number, in order. */
  turns: ReadonlyMap<number, readonly TurnSaid[]>;
  /** What tools said in earlier turns that a message of these brought back. */
  recalled?: readonly string[];
  /** The day of a turn, `2026-11-21`. */
  at: (seq: number) => string | undefined;
  /** Operations of a second answer, which was shown items of the first. */
  corrections?: readonly Operation[];
}

interface RejectedOperation {
  operation: Operation;
  reason: RejectionReason;
}

export interface AppliedOperations {
  snapshot: Snapshot;
  /** How many were carried out, those that said nothing new included. */
  applied: number;
  rejected: RejectedOperation[];
}

function applyOne(application: Application, operation: Operation): Refusal {
  switch (operation.op) {
    case 'add':
      return applyAdd(application, operation);
    case 'update':
      return applyUpdate(application, operation);
    case 'remove':
      return applyRemove(application, operation);
  }
}

/**
 * A snapshot after the operations of a model, in their order, each checked by code: an item that none of
 * them names stays as it is; a statement must cite a folded turn (or one that the item cites already); a
 * quote that no cited turn holds is dropped; constraints are made, changed and ended only by words that
 * the user said, later ones for what is there already. Equal statements of a section become one. What is
 * replaced or loses its words goes to the archive, what is removed is gone; an id is never used again. Linear.
 */
export function applyOperations(
  snapshot: Snapshot,
  operations: readonly Operation[],
  { turns, recalled, at, corrections = [] }: LedgerEvidence,
): AppliedOperations {
  const draft = createDraft(snapshot);
  const noted = once(() => notedIn(snapshot));
  const application = { draft, evidence: toEvidence(turns, recalled), noted, at };
  const rejected: RejectedOperation[] = [];
  const applyAll = (all: readonly Operation[], isCorrecting: boolean): void => {
    for (const operation of all) {
      const reason = applyOne({ ...application, isCorrecting }, operation);
      if (reason !== undefined) rejected.push({ operation, reason });
    }
  };
  applyAll(operations, false);
  applyAll(corrections, true);
  return {
    snapshot: snapshotOfDraft(draft),
    applied: operations.length + corrections.length - rejected.length,
    rejected,
  };
}

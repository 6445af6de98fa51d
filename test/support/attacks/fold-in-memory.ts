import {
  applyOperations,
  type AppliedOperations,
} from '#shared/compaction/ledger/operations/apply-operations.ts';
import { readLedgerAnswer } from '#shared/compaction/ledger/prompt/ledger-answer.ts';
import {
  readFoldedTurns,
  type LedgerReading,
} from '#shared/compaction/ledger/prompt/ledger-reading.ts';
import { mergeOperations } from '#shared/compaction/ledger/operations/merge-operations.ts';
import { renderLedger } from '#shared/compaction/ledger/render-snapshot.ts';
import { verifyLedger } from '#shared/compaction/ledger/verify/verify-ledger.ts';
import { frameSnapshot } from '#shared/compaction/snapshot-sections.ts';
import { emptySnapshot, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';

export interface Folding {
  turns: readonly Turn[];
  previous: Snapshot | undefined;
  /** What the summariser says, word for word. */
  answer: string;
  budgetTokens?: number;
}

export type Folded =
  | { kind: 'refused'; reason: string }
  /** `rendered`: as it would stand in the prompt. */
  | { kind: 'taken'; snapshot: Snapshot; rendered: string };

export const boundary = 'edge-7f3a';
const counting = { rule: 'character-class' } as const;
const roomOf = ({ budgetTokens = 1_200 }: Folding) => ({ budgetTokens, counting });

const taken = (folding: Folding, snapshot: Snapshot): Folded => ({
  kind: 'taken',
  snapshot,
  rendered: frameSnapshot({ body: renderLedger(snapshot, roomOf(folding)), boundary }),
});

type Applied =
  | { ok: false; problem: string }
  | ({ ok: true; reading: LedgerReading } & Pick<AppliedOperations, 'snapshot' | 'rejected'>);

function apply({ turns, previous, answer }: Folding): Applied {
  const read = readLedgerAnswer(answer);
  if (!read.ok) return read;
  const reading = readFoldedTurns(turns);
  const known = previous ?? emptySnapshot('assistant');
  const operations = mergeOperations([read.operations]);
  return { ok: true, reading, ...applyOperations(known, operations, reading.evidence()) };
}

/** What an answer makes of a snapshot before it is checked: all that operations alone can achieve. */
export function applyInMemory(folding: Folding): Folded {
  const applied = apply(folding);
  return applied.ok
    ? taken(folding, applied.snapshot)
    : { kind: 'refused', reason: applied.problem };
}

/** All that the worker does with the `ledger` between the summariser’s answer and the swap, without a store. */
export function foldInMemory(folding: Folding): Folded {
  const applied = apply(folding);
  if (!applied.ok) return { kind: 'refused', reason: applied.problem };
  const { ok, problems, snapshot } = verifyLedger({
    ...applied,
    previous: folding.previous,
    keptTexts: [],
    ...roomOf(folding),
  });
  return ok ? taken(folding, snapshot) : { kind: 'refused', reason: problems.join(',') };
}

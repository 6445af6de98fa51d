import { readAnswer } from '#shared/compaction/operations.ts';
import { writeSnapshot } from '#shared/compaction/write-snapshot.ts';
import { emptySnapshot, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';

interface Folding {
  turns: readonly Turn[];
  previous: Snapshot | undefined;
  /** What the summariser says, word for word. */
  answer: string;
}

type Folded = { kind: 'refused'; reason: string } | { kind: 'taken'; snapshot: Snapshot };

const room = {
  characters: 3_600,
  roomTokens: 1_200,
  ceilingTokens: 1_200,
  constraintTokens: 420,
};

/** What the worker makes of the summariser’s answer with the `ledger`, without a store. */
export function foldInMemory({
  turns,
  previous = emptySnapshot('assistant'),
  answer,
}: Folding): Folded {
  const read = readAnswer(answer);
  if (!read.ok) return { kind: 'refused', reason: read.problem };
  const written = writeSnapshot({
    previous,
    answer: read,
    turns,
    recalled: [],
    otherTexts: [],
    room,
    counting: { rule: 'character-class' },
  });
  return written.ok
    ? { kind: 'taken', snapshot: written.snapshot }
    : { kind: 'refused', reason: written.problem };
}

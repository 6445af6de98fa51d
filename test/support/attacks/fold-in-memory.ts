import { readAnswer } from '#shared/compaction/operations.ts';
import { renderSnapshot } from '#shared/compaction/render.ts';
import { frameSnapshot } from '#shared/compaction/snapshot-text.ts';
import { writeSnapshot } from '#shared/compaction/write-snapshot.ts';
import { emptySnapshot, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';

interface Folding {
  turns: readonly Turn[];
  previous: Snapshot | undefined;
  /** What the summariser says, word for word. */
  answer: string;
  budgetTokens?: number;
}

type Folded =
  | { kind: 'refused'; reason: string }
  /** `rendered`: as it would stand in the prompt. */
  | { kind: 'taken'; snapshot: Snapshot; rendered: string };

export const boundary = 'edge-7f3a';
const counting = { rule: 'character-class' } as const;

/** All that the worker does with the `ledger` between the summariser’s answer and the swap, without a store. */
export function foldInMemory({
  turns,
  previous = emptySnapshot('assistant'),
  answer,
  budgetTokens = 1_200,
}: Folding): Folded {
  const read = readAnswer(answer);
  if (!read.ok) return { kind: 'refused', reason: read.problem };
  const written = writeSnapshot({
    previous,
    answer: read,
    turns,
    recalled: [],
    otherTexts: [],
    room: {
      characters: 3 * budgetTokens,
      roomTokens: budgetTokens,
      ceilingTokens: budgetTokens,
      constraintTokens: 0.35 * budgetTokens,
    },
    counting,
  });
  if (!written.ok) return { kind: 'refused', reason: written.problem };
  const body = renderSnapshot(written.snapshot, { budgetTokens, counting });
  return {
    kind: 'taken',
    snapshot: written.snapshot,
    rendered: frameSnapshot({ body, boundary }),
  };
}

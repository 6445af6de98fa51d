import { z } from 'zod';
import { readUtterances } from '#shared/conversation/utterances.ts';
import { snapshotConstants } from '#shared/compaction/snapshot-constants.ts';
import {
  statedIdentifiers,
  type StatedText,
} from '#shared/compaction/rewrite/stated-identifiers.ts';
import type { FoldPlan } from '#shared/compaction/split/plan.ts';
import type { History } from '#shared/conversation/documents/history.ts';

const statedSchema = z.array(z.object({ seq: z.number(), text: z.string() }));

/** Identifiers that the user stated in turns which earlier generations folded. */
export function statedBefore(history: History | undefined): StatedText[] {
  const stated = statedSchema.safeParse(history?.report['statedIdentifiers']);
  return stated.success ? stated.data : [];
}

/** What the user wrote in the turns that a plan folds. */
export const statedIn = ({ folded }: Pick<FoldPlan, 'folded'>): StatedText[] =>
  readUtterances(folded.map((turn) => ({ ...turn, contents: [] })));

/** As many of a list as a report has room for: from the last one back, without what is too long. */
export function withinReport<T>(list: readonly T[]): T[] {
  let room: number = snapshotConstants.identifierListCharacters.value;
  const kept: T[] = [];
  for (const entry of list.toReversed()) {
    const characters = JSON.stringify(entry).length + 1;
    if (characters > room) continue;
    room -= characters;
    kept.push(entry);
  }
  return kept.toReversed();
}

/** What the next generation has to keep checking: the newest, as far as the report has room. */
export function statedAfter(
  history: History | undefined,
  plan: Pick<FoldPlan, 'folded'>,
): StatedText[] {
  const { statedIdentifierCharacters, statedIdentifierLimit } = snapshotConstants;
  const own = statedIdentifiers(statedIn(plan))
    .filter(({ text }) => text.length <= statedIdentifierCharacters.value)
    .flatMap(({ seqs, text }) => seqs.slice(0, 1).map((seq) => ({ seq, text })));
  return withinReport([...statedBefore(history), ...own].slice(-statedIdentifierLimit.value));
}

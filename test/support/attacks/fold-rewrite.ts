import { indexFacts } from '#shared/compaction/facts/index/fact-index.ts';
import { readFoldedTurns } from '#shared/compaction/ledger/prompt/ledger-reading.ts';
import { neutraliseContent } from '#shared/compaction/neutralise-tags.ts';
import { statedIdentifiers } from '#shared/compaction/rewrite/stated-identifiers.ts';
import { verifySections } from '#shared/compaction/rewrite/verify-sections.ts';
import { readSnapshot } from '#shared/compaction/read-snapshot.ts';
import { snapshotOfSections } from '#shared/compaction/snapshot-sections.ts';
import { frameSnapshot, sectionsBody } from '#shared/compaction/snapshot-sections.ts';
import { stringsIn } from '#shared/conversation/repair/content-strings.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { boundary, type Folded, type Folding } from './fold-in-memory.ts';

/** What a summariser that rewrites reads of turns. */
export const contentsRead = ({ turns }: Pick<Folding, 'turns'>): Content[] =>
  turns.flatMap(({ user, contents }) => [user, ...contents]).map(neutraliseContent);

/** What the worker does with the `rewrite` between the last answer of the summariser and the swap, without a store. */
export function rewriteInMemory({ turns, answer, budgetTokens = 1_200 }: Folding): Folded {
  const read = readSnapshot(answer);
  if (!read.ok) return { kind: 'refused', reason: read.problem };
  const said = readFoldedTurns(turns).utterances.filter(({ speaker }) => speaker === 'user');
  const { ok, problems, repaired } = verifySections({
    sections: read.snapshot,
    stated: statedIdentifiers(said),
    sources: indexFacts(stringsIn(contentsRead({ turns }))),
    snapshotBudgetTokens: budgetTokens,
    counting: { rule: 'character-class' },
  });
  if (!ok) return { kind: 'refused', reason: problems.join(',') };
  const rendered = frameSnapshot({ body: sectionsBody(repaired), boundary });
  return { kind: 'taken', snapshot: snapshotOfSections(repaired), rendered };
}

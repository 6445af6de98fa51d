import { readSummary } from '#functions/worker/compaction/draft/gemini-cli.ts';
import { neutraliseContent } from '#shared/compaction/neutralise-tags.ts';
import {
  frameSnapshot,
  sectionsBody,
  snapshotOfSections,
} from '#shared/compaction/snapshot-sections.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { boundary, type Folded, type Folding } from './fold-in-memory.ts';

/** What the summariser of the strategy `gemini-cli` reads of turns. */
export const contentsRead = ({ turns }: Pick<Folding, 'turns'>): Content[] =>
  turns.flatMap(({ user, contents }) => [user, ...contents]).map(neutraliseContent);

/** What the worker does between the last answer of that summariser and the swap, without a store. */
export function foldAsGeminiCli({
  answer,
  budgetTokens = 1_200,
}: Pick<Folding, 'answer' | 'budgetTokens'>): Folded {
  const summary = readSummary(answer, { budgetTokens, counting: { rule: 'character-class' } });
  if (summary.kind === 'empty') return { kind: 'refused', reason: 'EMPTY' };
  if (summary.kind === 'refused') return summary;
  const { sections } = summary;
  const rendered = frameSnapshot({ body: sectionsBody(sections), boundary });
  return { kind: 'taken', snapshot: snapshotOfSections(sections), rendered };
}

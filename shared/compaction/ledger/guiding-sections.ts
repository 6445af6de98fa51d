import { snapshotSections } from '../../conversation/snapshot.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { findText, type LedgerDraft } from './ledger-draft.ts';
import type { Statement } from './statement.ts';
import type { TurnEvidence } from './turn-evidence.ts';
import { shareIn, topicsOf, wordsOf } from './word-overlap.ts';

/** Sections that tell the model what to do next. */
const guidingSections: ReadonlySet<string> = new Set(['overall_goal', 'task_state']);

interface Guidance {
  section: string;
  said: Pick<Statement, 'text' | 'sources'>;
  /** What the item said before. */
  earlierText?: string;
}

/** Where an earlier run put a statement that tells nobody what to do, word for word. */
const knownPlace = (draft: LedgerDraft, text: string): string | undefined =>
  snapshotSections[draft.base.profile].find(
    (section) => !guidingSections.has(section) && findText(draft, section, text) !== undefined,
  );

/**
 * Where a statement goes: a goal or a step in the words of a tool is knowledge, and what an earlier summary
 * knows is no goal by being said again in the same words; both are nothing to do. What user and model said
 * to each other in the cited turns stays where it was meant to go.
 */
export function sectionFor(
  { draft, evidence }: { draft: LedgerDraft; evidence: TurnEvidence },
  { section, said: { text, sources }, earlierText = '' }: Guidance,
): string {
  if (!guidingSections.has(section)) return section;
  const { toolWordFraction, talkWordFraction } = ledgerConstants;
  const words = topicsOf(wordsOf(text));
  const shareOf = (saidIn: (seq: number) => ReadonlySet<string>, known = ''): number =>
    shareIn(
      words,
      topicsOf(new Set([...wordsOf(known), ...sources.flatMap((seq) => [...saidIn(seq)])])),
    );
  if (shareOf(evidence.talkWords, earlierText) >= talkWordFraction.value) return section;
  const isOfTool = shareOf(evidence.allWords) >= toolWordFraction.value;
  return knownPlace(draft, text) ?? (isOfTool ? 'key_knowledge' : section);
}

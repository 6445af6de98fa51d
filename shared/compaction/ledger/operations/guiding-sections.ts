import { snapshotSections } from '#shared/conversation/documents/snapshot.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { findText, type LedgerDraft } from '../ledger-draft.ts';
import type { Statement } from '../items/statement.ts';
import type { TurnEvidence } from '../prompt/turn-evidence.ts';
import { topicWords, distinctWords } from '#shared/text/words.ts';

/** Sections that tell the model what to do next. */
const guidingSections: ReadonlySet<string> = new Set(['overall_goal', 'task_state']);

/** Whether the items of a section tell the model what to do next. */
export const isGuiding = (section: string): boolean => guidingSections.has(section);

export interface Guidance {
  section: string;
  said: Statement;
  /** What the item said before. */
  earlierText?: string;
}

/** Where an earlier run put a statement that tells nobody what to do, word for word. */
const knownPlace = (draft: LedgerDraft, text: string): string | undefined =>
  snapshotSections[draft.base.profile].find(
    (section) => !isGuiding(section) && findText(draft, section, text) !== undefined,
  );

type TopicsOfTurn = (seq: number) => ReadonlySet<string>;

/** Share of `words` that one of these turns has, or `known`; no words → 0. */
function shareSaid(
  words: ReadonlySet<string>,
  seqs: readonly number[],
  { topics, known }: { topics: TopicsOfTurn; known?: ReadonlySet<string> },
): number {
  const isSaid = (word: string) =>
    known?.has(word) === true || seqs.some((seq) => topics(seq).has(word));
  return words.size === 0 ? 0 : [...words].filter(isSaid).length / words.size;
}

/**
 * Whether a statement that user and model do not make in the cited turns is a tool's: of these, or of another
 * folded turn that a summariser did not name.
 */
function isOfTool(
  words: ReadonlySet<string>,
  sources: readonly number[],
  { allTopics, talkTopics, seqs }: TurnEvidence,
): boolean {
  const { toolWordFraction, talkWordFraction } = ledgerConstants;
  const isHeld = (those: readonly number[]): boolean =>
    shareSaid(words, those, { topics: allTopics }) >= toolWordFraction.value;
  const isTalk = (seq: number): boolean =>
    shareSaid(words, [seq], { topics: talkTopics }) >= talkWordFraction.value;
  return isHeld(sources) || seqs.some((seq) => isHeld([seq]) && !isTalk(seq));
}

/**
 * Where a statement goes: a goal or a step in the words of a tool is knowledge, and what an earlier summary
 * knows is no goal by being said again in the same words; both are nothing to do. What user and model said
 * to each other in the cited turns stays where it was meant to go. Linear in the folded turns.
 */
export function sectionFor(
  { draft, evidence }: { draft: LedgerDraft; evidence: TurnEvidence },
  { section, said: { text, sources }, earlierText = '' }: Guidance,
): string {
  if (!isGuiding(section)) return section;
  const words = topicWords(distinctWords(text));
  const talk = { topics: evidence.talkTopics, known: topicWords(distinctWords(earlierText)) };
  if (shareSaid(words, sources, talk) >= ledgerConstants.talkWordFraction.value) return section;
  const known = knownPlace(draft, text);
  return known ?? (isOfTool(words, sources, evidence) ? 'key_knowledge' : section);
}

/** Whether the user says himself, in the cited turns, most of what a statement says. */
export function isOfUser(
  { text, sources }: Pick<Statement, 'text' | 'sources'>,
  evidence: TurnEvidence,
): boolean {
  const topics = (seq: number): ReadonlySet<string> =>
    topicWords(distinctWords(evidence.unquoted(seq)));
  const words = topicWords(distinctWords(text));
  return shareSaid(words, sources, { topics }) >= ledgerConstants.talkWordFraction.value;
}

import {
  constraintSection,
  workingItems,
  type ArchivedItem,
  type Snapshot,
} from '../../conversation/snapshot.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { estimateTextTokens, type TokenCounting } from '../token-estimate.ts';
import { lastSource } from './sources.ts';

const finished = 0;
const openQuestions = 8;
/** Items that alone say what the user cannot be asked for again: only the goal outlasts them. */
const needed = 8.5;

/** Sections from the one that is cut first; a goal goes only where constraints fill the budget. */
const ranks: Readonly<Record<string, number>> = {
  recent_actions: 1,
  artifacts: 2,
  artifact_trail: 2,
  file_system_state: 2,
  narrative: 3,
  key_knowledge: 4,
  decisions: 5,
  user_profile: 6,
  task_state: 7,
  open_questions: openQuestions,
  overall_goal: 9,
};

const rankOf = ({ section, status }: ArchivedItem): number =>
  section === 'task_state' && (status === 'done' || status === 'tried')
    ? finished
    : (ranks[section] ?? finished);

/** Figures, signs of links and paths, and names as Latin, Greek and Cyrillic scripts write them. */
const checkable = /[\d@/_]+|(?<![\p{L}\p{M}])\p{Lu}/gu;
/** What an item costs beside its text; it keeps scraps from winning by being short. */
const ITEM_TOKENS = 4;

const countOf = (text: string): number => text.match(checkable)?.length ?? 0;

/** Facts for a token, less with age: a heuristic, blind for names in scripts without capitals. */
function worthOf(item: ArchivedItem, newestSeq: number, counting: TokenCounting): number {
  const density =
    (1 + countOf(item.text)) / (estimateTextTokens(item.text, counting) + ITEM_TOKENS);
  const age = Math.max(0, newestSeq - lastSource(item));
  return density / (1 + age / ledgerConstants.knowledgeHalfAgeTurns.value);
}

export interface EvictionOptions {
  newestSeq: number;
  counting: TokenCounting;
  /** The weight of the facts that depend on an item, by id. */
  soleHolders?: ReadonlyMap<string, number>;
}

/** Where an item stands: rank, importance and worth decide in this order; the lower goes first. */
function placeOf(item: ArchivedItem, { newestSeq, counting, soleHolders }: EvictionOptions) {
  const rank = rankOf(item);
  const weight = soleHolders?.get(item.id);
  if (weight !== undefined) {
    const worth = weight / (estimateTextTokens(item.text, counting) + ITEM_TOKENS);
    return { item, rank: Math.max(rank, needed), importance: 0, worth };
  }
  const worth =
    item.section === 'key_knowledge' ? worthOf(item, newestSeq, counting) : lastSource(item);
  return { item, rank, importance: item.importance, worth };
}

/**
 * The items of the working layer that may leave it, the first to go first: finished tasks, actions (the
 * oldest first), files, the narrative, knowledge (little for its tokens, or old), decisions, the user's
 * profile, tasks, open questions, what facts depend on (least weight a token first), the goal. Of a rank the
 * unimportant go first. Constraints are not there.
 */
export function evictionOrder(snapshot: Snapshot, options: EvictionOptions): ArchivedItem[] {
  return workingItems(snapshot)
    .filter(({ section }) => section !== constraintSection)
    .map((item) => placeOf(item, options))
    .toSorted((a, b) => a.rank - b.rank || a.importance - b.importance || a.worth - b.worth)
    .map(({ item }) => item);
}

import {
  constraintSection,
  workingItems,
  type ArchivedItem,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import type { TokenCounting } from '#shared/tokens/token-estimate.ts';
import type { ValuedFacts } from '../items/item-facts.ts';
import { itemTokens, uniqueShare, wordWeight } from './item-worth.ts';
import { lastSource } from '../items/statement.ts';
import { isUnitedList } from './unite-lists.ts';

const finished = 0;
const knowledge = 4;
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
  key_knowledge: knowledge,
  decisions: 5,
  user_profile: 6,
  task_state: 7,
  open_questions: openQuestions,
  overall_goal: 9,
};
/** What stands there is worth the facts that it says, like knowledge. */
const fileSections: ReadonlySet<string> = new Set([
  'artifacts',
  'artifact_trail',
  'file_system_state',
]);

const rankOf = ({ section, status }: ArchivedItem): number =>
  section === 'task_state' && (status === 'done' || status === 'tried')
    ? finished
    : (ranks[section] ?? finished);

/** What code lists is the densest there is; what it put into free room goes first. */
const importanceOf = (item: ArchivedItem): number =>
  isUnitedList(item) ? Math.max(2, item.importance) : item.importance;

interface EvictionOptions {
  newestSeq: number;
  counting: TokenCounting;
  /** What the items say, by id. */
  facts: ReadonlyMap<string, ValuedFacts>;
  /** The weight of the facts that depend on an item, by id. */
  soleHolders?: ReadonlyMap<string, number>;
}

/** An item with what decides when it goes. */
interface Place {
  item: ArchivedItem;
  rank: number;
  importance: number;
  /** Worth that other items do not change; the rest is the facts that it alone says. */
  worth: number;
  facts: ValuedFacts;
  /** Worth of a unit of weight: less for long and for old items. */
  share: number;
}

function knowledgePlace(item: ArchivedItem, options: EvictionOptions, facts: ValuedFacts): Place {
  const share = uniqueShare(item, options);
  const worth = share * wordWeight(item.text);
  return { item, rank: knowledge, importance: importanceOf(item), worth, facts, share };
}

/** Rank, importance and worth decide in this order; the lower goes first. */
function placeOf(item: ArchivedItem, options: EvictionOptions, facts: ValuedFacts): Place {
  const rank = rankOf(item);
  const weight = options.soleHolders?.get(item.id);
  const plain = { item, rank, importance: importanceOf(item), facts, share: 0 };
  if (weight !== undefined) {
    const worth = weight / itemTokens(item.text, options.counting);
    return { ...plain, rank: Math.max(rank, needed), importance: 0, worth };
  }
  const isWorthItsFacts = rank === knowledge || (fileSections.has(item.section) && facts.size > 0);
  return isWorthItsFacts
    ? knowledgePlace(item, options, facts)
    : { ...plain, worth: lastSource(item) };
}

/** How many of the items that have not gone say each fact. */
type Holders = Map<string, number>;

function holdersOf(places: readonly Place[]): Holders {
  const holders: Holders = new Map();
  for (const { facts } of places)
    for (const id of facts.keys()) holders.set(id, (holders.get(id) ?? 0) + 1);
  return holders;
}

function worthNow({ worth, facts, share }: Place, holders: Holders): number {
  if (share === 0) return worth;
  let alone = 0;
  for (const [id, weight] of facts) if (holders.get(id) === 1) alone += weight;
  return worth + share * alone;
}

/** The places of a group, one after the other the one that is worth least without those that went before. */
function* leastWorthFirst(group: readonly Place[], holders: Holders): Generator<Place> {
  const left = new Set(group);
  while (left.size > 0) {
    let least: { place: Place; worth: number } | undefined;
    for (const place of left) {
      const worth = worthNow(place, holders);
      if (least === undefined || worth < least.worth) least = { place, worth };
    }
    if (least === undefined) return;
    const { place } = least;
    left.delete(place);
    for (const id of place.facts.keys()) holders.set(id, (holders.get(id) ?? 0) - 1);
    yield place;
  }
}

/**
 * The items of the working layer that may leave it, the first to go first: finished tasks, actions (the
 * oldest first), files that say no fact, the narrative, knowledge and other files (those that say the least
 * which no other item says, for their tokens, or are old), decisions, the user's profile, tasks, open questions, what
 * facts depend on (least weight a token first), the goal. Of a rank the unimportant go first. Constraints
 * are not there. Work: the square of the items.
 */
export function evictionOrder(snapshot: Snapshot, options: EvictionOptions): ArchivedItem[] {
  const places = workingItems(snapshot)
    .filter(({ section }) => section !== constraintSection)
    .map((item) => placeOf(item, options, options.facts.get(item.id) ?? new Map()))
    .toSorted((a, b) => a.rank - b.rank || a.importance - b.importance);
  const holders = holdersOf(places);
  const groups = Map.groupBy(places, ({ rank, importance }) => `${rank} ${importance}`);
  return [...groups.values()]
    .flatMap((group) => [...leastWorthFirst(group, holders)])
    .map(({ item }) => item);
}

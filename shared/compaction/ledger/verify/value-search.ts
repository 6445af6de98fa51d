import {
  snapshotTexts,
  workingItems,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import { once } from '#shared/once.ts';
import { indexFacts, type FactIndex } from '#shared/compaction/facts/index/fact-index.ts';
import type { KnownText } from '#shared/compaction/facts/index/text-facts.ts';
import { isValueHeld, type CheckedValue } from '#shared/compaction/facts/index/unsupported.ts';
import { precisionConstants } from '#shared/compaction/policy/precision-constants.ts';
import type { CitedTurn, CitedTurns } from '../operations/cited-turns.ts';
import { isDerived } from './derived-values.ts';
import { knownTopics, type KnownTopics } from './inherited-sources.ts';
import { readVocabulary, type Vocabulary } from './vocabulary.ts';

/** Where the values of statements are looked for beside the turns that an item cites. */
export interface ValueSearch {
  /** The folded turns by seq. */
  turns: CitedTurns;
  /** What is known beside them: pins, tail, the items of the snapshot before. */
  known: () => FactIndex;
  /** Of the folded turns. */
  vocabulary: Vocabulary;
  /** The items of the snapshot before. */
  knownItems: () => readonly KnownTopics[];
}

function* textsOf(turns: CitedTurns): Generator<string> {
  for (const { allText } of turns.values()) yield allText();
}

export const valueSearch = (
  turns: CitedTurns,
  keptTexts: readonly KnownText[],
  previous: Snapshot | undefined,
): ValueSearch => ({
  turns,
  known: once(() =>
    indexFacts([...keptTexts, ...(previous === undefined ? [] : snapshotTexts(previous))]),
  ),
  knownItems: once(() => knownTopics(previous === undefined ? [] : workingItems(previous))),
  vocabulary: readVocabulary(textsOf(turns)),
});

const holds = (value: CheckedValue, index: FactIndex): boolean =>
  isValueHeld(value, index) || isDerived(value, index);

/** What a turn says, or what its user says where nobody else counts. */
const indexOf = (turn: CitedTurn, userOnly: boolean): FactIndex =>
  (userOnly ? turn.user : turn.all).index();

/** The folded turns from the nearest to the cited ones to the farthest; the newer of two equally near first. */
function nearestFirst(cited: readonly number[], { turns }: ValueSearch): CitedTurn[] {
  const distanceTo = (seq: number): number =>
    Math.min(...cited.map((other) => Math.abs(seq - other)), Number.MAX_SAFE_INTEGER);
  return [...turns.values()]
    .map((turn) => ({ turn, distance: distanceTo(turn.seq) }))
    .filter(({ distance }) => distance > 0)
    .toSorted((a, b) => a.distance - b.distance || b.turn.seq - a.turn.seq)
    .map(({ turn }) => turn);
}

type Whereabouts =
  | { kind: 'cited' }
  /** Another turn says it: the item should cite that one too. */
  | { kind: 'turn'; seq: number }
  /** Something beside the folded turns says it, or all cited turns and their neighbours together. */
  | { kind: 'known' }
  | { kind: 'nowhere' };

/** What decides where a value may be said. */
export interface Citation {
  sources: readonly number[];
  /** Only words of the user count. */
  userOnly: boolean;
  /** What the item said before, or what it took the place of. */
  earlier: () => FactIndex;
}

/**
 * Where a value is said: in the cited turns, else in the nearest turn that says it, else in what is known beside
 * them. Days count from the cited turns and their neighbours, as models cite the turn beside the right one.
 */
export function findValue(
  value: CheckedValue,
  citation: Citation,
  search: ValueSearch,
): Whereabouts {
  const { sources, userOnly, earlier } = citation;
  const cited = sources.flatMap((seq) => search.turns.get(seq) ?? []);
  if (cited.some((turn) => holds(value, indexOf(turn, userOnly)))) return { kind: 'cited' };
  if (holds(value, earlier())) return { kind: 'known' };
  const further = nearestFirst(sources, search).find((turn) =>
    isValueHeld(value, indexOf(turn, userOnly)),
  );
  if (further !== undefined) return { kind: 'turn', seq: further.seq };
  if (userOnly) return { kind: 'nowhere' };
  if (holds(value, search.known()) || isSaidTogether(value, cited, search))
    return { kind: 'known' };
  return { kind: 'nowhere' };
}

/** A range, a link or a day may be put together from what several neighbouring turns say. */
function isSaidTogether(
  value: CheckedValue,
  cited: readonly CitedTurn[],
  { turns }: ValueSearch,
): boolean {
  const reach = precisionConstants.neighbourTurns.value;
  const near = new Map<number, CitedTurn>();
  for (const { seq } of cited)
    for (let other = seq - reach; other <= seq + reach; other++) {
      const turn = turns.get(other);
      if (turn !== undefined) near.set(other, turn);
    }
  const all = [...near.values()];
  const index = indexFacts(
    all.map(({ allText }) => allText()),
    all.map(({ saidAt }) => saidAt),
  );
  return holds(value, index);
}

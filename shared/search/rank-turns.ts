import { dayWeights } from '../recall/days-asked.ts';
import { lookUp, visiblePassages, type Candidate, type Visible } from '../recall/look-up.ts';
import {
  passagesOfTurns,
  segmentOfPassages,
  type Passage,
  type PassageRole,
} from '../recall/segment.ts';
import { createFinder } from './find-in-text.ts';
import { PAIRS_ALONE, readSearchQuery } from './search-query.ts';
import { cutExcerpt } from './snippet.ts';
import type { TurnTexts } from './turn-texts.ts';

/**
 * UTF-16 units that a hit shows, and of them where the best of it stands if there is more to show: ten hits stay
 * below 6,000 with what is said about them.
 */
const HIT_CHARACTERS = 450;
const BEST_CHARACTERS = 320;
/** Passages that are looked at for a hit: a long answer may have many that fit. */
const PASSAGES_PER_HIT = 8;

export interface TurnHit {
  seq: number;
  /** Whose words fit best; `tool`: what a tool was asked or answered. */
  role: PassageRole;
  time: Date;
  snippet: string;
  /** What the other side said in the same turn, as far as there is room. */
  beside?: { role: 'user' | 'model'; snippet: string };
}

/** The best candidate of each turn, in their order. */
function bestByTurn(candidates: readonly Candidate[]): Passage[] {
  const best = new Map<number, Passage>();
  for (const { passage } of candidates) if (!best.has(passage.seq)) best.set(passage.seq, passage);
  return [...best.values()];
}

/** The texts of the turns, by role, as far as they stand in the segments. */
function textsOfTurns(segments: readonly Visible[], seqs: ReadonlySet<number>) {
  const texts = new Map<number, Partial<Record<PassageRole, string>>>();
  for (const visible of segments)
    for (const { seq, role, text } of visible.segment.passages.slice(0, visiblePassages(visible))) {
      if (!seqs.has(seq)) continue;
      const turn = texts.get(seq) ?? {};
      turn[role] = (turn[role] ?? '') + text;
      texts.set(seq, turn);
    }
  return texts;
}

/**
 * Looks through turns one by one, and through parts of the index, for what a query asks for; ranks them at the end. Days
 * in the query ("last week") are those as seen from `now`.
 */
export function turnSearch(q: string, now?: Date) {
  const query = readSearchQuery(q, PAIRS_ALONE);
  const find = createFinder(query);
  const onDay = dayWeights(q, now);
  const looked: TurnTexts[] = [];
  const excerpt = (text: string, characters: number) =>
    cutExcerpt(text, find(text).places, characters);

  function hitOf(
    { seq, role, at: time }: Passage,
    texts: Partial<Record<PassageRole, string>>,
  ): TurnHit {
    const others = role === 'user' ? (['model'] as const) : (['user', 'model'] as const);
    const other = others.find((each) => each !== role && texts[each] !== undefined);
    const snippet = excerpt(texts[role] ?? '', other ? BEST_CHARACTERS : HIT_CHARACTERS);
    const hit = { seq, role, time, snippet };
    if (other === undefined) return hit;
    const room = HIT_CHARACTERS - snippet.length;
    return { ...hit, beside: { role: other, snippet: excerpt(texts[other] ?? '', room) } };
  }

  return {
    /** Turns follow one another, in either direction. */
    lookInto(texts: TurnTexts): void {
      looked.push(texts);
    },

    /** The best turns first, of equal ones the newest; at most `limit`. Turns of `indexed` were not looked into. */
    hits(limit: number, indexed: readonly Visible[] = [], hidden?: ReadonlySet<number>): TurnHit[] {
      const inOrder = looked.toSorted((a, b) => a.seq - b.seq);
      const own = segmentOfPassages(passagesOfTurns(inOrder, { areWhole: true }));
      const segments = [{ segment: own, throughSeq: Infinity }, ...indexed];
      const { candidates } = lookUp({
        segments,
        query,
        ...(hidden && { hidden }),
        ...(onDay && { boost: ({ at }) => onDay(at) }),
        limit: limit * PASSAGES_PER_HIT,
      });
      const best = bestByTurn(candidates).slice(0, limit);
      const texts = textsOfTurns(segments, new Set(best.map(({ seq }) => seq)));
      return best.map((passage) => hitOf(passage, texts.get(passage.seq) ?? {}));
    },
  };
}

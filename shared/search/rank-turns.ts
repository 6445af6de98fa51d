import { lookUp, visiblePassages, type Candidate, type Visible } from '../recall/look-up.ts';
import {
  passagesOfTurns,
  segmentOfPassages,
  type Passage,
  type PassageRole,
  type Segment,
} from '../recall/segment.ts';
import { dayWeights } from '../recall/days-asked.ts';
import { createFinder, PAIRS_ALONE, readSearchQuery, cutExcerpt } from './find-in-text.ts';
import type { TurnTexts } from './turn-texts.ts';

/**
 * UTF-16 units that a hit shows, and of them where the best of it stands if there is more to show: ten hits stay
 * below 6,000 with what is said about them.
 */
const HIT_CHARACTERS = 450;
const BEST_CHARACTERS = 320;
/** UTF-16 units of turns that are made findable together. */
const SEGMENT_CHARACTERS = 50_000;
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

const charactersOf = ({ messages, tools }: TurnTexts) =>
  messages.reduce((sum, { text }) => sum + text.length, tools.length);

const newestSeq = ({ passages }: Segment) => passages.at(-1)?.seq ?? 0;

/** Makes turns findable, some of them at a time. */
function segmentsOfTurns() {
  const segments: Segment[] = [];
  let turns: TurnTexts[] = [];
  let characters = 0;
  const addSegment = () => {
    const inOrder = turns.toSorted((a, b) => a.seq - b.seq);
    turns = [];
    characters = 0;
    segments.push(segmentOfPassages(passagesOfTurns(inOrder, { areWhole: true })));
  };
  return {
    add(texts: TurnTexts): void {
      turns.push(texts);
      characters += charactersOf(texts);
      if (characters >= SEGMENT_CHARACTERS) addSegment();
    },
    newestFirst(): Segment[] {
      addSegment();
      return segments.toSorted((a, b) => newestSeq(b) - newestSeq(a));
    },
  };
}

/** How a passage that fits best of its turn is shown. */
function hitOf(
  { seq, role, at: time }: Passage,
  texts: Partial<Record<PassageRole, string>>,
  findIn: ReturnType<typeof createFinder>,
): TurnHit {
  const excerpt = (text: string, characters: number) =>
    cutExcerpt(text, findIn(text).places, characters);
  const others = role === 'user' ? (['model'] as const) : (['user', 'model'] as const);
  const other = others.find((each) => each !== role && texts[each] !== undefined);
  const snippet = excerpt(texts[role] ?? '', other ? BEST_CHARACTERS : HIT_CHARACTERS);
  const hit = { seq, role, time, snippet };
  if (other === undefined) return hit;
  const room = HIT_CHARACTERS - snippet.length;
  return { ...hit, beside: { role: other, snippet: excerpt(texts[other] ?? '', room) } };
}

/** Looks through turns one by one, and through parts of the index, for what a query asks for; ranks them at the end. */
export function turnSearch(q: string) {
  const query = readSearchQuery(q, PAIRS_ALONE);
  const findIn = createFinder(query);
  const onDay = dayWeights(q);
  const turnsLookedInto = segmentsOfTurns();

  function find(limit: number, indexed: readonly Visible[], hidden?: ReadonlySet<number>) {
    const segments = [
      ...turnsLookedInto.newestFirst().map((segment) => ({ segment, throughSeq: Infinity })),
      ...indexed,
    ];
    const { candidates } = lookUp({
      segments,
      query,
      ...(hidden && { hidden }),
      ...(onDay && { boost: ({ at }) => onDay(at) }),
      limit,
    });
    return { segments, candidates };
  }

  return {
    /** Turns follow one another, in either direction. */
    lookInto: (texts: TurnTexts): void => turnsLookedInto.add(texts),

    /** The best passages first, of equal ones the newest; else as `hits`. */
    passages: (...asked: Parameters<typeof find>): readonly Candidate[] =>
      find(...asked).candidates,

    /** The best turns first, of equal ones the newest; at most `limit`. Turns of `indexed` were not looked into. */
    hits(limit: number, indexed: readonly Visible[] = [], hidden?: ReadonlySet<number>): TurnHit[] {
      const { segments, candidates } = find(limit * PASSAGES_PER_HIT, indexed, hidden);
      const best = bestByTurn(candidates).slice(0, limit);
      const texts = textsOfTurns(segments, new Set(best.map(({ seq }) => seq)));
      return best.map((passage) => hitOf(passage, texts.get(passage.seq) ?? {}, findIn));
    },
  };
}

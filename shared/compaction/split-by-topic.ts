import { contentText } from '#shared/models/content.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { type SizedTurn, tailStart, validStart, type TailLimits } from './split-by-tail.ts';

/** What a turn more or less than the target costs, against the whole of a change of topic. */
const DISTANCE_WEIGHT = 0.5;
/** The smallest tail that a change of topic may leave, as a share of the target. */
const SHORTEST_TAIL_FRACTION = 0.5;
/** How much longer the tail gets for each sign that something is not finished. */
const UNFINISHED_FRACTION = 0.25;
/** Turns before the first place in question that show which words are common and which valleys deep. */
const BACKGROUND_TURNS = 50;
/** Newest turns in which such signs are looked for. */
const RECENT_TURNS = 3;

/** Whether a tool said that it failed. */
const hasToolError = ({ contents }: Turn) =>
  contents.some(({ parts }) =>
    parts.some(({ functionResponse }) => {
      const response = functionResponse?.response;
      return response !== undefined && 'error' in response;
    }),
  );

/** Whether the answer ends with a question to the user. */
const asksUser = ({ contents }: Turn) => {
  const last = contents.at(-1);
  return last?.role === 'model' && /[?？]\s*$/u.test(contentText(last));
};

/** The target, longer while tools fail or questions are open. */
function neededTokens(turns: readonly Turn[], limits: TailLimits): number {
  const recent = turns.slice(-RECENT_TURNS);
  const signs = [recent.some(hasToolError), recent.some(asksUser)].filter(Boolean).length;
  return Math.min(limits.capTokens, (1 + UNFINISHED_FRACTION * signs) * limits.targetTokens);
}

const textOf = ({ user, contents }: Turn) => [user, ...contents].map(contentText).join('\n');

/** Changes of topic at the turns, by index, that a tail within the cap may begin with. */
function recentChanges(
  turns: readonly Turn[],
  sizes: readonly SizedTurn[],
  capTokens: number,
): ReadonlyMap<number, number> {
  let tokens = 0;
  let first = sizes.length;
  while (first > 0 && tokens <= capTokens) tokens += sizes.at((first -= 1))?.tokens ?? 0;
  const background = Math.max(0, first - BACKGROUND_TURNS);
  const recent = turns.slice(background);
  const changes = topicChanges(recent.map((turn) => ({ text: textOf(turn), at: turn.createTime })));
  return new Map(changes.map((change, index) => [background + index, change]));
}

/**
 * As `tailStart`, but begins the tail where a new topic begins, if that is not far from the target: between
 * half of it and the cap. `turns` and `sizes` are of the same turns.
 */
export function adaptiveStart(
  turns: readonly Turn[],
  sizes: readonly SizedTurn[],
  limits: TailLimits,
): number {
  const targetTokens = neededTokens(turns, limits);
  const usual = tailStart(sizes, { ...limits, targetTokens });
  const changes = recentChanges(turns, sizes, limits.capTokens);
  let best = { start: usual, score: -Infinity };
  let tokens = 0;
  for (let start = sizes.length - 1; start > 0; start--) {
    tokens += sizes.at(start)?.tokens ?? 0;
    if (tokens > limits.capTokens) break;
    const isFar = tokens < SHORTEST_TAIL_FRACTION * targetTokens;
    if (isFar || validStart(sizes, start) !== start) continue;
    const distance = Math.abs(tokens - targetTokens) / targetTokens;
    const score = (changes.get(start) ?? 0) - DISTANCE_WEIGHT * distance;
    if (score > best.score) best = { start, score };
  }
  return best.start;
}

/** A turn as far as its topic is concerned. */
interface TopicTurn {
  /** What user and model wrote, without tool output. */
  text: string;
  at: Date;
}

/** Turns on each side of a place that are compared. */
const TOPIC_TURNS = 3;
/** Characters of a turn that are looked at: its beginning names the subject. */
const TOPIC_CHARACTERS = 2_000;
/** Depth (of 2) of a valley that counts in full, where none is deeper: ripples are no change of topic. */
const DEEP = 0.3;
/** A pause this many times as long as the usual one counts as a change of topic by itself. */
const PAUSE_FACTOR = 10;
/** And not a shorter one than this. */
const PAUSE_MINIMUM_MS = 30 * 60_000;

const wordPattern = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+|[\p{L}\p{N}_]+/gu;
const unspacedPattern = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Words up to this length are mostly grammar; of scripts whose words are shorter, single letters. */
const SHORT_WORD_CHARACTERS = 3;
const latinPattern = /^[\p{Script=Latin}\p{N}_]+$/u;

const isTelling = (word: string) =>
  word.length > (latinPattern.test(word) ? SHORT_WORD_CHARACTERS : 1);

/** Words of a text; of scripts without blanks every two neighbouring characters. */
function termsOf(text: string): string[] {
  const words = text.slice(0, TOPIC_CHARACTERS).normalize('NFKC').toLowerCase().match(wordPattern);
  return (words ?? []).flatMap((word) => {
    if (!unspacedPattern.test(word)) return isTelling(word) ? [word] : [];
    const characters = Array.from(word);
    return characters.slice(1).map((character, index) => `${characters[index] ?? ''}${character}`);
  });
}

/** In how many of the turns each term stands. */
function turnCounts(terms: readonly ReadonlySet<string>[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const set of terms) for (const term of set) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

type Weights = ReadonlyMap<string, number>;

/** Weights of terms, and the length of the vector that they are. */
interface Weighed {
  weights: Weights;
  length: number;
}

/** Terms of some turns, weighted: what stands in few turns of the conversation says more. */
function weigh(terms: readonly ReadonlySet<string>[], inverse: Weights): Weighed {
  const weights = new Map<string, number>();
  for (const set of terms)
    for (const term of set) weights.set(term, (weights.get(term) ?? 0) + (inverse.get(term) ?? 0));
  return { weights, length: lengthOf(weights) };
}

function lengthOf(weights: Weights): number {
  let sum = 0;
  for (const weight of weights.values()) sum += weight * weight;
  return Math.sqrt(sum);
}

function similarity(left: Weighed, right: Weighed): number {
  const product = left.length * right.length;
  if (product === 0) return 0;
  let sum = 0;
  for (const [term, weight] of left.weights) sum += weight * (right.weights.get(term) ?? 0);
  return sum / product;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** How similar the turns before each turn are to those from it on; 1 for the first. */
function cohesions(turns: readonly TopicTurn[]): number[] {
  const terms = turns.map(({ text }) => new Set(termsOf(text)));
  const counts = turnCounts(terms);
  const inverse = new Map<string, number>();
  for (const [term, count] of counts) inverse.set(term, Math.log((1 + turns.length) / count));
  // What stands behind one place stands before a later one.
  const behind = terms.map((_, index) => weigh(terms.slice(index, index + TOPIC_TURNS), inverse));
  return behind.map((following, index) => {
    if (index === 0) return 1;
    const before = behind[index - TOPIC_TURNS] ?? weigh(terms.slice(0, index), inverse);
    return similarity(before, following);
  });
}

/** How deep the valley of cohesion is at `index`: down from the height on both sides. */
function depthAt(values: readonly number[], index: number): number {
  const own = values[index] ?? 0;
  // The slope of a valley is not its bottom.
  if (own > (values[index - 1] ?? 1) || own > (values[index + 1] ?? 1)) return 0;
  const peak = (step: 1 | -1) => {
    let height = own;
    for (let at = index + step; at > 0 && at < values.length; at += step) {
      const value = values[at] ?? 0;
      if (value < height) break;
      height = value;
    }
    return height;
  };
  return peak(-1) + peak(1) - 2 * own;
}

/**
 * For each turn how likely a new topic begins with it, from 0 to 1: by the words that go on or do not
 * (valleys of lexical cohesion, as TextTiling finds them), and by pauses. 0 for the first. A heuristic: a
 * topic that is taken up in other words looks like a change, a change between like subjects is missed.
 */
export function topicChanges(turns: readonly TopicTurn[]): number[] {
  const values = cohesions(turns);
  const depths = values.map((_, index) => (index === 0 ? 0 : depthAt(values, index)));
  const deepest = Math.max(...depths, DEEP);
  const pauses = turns.map(({ at }, index) =>
    index === 0 ? 0 : at.getTime() - (turns[index - 1]?.at.getTime() ?? 0),
  );
  const longPause = Math.max(PAUSE_MINIMUM_MS, PAUSE_FACTOR * median(pauses));
  return turns.map((_, index) => {
    if (index === 0) return 0;
    return (pauses[index] ?? 0) >= longPause ? 1 : (depths[index] ?? 0) / deepest;
  });
}

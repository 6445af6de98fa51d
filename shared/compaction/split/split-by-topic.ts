import { contentText } from '#shared/conversation/documents/content.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { SizedTurns } from './split-sizes.ts';
import { tailStart, validStart, type TailLimits } from './split-by-tail.ts';
import { topicChanges } from './topic-change.ts';

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
  sizes: SizedTurns,
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
  sizes: SizedTurns,
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

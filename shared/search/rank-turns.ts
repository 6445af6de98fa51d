import { finderOf, type CountedText } from './find-in-text.ts';
import { scoresApart, scoresOf } from './rank-texts.ts';
import { passagesOf } from './passages.ts';
import { PAIRS_ALONE, readSearchQuery } from './search-query.ts';
import { excerptOf } from './snippet.ts';
import type { MessageText, TurnTexts } from './turn-texts.ts';

/** What tools were asked and answered comes second to what people said. */
const TOOLS_WEIGHT = 0.5;

/**
 * UTF-16 units that a hit shows, and of them where the best of it stands if there is more to show: ten hits stay
 * below 6,000 with what is said about them.
 */
const HIT_CHARACTERS = 450;
const BEST_CHARACTERS = 320;

export interface TurnHit {
  seq: number;
  /** Whose words fit best; `tool`: what a tool was asked or answered. */
  role: 'user' | 'model' | 'tool';
  time: Date;
  snippet: string;
  /** What the other side said in the same turn, as far as there is room. */
  beside?: { role: 'user' | 'model'; snippet: string };
}

interface LookedTurn {
  texts: TurnTexts;
  /** By message, its passages in order. */
  messages: readonly (readonly CountedText[])[];
  tools: CountedText | undefined;
}

/** How many things of the query a text has, then how often. */
const fitOf = ({ counts }: CountedText): number =>
  counts.filter((count) => count > 0).length +
  Math.min(0.9, counts.reduce((sum, n) => sum + n, 0) / 100);

function bestMessage({ texts, messages }: LookedTurn): MessageText | undefined {
  const fits = messages.map((passages) => Math.max(...passages.map(fitOf)));
  const best = fits.indexOf(Math.max(...fits));
  return texts.messages[best];
}

/** A turn is worth what its best passage is. */
function scoresOfTurns(looked: readonly LookedTurn[]): number[] {
  const isNewestFirst = (looked[0]?.texts.seq ?? 0) > (looked.at(-1)?.texts.seq ?? 0);
  const inOrder = looked.map(({ messages }) => {
    const passages = messages.flat();
    return isNewestFirst ? passages.toReversed() : passages;
  });
  const scores = scoresOf(inOrder.flat());
  let next = 0;
  return inOrder.map(({ length }) => Math.max(0, ...scores.subarray(next, (next += length))));
}

/** Looks through turns one by one for what a query asks for, and ranks them at the end. */
export function turnSearch(q: string) {
  const find = finderOf(readSearchQuery(q, PAIRS_ALONE));
  const looked: LookedTurn[] = [];

  const counted = (text: string): CountedText => {
    const { counts, length } = find(text);
    return { counts, length };
  };
  const excerpt = (text: string, characters: number) =>
    excerptOf(text, find(text).places, characters);

  function hitOf(turn: LookedTurn, isOfTools: boolean): TurnHit[] {
    const { seq, messages, tools } = turn.texts;
    const best = isOfTools ? messages[0] : bestMessage(turn);
    if (best === undefined) return [];
    const shown = isOfTools ? { role: 'tool' as const, time: best.time, text: tools } : best;
    const other = isOfTools ? best : messages.find(({ role }) => role !== best.role);
    const snippet = excerpt(shown.text, other ? BEST_CHARACTERS : HIT_CHARACTERS);
    const hit = { seq, role: shown.role, time: shown.time, snippet };
    if (other === undefined) return [hit];
    const room = HIT_CHARACTERS - snippet.length;
    return [{ ...hit, beside: { role: other.role, snippet: excerpt(other.text, room) } }];
  }

  return {
    /** Turns follow one another, in either direction. */
    lookInto(texts: TurnTexts): void {
      looked.push({
        texts,
        messages: texts.messages.map(({ text }) => passagesOf(text).map(counted)),
        tools: texts.tools === '' ? undefined : counted(texts.tools),
      });
    },

    /** The best turns first, of equal ones the newest; at most `limit`. */
    hits(limit: number): TurnHit[] {
      const said = scoresOfTurns(looked);
      const withTools = looked.filter(({ tools }) => tools !== undefined);
      const toolScores = scoresApart(withTools.flatMap(({ tools }) => tools ?? []));
      const ofTools = new Map(withTools.map((turn, i) => [turn, toolScores[i] ?? 0] as const));
      return looked
        .map((turn, i) => {
          const own = said[i] ?? 0;
          const second = TOOLS_WEIGHT * (ofTools.get(turn) ?? 0);
          return { turn, score: Math.max(own, second), isOfTools: second > own };
        })
        .filter(({ score }) => score > 0)
        .toSorted((a, b) => b.score - a.score || b.turn.texts.seq - a.turn.texts.seq)
        .slice(0, limit)
        .flatMap(({ turn, isOfTools }) => hitOf(turn, isOfTools));
    },
  };
}

import { turnContents } from '#shared/conversation/context/assemble-context.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { nothingCovered } from '#shared/conversation/writes/next-generation.ts';
import type { RepairedContents } from '#shared/conversation/repair/repair-contents.ts';
import type { Repairs } from '#shared/conversation/repair/repairs.ts';
import { withoutSurroundings } from '#shared/conversation/context/shown-user.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { neutraliseContent } from '#shared/compaction/neutralise-tags.ts';
import { sentPart, slicedTurn } from './shown-turns.ts';
import { toBlocks } from '../split/split-sizes.ts';
import {
  contentWeight,
  estimateContentTokens,
  tokensOfWeight,
  type TokenCounting,
} from '#shared/tokens/token-estimate.ts';

/** One turn that is to be folded, with the answer contents that go. */
export interface WantedTurn {
  turn: Turn;
  from: number;
  end: number;
}

interface Weighing {
  counting: TokenCounting;
  /** Tokens of what stands around a content where it is read, before calibration. */
  marginOf: (content: Content) => number;
}

/** What a summariser reads of a turn, weighed once, whatever is asked about it afterwards. */
export interface ReadTurn extends WantedTurn {
  slice: Turn;
  /** Of its contents together, before rounding. */
  weight: number;
  /** Tokens of what stands around them. */
  margin: number;
  repairs: Repairs | undefined;
}

/** The turn with the answer contents between `from` and `end`; the same object where those are all. */
export const sliceTurn = (turn: Turn, { from, end }: { from: number; end: number }): Turn =>
  from === 0 && end === turn.contents.length ? turn : slicedTurn(turn, { from, end });

const unmasked = { coveredThrough: nothingCovered, masks: new Map<number, never>() };

const sentContents = (slice: Turn): RepairedContents =>
  turnContents(withoutSurroundings(slice), unmasked);

/** What is read of a turn, as it is read: made again each time, for it is seldom asked for. */
export const contentsRead = ({ slice }: ReadTurn): Content[] =>
  sentContents(slice).contents.map(neutraliseContent);

/** Reads a turn as it was said, mended where no model would take it as it was stored. */
export function readTurn(wanted: WantedTurn, { counting, marginOf }: Weighing): ReadTurn {
  const { turn, from, end } = wanted;
  const slice = sliceTurn(turn, wanted);
  const { contents, repairs } = sentContents(slice);
  let weight = 0;
  let margin = 0;
  for (const content of contents) {
    const read = neutraliseContent(content);
    weight += contentWeight(read, counting);
    margin += marginOf(read);
  }
  return {
    turn,
    from,
    end,
    slice,
    weight,
    margin,
    repairs: contents.length === 0 ? undefined : repairs,
  };
}

/** Tokens of all that is read, `before` first; before calibration. */
export function tokensToRead(
  before: readonly Content[],
  reads: readonly ReadTurn[],
  { counting, marginOf }: Weighing,
): number {
  let weight = 0;
  let margin = 0;
  for (const content of before) {
    weight += contentWeight(content, counting);
    margin += marginOf(content);
  }
  for (const read of reads) {
    weight += read.weight;
    margin += read.margin;
  }
  return tokensOfWeight(weight, counting.rule) + margin;
}

/** A turn as it is cut into chunks. */
export const turnToRead = ({ weight, margin, end }: ReadTurn, { counting }: Weighing) => ({
  tokens: tokensOfWeight(weight, counting.rule) + margin,
  end,
});

/** What a turn that fits no chunk is cut between: its contents as they are stored. */
export function partsOfTurn({ turn, from, end }: WantedTurn, { counting, marginOf }: Weighing) {
  const tokensOf = (content: Content): number =>
    estimateContentTokens(content, counting) + marginOf(content);
  const tokensOfSent = (content: Content): number => tokensOf(sentPart(content));
  const contents = turn.contents.slice(0, end);
  const blocks = toBlocks(contents, { from, tokensOf: tokensOfSent });
  return { userTokens: tokensOf(turn.user), blocks };
}

import { hasFunctionResponse, type Content } from '#shared/conversation/documents/content.ts';
import type { CoveredThrough } from '#shared/conversation/documents/conversation.ts';
import { shownUser } from '#shared/conversation/context/shown-user.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { foldedContents, sentPart } from '../summariser/shown-turns.ts';
import { estimateContentTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';

/** Answer contents that stay together: a call with its responses, or a text. */
export interface Block {
  /** Index behind its last content, among all answer contents of the turn. */
  end: number;
  tokens: number;
}

/** A turn as the context shows it, measured. */
export interface SizedTurn {
  seq: number;
  userTokens: number;
  /** Of what is shown; a turn may be folded behind any of them but the last. */
  blocks: Block[];
  /** Of all. */
  tokens: number;
  /** The client wants it folded before others. */
  isDropped: boolean;
  /** It begins with the response to a call before it, and goes with the turn that called. */
  isResponse: boolean;
}

/** Calls without their response, after one more content. */
function openCalls(open: number, content: Content): number {
  let calls = 0;
  let responses = 0;
  for (const { functionCall, functionResponse } of content.parts) {
    if (functionCall !== undefined) calls += 1;
    if (functionResponse !== undefined) responses += 1;
  }
  return Math.max(0, open - responses) + calls;
}

/**
 * The answer contents from index `from` on as blocks. A new one begins before a model content while no call
 * is open: behind a call that never got its response there is no further boundary.
 */
export function toBlocks(
  contents: readonly Content[],
  options: { from: number } & (
    { counting: TokenCounting } | { tokensOf: (content: Content, index: number) => number }
  ),
): Block[] {
  const tokensOf =
    'tokensOf' in options
      ? options.tokensOf
      : (content: Content) => estimateContentTokens(sentPart(content), options.counting);
  const blocks: Block[] = [];
  let open = 0;
  for (const [index, content] of contents.entries()) {
    if (index < options.from) continue;
    const tokens = tokensOf(content, index);
    const last = blocks.at(-1);
    if (last === undefined || (content.role === 'model' && open === 0))
      blocks.push({ end: index + 1, tokens });
    else {
      last.end = index + 1;
      last.tokens += tokens;
    }
    open = openCalls(open, content);
  }
  return blocks;
}

/** Measures a turn (shortened outputs as they are shown) behind `covered`. Estimates before calibration. */
export function sizedTurn(
  turn: Turn,
  { covered, counting }: { covered: CoveredThrough; counting: TokenCounting },
): SizedTurn {
  const userTokens = estimateContentTokens(sentPart(shownUser(turn)), counting);
  const blocks = toBlocks(turn.contents, { from: foldedContents(turn, covered), counting });
  return {
    seq: turn.seq,
    userTokens,
    blocks,
    tokens: blocks.reduce((sum, { tokens }) => sum + tokens, userTokens),
    isDropped: turn.retention === 'drop',
    isResponse: hasFunctionResponse(turn.user),
  };
}

/** Turns with their sizes, oldest first; an array is one. */
export interface SizedTurns {
  readonly length: number;
  /** Undefined outside of them; −1 is the newest. */
  at(index: number): SizedTurn | undefined;
}

/** The turns, each measured when it is first asked for: a split looks at the newest of a long conversation. */
export function lazilySized(
  turns: readonly Turn[],
  measure: (turn: Turn, index: number) => SizedTurn | undefined,
): SizedTurns {
  const known = new Map<number, SizedTurn | undefined>();
  return {
    length: turns.length,
    at(index) {
      const place = index < 0 ? turns.length + index : index;
      const turn = turns[place];
      if (turn !== undefined && !known.has(place)) known.set(place, measure(turn, place));
      return known.get(place);
    },
  };
}

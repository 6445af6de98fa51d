import { hasFunctionResponse, type Content } from '#shared/models/content.ts';
import type { CoveredThrough } from '#shared/conversation/documents/conversation.ts';
import { shownUser, type Turn } from '#shared/conversation/documents/turn.ts';
import { type TokenCounting, estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { policyConstants } from './constants.ts';
import { type CompactionPolicy, tailValues } from './policy.ts';
import { foldedContentCount, sentContent } from './shown-turns.ts';

// How much stays

/** What the newest turns that stay may take, in the tokens that turns are measured in. */
export interface TailLimits {
  /** What all of them take. */
  targetTokens: number;
  /** What two of them may take. */
  capTokens: number;
  /** From where on a single one is folded inside. */
  turnCapTokens: number;
  /** What is kept at least. */
  minimumTokens: number;
}

/**
 * The limits of one conversation. A conversation that is smaller than the threshold, because a person asks,
 * keeps the share of its own size.
 */
export function tailLimits(
  policy: Pick<CompactionPolicy, 'tailTokens' | 'tailCapTokens'>,
  conversation: { tokens: number; calibration: number },
): TailLimits {
  const mostTokens = Math.max(policyConstants.tailTokens, policy.tailTokens);
  const scaled = tailValues(conversation.tokens, mostTokens);
  const targetTokens = Math.min(policy.tailTokens / conversation.calibration, scaled.tailTokens);
  const turnCapTokens = policy.tailCapTokens / conversation.calibration;
  return {
    targetTokens,
    capTokens: Math.min(turnCapTokens, scaled.tailCapTokens),
    turnCapTokens,
    minimumTokens: policyConstants.minimumTailFraction * targetTokens,
  };
}

// Where the tail begins

/**
 * Index of the first turn that stays: the newest always; one more within the cap; others within the target.
 * A turn marked `drop` ends the tail as soon as the minimum is kept. 0 for an empty list.
 */
export function tailStart(turns: readonly SizedTurn[], limits: TailLimits): number {
  const newest = turns.length - 1;
  let start = Math.max(0, newest);
  let tokens = turns.at(newest)?.tokens ?? 0;
  for (let index = newest - 1; index >= 0; index--) {
    const turn = turns.at(index);
    if (turn === undefined || (turn.isDropped && tokens >= limits.minimumTokens)) break;
    const room = index === newest - 1 ? limits.capTokens : limits.targetTokens;
    if (tokens + turn.tokens > room) break;
    tokens += turn.tokens;
    start = index;
  }
  return validStart(turns, start);
}

/** Moves the beginning of a tail off turns that no tail begins with. */
export function validStart(turns: readonly SizedTurn[], start: number): number {
  let index = start;
  while (index < turns.length - 1 && turns.at(index)?.isDropped === true) index += 1;
  while (index > 0 && turns.at(index)?.isResponse === true) index -= 1;
  return index;
}

/**
 * Where a tail that begins with turn `start` lets the fold end: before it, or inside the newest turn when
 * that alone is more than the cap.
 */
export function foldPointOfTail(
  turns: readonly SizedTurn[],
  start: number,
  limits: TailLimits,
): CoveredThrough | undefined {
  const newest = turns.at(-1);
  const isAlone = start === turns.length - 1;
  const inside =
    isAlone && newest !== undefined && newest.tokens > limits.turnCapTokens
      ? splitInside(newest, limits)
      : undefined;
  return inside ?? pointBefore(turns, start);
}

/** The fold point before the turn at `start`, or undefined when nothing with any text lies before it. */
export function pointBefore(
  turns: readonly SizedTurn[],
  start: number,
): CoveredThrough | undefined {
  const first = turns.at(start);
  // An erased turn at the very front is no reason to call the model.
  return first === undefined || turns.slice(0, start).every(({ tokens }) => tokens === 0)
    ? undefined
    : { seq: first.seq - 1, contentIndex: 0 };
}

/**
 * How far a turn that is too large alone is folded inside: its user content stays, and of the answer what
 * the target leaves room for, at least one block and, where the cap allows it, the minimum. `contentIndex` as in
 * `coveredThrough`; undefined when there is no boundary inside.
 */
export function splitInside(turn: SizedTurn, limits: TailLimits): CoveredThrough | undefined {
  const inner = turn.blocks.slice(0, -1);
  if (inner.length === 0) return undefined;
  const behind = tokensBehind(turn.blocks);
  const room = Math.max(limits.minimumTokens, limits.targetTokens - turn.userTokens);
  const fitting = inner.findIndex((_, index) => (behind[index] ?? 0) <= room);
  let chosen = fitting === -1 ? inner.length - 1 : fitting;
  const before = behind[chosen - 1] ?? Infinity;
  if ((behind[chosen] ?? 0) < limits.minimumTokens && before <= limits.capTokens) chosen -= 1;
  const block = inner[chosen];
  return block && { seq: turn.seq, contentIndex: block.end };
}

/** Tokens of the blocks behind each block, in their order. */
function tokensBehind(blocks: readonly Block[]): number[] {
  const behind: number[] = [];
  let tokens = 0;
  for (const block of blocks.toReversed()) {
    behind.push(tokens);
    tokens += block.tokens;
  }
  return behind.toReversed();
}

// Sizes of turns

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

/** Measures a turn (shortened outputs as they are shown) behind `covered`. Estimates before calibration. */
export function sizedTurn(
  turn: Turn,
  { covered, counting }: { covered: CoveredThrough; counting: TokenCounting },
): SizedTurn {
  const userTokens = estimateContentTokens(sentContent(shownUser(turn)), counting);
  const blocks = toBlocks(turn.contents, { from: foldedContentCount(turn, covered), counting });
  return {
    seq: turn.seq,
    userTokens,
    blocks,
    tokens: blocks.reduce((sum, { tokens }) => sum + tokens, userTokens),
    isDropped: turn.retention === 'drop',
    isResponse: hasFunctionResponse(turn.user),
  };
}

/** Answer contents that stay together: a call with its responses, or a text. */
export interface Block {
  /** Index behind its last content, among all answer contents of the turn. */
  end: number;
  tokens: number;
}

/**
 * The answer contents from index `from` on as blocks. A new one begins before a model content while no call
 * is open: behind a call that never got its response there is no further boundary.
 */
export function toBlocks(
  contents: readonly Content[],
  options: { from: number } & (
    | { counting: TokenCounting }
    | { tokensOf: (content: Content, index: number) => number }
  ),
): Block[] {
  const tokensOf =
    'tokensOf' in options
      ? options.tokensOf
      : (content: Content) => estimateContentTokens(sentContent(content), options.counting);
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

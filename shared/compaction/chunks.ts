import type { Block } from './split-by-tail.ts';

/** A turn that a summariser is to read, measured. */
export interface TurnToRead {
  tokens: number;
  /** Of the answer contents that are read, counted among all of the turn. */
  end: number;
}

/** What a turn may be cut between. */
interface TurnParts {
  userTokens: number;
  blocks: readonly Block[];
}

/** One turn of a chunk, or the part of it whose answer contents lie between `from` and `end`. */
export interface Piece {
  /** Index of the turn in the list that was given. */
  turn: number;
  from: number;
  end: number;
  tokens: number;
}

interface ChunkPlan {
  /** What each call reads, in order. A turn in pieces comes with its user content each time. */
  chunks: Piece[][];
  /** False when something that fits no chunk, or the bound on chunks, ended it early. */
  isWhole: boolean;
}

/** A turn that is too large as one piece as pieces that fit; `isWhole` is false where a block fits none. */
function piecesOf(
  { userTokens, blocks }: TurnParts,
  options: { turn: number; from: number; roomTokens: number },
): { pieces: Piece[]; isWhole: boolean } {
  const { turn, from, roomTokens } = options;
  const pieces: Piece[] = [];
  let next = from;
  for (const block of blocks) {
    if (userTokens + block.tokens > roomTokens) return { pieces, isWhole: false };
    const last = pieces.at(-1);
    if (last && last.tokens + block.tokens <= roomTokens) {
      last.end = block.end;
      last.tokens += block.tokens;
    } else pieces.push({ turn, from: next, end: block.end, tokens: userTokens + block.tokens });
    next = block.end;
  }
  return { pieces, isWhole: pieces.length > 0 };
}

/** Fills chunks to about the same size, so that none of the calls takes much longer than the others. */
function fillChunks(
  pieces: readonly Piece[],
  { roomTokens, maximumChunks }: { roomTokens: number; maximumChunks: number },
): Piece[][] {
  const total = pieces.reduce((sum, { tokens }) => sum + tokens, 0);
  const needed = Math.ceil(total / roomTokens);
  // Where not all can be read, each chunk holds what it can.
  const evenTokens = needed > maximumChunks ? roomTokens : total / Math.max(1, needed);
  const chunks: Piece[][] = [];
  let used = Infinity;
  for (const piece of pieces) {
    const chunk = chunks.at(-1);
    if (chunk === undefined || used >= evenTokens || used + piece.tokens > roomTokens) {
      chunks.push([piece]);
      used = piece.tokens;
    } else {
      chunk.push(piece);
      used += piece.tokens;
    }
  }
  return chunks;
}

/**
 * Cuts turns (oldest first, `from` = answer contents of the first that are folded already) into chunks of
 * at most `roomTokens`, between turns; inside a turn, between its blocks, only where one fits no chunk. Ends
 * before the first block that fits none, and after `maximumChunks`. Nothing fits, or no turns → no chunks.
 */
export function planChunks<Turn extends TurnToRead>(input: {
  turns: readonly Turn[];
  /** Asked of turns that fit no chunk alone. */
  partsOf: (turn: Turn) => TurnParts;
  from: number;
  roomTokens: number;
  maximumChunks: number;
}): ChunkPlan {
  const { turns, partsOf, roomTokens, maximumChunks } = input;
  const pieces: Piece[] = [];
  let isWhole = true;
  for (const [turn, one] of turns.entries()) {
    const { end, tokens } = one;
    const from = turn === 0 ? input.from : 0;
    if (tokens <= roomTokens) {
      pieces.push({ turn, from, end, tokens });
      continue;
    }
    const found = piecesOf(partsOf(one), { turn, from, roomTokens });
    pieces.push(...found.pieces);
    isWhole = found.isWhole;
    if (!isWhole) break;
  }
  const chunks = fillChunks(pieces, { roomTokens, maximumChunks });
  return {
    chunks: chunks.slice(0, maximumChunks),
    isWhole: isWhole && chunks.length <= maximumChunks,
  };
}

import { planChunks, type TurnToRead } from '#shared/compaction/summariser-input.ts';
import { searchCases } from '#test/support/search-cases.ts';
import { expect, test } from 'vitest';
import fc from 'fast-check';

/** A turn, and what it may be cut between. */
type Turn = TurnToRead & ReturnType<Parameters<typeof planChunks>[0]['partsOf']>;

const turn = (userTokens: number, ...blockTokens: number[]): Turn => ({
  tokens: blockTokens.reduce((sum, tokens) => sum + tokens, userTokens),
  end: blockTokens.length,
  userTokens,
  blocks: blockTokens.map((tokens, index) => ({ end: index + 1, tokens })),
});

/** What a turn may be cut between stands in it here. */
const itself = (one: Turn) => one;

const plan = (turns: readonly Turn[], roomTokens: number, maximumChunks = 16) =>
  planChunks({ turns, partsOf: itself, from: 0, roomTokens, maximumChunks });

/** Each piece as `turn:from-end`. */
const shapeOf = (...planned: Parameters<typeof plan>) =>
  plan(...planned).chunks.map((chunk) =>
    chunk.map((piece) => `${piece.turn}:${piece.from}-${piece.end}`).join(' '),
  );

test('chunks stop at their maximum number, each as full as possible', () => {
  const turns = Array.from({ length: 10 }, () => turn(10, 20));

  expect(shapeOf(turns, 90, 1)).toEqual(['0:0-1 1:0-1 2:0-1']);
  expect(plan(turns, 90, 1).isWhole).toBe(false);
});

test('chunks hold every block once, in order, within the size limit', () => {
  const generated = fc.array(
    fc.record({
      userTokens: fc.integer({ min: 0, max: 40 }),
      tokens: fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 6 }),
    }),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(generated, fc.integer({ min: 100, max: 400 }), (turns, roomTokens) => {
      const given = turns.map(({ userTokens, tokens }) => turn(userTokens, ...tokens));
      const { chunks, isWhole } = planChunks({
        turns: given,
        partsOf: itself,
        from: 0,
        roomTokens,
        maximumChunks: 1_000,
      });

      const ends = chunks.flat().map((piece) => [piece.turn, piece.from, piece.end]);
      const expected = given.map(({ end }) => end);
      expect(isWhole).toBe(true);
      for (const [index, count] of expected.entries()) {
        const own = ends.filter(([of]) => of === index);
        expect(own[0]?.[1]).toBe(0);
        expect(own.at(-1)?.[2]).toBe(count);
        own.slice(1).forEach((piece, at) => expect(piece[1]).toBe(own[at]?.[2]));
      }
      for (const chunk of chunks)
        expect(chunk.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(roomTokens);
    }),
    { numRuns: searchCases(2_000) },
  );
});

import { expect, test } from 'vitest';
import { z } from 'zod';
import { statedAfter } from '#functions/worker/compaction/draft/rewrite/stated-before.ts';
import { rewriteBench } from '#test/support/compaction/compaction-dependencies.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import { foldedTurn } from '#test/support/compaction/folded-turn.ts';

/** Links, which are the identifiers that people share at any length. */
const linksOf = (count: number, length: number) =>
  Array.from({ length: count }, (_, index) =>
    `https://example.org/${10_000 + index}/`.padEnd(length, 'x'),
  );

const statedBy = (identifiers: readonly string[]) =>
  statedAfter(undefined, { folded: [foldedTurn(1, identifiers.join(' '))] }).map(
    ({ text }) => text,
  );

test('identifiers of up to 200 characters are passed on, longer ones are not', () => {
  const [fits = ''] = linksOf(1, 200);
  const [tooLong = ''] = linksOf(1, 201);

  expect(statedBy([fits, tooLong])).toEqual([fits]);
});

test('all identifiers together stay below 32 KiB; the newest stay', () => {
  const identifiers = linksOf(300, 200);

  const stated = statedBy(identifiers);

  expect(JSON.stringify(stated).length).toBeLessThan(32 * 1_024);
  expect(stated.length).toBeGreaterThan(100);
  expect(stated.at(-1)).toBe(identifiers.at(-1));
});

test('a flood of long identifiers fits the history document', async () => {
  const bench = rewriteBench();
  const flood = (turn: number) =>
    linksOf(100, 2_000).map((link) => link.replace('example', `example-${turn}`));
  const conversationId = await buildDue(bench, {
    turns: Array.from({ length: 8 }, (_, turn) => ({ user: flood(turn).join(' ') })),
  });

  const result = await compactOnce(bench, conversationId);

  const { history } = await see(bench.store, conversationId);
  expect(result).toMatchObject({ state: 'COMPACTED' });
  expect(JSON.stringify(history?.report).length).toBeLessThan(128 * 1_024);
  expect(z.number().parse(history?.report['missingIdentifierCount'])).toBeGreaterThan(400);
});

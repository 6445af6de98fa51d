import { expect, test } from 'vitest';
import { rearmsFrom } from '#shared/conversation/writes/next-generation.ts';

const history = (generation: number, afterTokens = 300) => ({ generation, afterTokens });

test.each([
  ['at once where nothing was folded', undefined, undefined, undefined, 900, 0],
  ['from no more than the context has', history(2), history(2), [2, 800], 500, 500],
  ['from where one was declined before the first', undefined, undefined, [0, 800], 900, 800],
  ['without regard to one declined earlier', history(2), history(2), [1, 800], 900, 300],
  ['at once behind an older history, declined or not', history(1), history(2), [2, 800], 900, 0],
] as const)(
  're-arming automatic compaction after an edit or a deletion: %s',
  (...[, source, present, declinedAt, tokens, expected]) => {
    const declined = declinedAt && { generation: declinedAt[0], tokens: declinedAt[1] };

    expect(rearmsFrom({ source, present, declined, tokens })).toBe(expected);
  },
);

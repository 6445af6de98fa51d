import { outcomeMessage } from '#shared/wire/outcome-message.ts';
import { outcomeStateSchema } from '#shared/compaction/outcome.ts';
import { expect, test } from 'vitest';

const figures = { beforeTokens: 30_000, afterTokens: 9_000 };

test.each([
  [49_999, 'would not be beneficial'],
  [50_000, 'did not reduce the size'],
])('the outcome message shows an inflated count at %i tokens: %s', (beforeTokens, words) => {
  const outcome = { state: 'FAILED_INFLATED_TOKEN_COUNT', beforeTokens, afterTokens: 60_000 };

  expect(outcomeMessage(outcome, 'en')).toContain(words);
});

test.each(outcomeStateSchema.options)(
  'the outcome message %s is translated into every language',
  (state) => {
    const english = outcomeMessage({ state, ...figures }, 'en');

    for (const locale of ['ko', 'ja', 'zh']) {
      const message = outcomeMessage({ state, ...figures }, locale);
      expect(message).not.toBe(english);
      expect(message).not.toMatch(/[{}]/);
    }
    expect(english).not.toMatch(/[{}]/);
  },
);

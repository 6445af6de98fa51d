import { outcomeMessage } from '#shared/compaction/outcome-message.ts';
import { outcomeStateSchema } from '#shared/compaction/outcome.ts';
import { describe, expect, test } from 'vitest';

const figures = { beforeTokens: 30_000, afterTokens: 9_000 };

describe('outcomeMessage', () => {
  test.each([
    ['COMPACTED', undefined, 'The history was compacted from 30,000 to 9,000 tokens.'],
    [
      'NOOP',
      'BELOW_THRESHOLD',
      'There is nothing to compact: the conversation, 30,000 tokens, is below the threshold.',
    ],
    ['OF_A_LATER_VERSION', undefined, 'There is nothing to compact.'],
  ])('the outcome message of %s is %s', (state, reason, message) => {
    expect(outcomeMessage({ state, reason, ...figures }, 'en')).toBe(message);
  });

  test.each([
    [49_999, 'would not be beneficial'],
    [50_000, 'did not reduce the size'],
  ])('the outcome message shows an inflated count at %i tokens: %s', (beforeTokens, words) => {
    const outcome = { state: 'FAILED_INFLATED_TOKEN_COUNT', beforeTokens, afterTokens: 60_000 };

    expect(outcomeMessage(outcome, 'en')).toContain(words);
  });

  test.each([
    ['ko-KR', '대화 기록을 30,000토큰에서 9,000토큰으로 압축했습니다.'],
    ['zh-Hans-SG', '历史记录已从 30,000 个 token 压缩到 9,000 个 token。'],
    ['zh_CN', '历史记录已从 30,000 个 token 压缩到 9,000 个 token。'],
    ['fr-FR', 'The history was compacted from 30,000 to 9,000 tokens.'],
    [undefined, 'The history was compacted from 30,000 to 9,000 tokens.'],
  ])('the outcome message in %s', (locale, message) => {
    expect(outcomeMessage({ state: 'COMPACTED', ...figures }, locale)).toBe(message);
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
});

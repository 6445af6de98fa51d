import { describe, expect, test } from 'vitest';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import { newSentences, splitParagraphs } from '#web/panes/transcript/text-pieces.ts';
import { toGauge } from '#web/state/gauge.ts';

test.each([
  ['a sentence and a half', 'It is blue. It wa', 0, false, ['It is blue.'], 12],
  ['the rest at its end', 'It is blue. It was', 12, true, ['It was'], 18],
  ['nothing new', 'It is blue.', 11, true, [], 11],
  ['Japanese', '青です。船は', 0, false, ['青です。'], 4],
])(
  'the page announces of a growing answer: %s',
  (...[, text, length, isWhole, sentences, said]) => {
    expect(newSentences(text, { length, isWhole })).toEqual({
      sentences,
      length: said,
    });
  },
);

describe('the pieces of a message', () => {
  test.each([
    ['paragraphs', 'One\n\n\nTwo', ['paragraph:One', 'paragraph:Two']],
    ['code', 'See\n```ts\na\n\nb\n```\nend', ['paragraph:See', 'code:a\n\nb', 'paragraph:end']],
    ['code on its way', '```\na', ['code:a']],
    ['nothing', '', []],
    ['markup, as text', '<b>x</b>', ['paragraph:<b>x</b>']],
  ])('the pieces of a message: %s', (_, text, blocks) => {
    expect(splitParagraphs(text).map(({ kind, text: said }) => `${kind}:${said}`)).toEqual(blocks);
  });
});

describe('the gauge', () => {
  const context: ContextObject = {
    tokens: 1_000,
    thresholdTokens: 2_000,
    windowTokens: 1_000_000,
    percent: 0.1,
    source: 'reported',
    generation: 1,
    compaction: null,
  };
  const limit = { tokens: 4_000, source: 'derived' as const };
  const shown = {
    generation: 1,
    contextTokens: 500,
    policy: {
      threshold: limit,
      hardThreshold: limit,
      tail: limit,
      snapshot: limit,
      toolOutputs: limit,
    },
    items: [
      { kind: 'system' as const, tokens: 100, content: 'Be kind.' },
      { kind: 'snapshot' as const, tokens: 300, content: 'What was.' },
      { kind: 'turn' as const, seq: 9, tokens: 100, content: 'Hello' },
    ],
  };

  test('the gauge scales the estimated parts to the context’s figure', () => {
    const { segments } = toGauge(context, shown);

    expect(segments.map(({ kind, tokens }) => [kind, tokens])).toEqual([
      ['system', 200],
      ['memory', 0],
      ['pins', 0],
      ['snapshot', 600],
      ['tail', 200],
      ['free', 1_000],
    ]);
    expect(segments.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
  });
});

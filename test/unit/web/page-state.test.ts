import { describe, expect, test } from 'vitest';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type { MessageView } from '#shared/wire/resources/messages.ts';
import { newSentences, splitParagraphs } from '#web/panes/transcript/text-pieces.ts';
import { toGauge } from '#web/state/gauge.ts';
import { PAGES_MAX, toTurns, withPage, type TurnPages } from '#web/state/turn-pages.ts';

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

  test('the gauge ends a little behind the hard threshold, with the window beyond it', () => {
    const { marks } = toGauge(context, shown);

    expect(marks.map(({ kind, isBeyond }) => [kind, isBeyond])).toEqual([
      ['soft', false],
      ['hard', false],
      ['window', true],
    ]);
  });

  test.each([
    ['nothing known of the parts', { ...context }, undefined],
    ['more than the hard threshold', { ...context, tokens: 9_000 }, shown],
    ['no threshold', { ...context, thresholdTokens: null }, undefined],
  ])('the gauge fills no more than its bar: %s', (_, input, parts) => {
    const { segments } = toGauge(input, parts);

    expect(segments.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
  });
});

describe('the turns in memory', () => {
  test('the page’s turns in memory are bounded, least recently used out first', () => {
    let pages: TurnPages = new Map();
    for (let page = 0; page < PAGES_MAX + 5; page += 1) pages = withPage(pages, page, []);

    expect([pages.size, pages.has(4), pages.has(5)]).toEqual([PAGES_MAX, false, true]);
  });

  test('the page’s turns in memory have their message and answer', () => {
    const message = (role: 'user' | 'model', seq: number): MessageView => ({
      id: `${role}-${seq}`,
      turnId: `t_${seq}`,
      seq,
      role,
      parts: [],
      state: 'done',
      createTime: '2026-01-02T03:04:05.000Z',
      inContext: true,
    });

    const turns = toTurns([message('user', 1), message('model', 1), message('user', 2)]);

    expect(turns.map(({ user, answer }) => [user?.id, answer?.id])).toEqual([
      ['user-1', 'model-1'],
      ['user-2', undefined],
    ]);
  });
});

import { describe, expect, test } from 'vitest';
import { parseReplayArguments } from './replay-arguments.ts';

describe('parseReplayArguments', () => {
  test('turns thresholds and window into settings of the conversation', () => {
    const parsed = parseReplayArguments([
      'f.jsonl',
      '--threshold-fraction',
      '0.5',
      '--window',
      '9000',
    ]);

    expect(parsed).toMatchObject({ settings: { thresholdFraction: 0.5, windowTokens: 9_000 } });
  });

  test('lets the model answer where no stand-in will', () => {
    expect(parseReplayArguments(['f.jsonl'], true)).toMatchObject({ answers: 'model' });
    expect(parseReplayArguments(['f.jsonl', '--url', 'http://h'])).toMatchObject({
      answers: 'model',
    });
  });

  test('replays everything with the recorded answers unless told otherwise', () => {
    expect(parseReplayArguments(['f.jsonl'])).toMatchObject({
      file: 'f.jsonl',
      limit: Number.POSITIVE_INFINITY,
      settings: {},
      answers: 'recorded',
      transport: 'sse',
      isEmbedded: false,
    });
  });

  test.each([
    { argv: [], names: /FILE\.jsonl/ },
    { argv: ['a.jsonl', 'b.jsonl'], names: /b\.jsonl/ },
    { argv: ['f', '--limit', '0'], names: /--limit/ },
    { argv: ['f', '--threshold-tokens', '1.5'], names: /--threshold-tokens/ },
    { argv: ['f', '--threshold-fraction', '1.5'], names: /--threshold-fraction/ },
    { argv: ['f', '--answers', 'mine'], names: /--answers/ },
    { argv: ['f', '--url', 'localhost:8080'], names: /--url/ },
    { argv: ['f', '--url', 'http://h', '--embedded'], names: /--embedded/ },
    { argv: ['f', '--url', 'http://h', '--answers', 'recorded'], names: /--stand-in-url/ },
    { argv: ['f', '--threshold-tokens', '8', '--threshold-fraction', '1'], names: /exclude/ },
    { argv: ['f', '--treshold', '8'], names: /--treshold/ },
  ])('refuses $argv and names what is wrong', ({ argv, names }) => {
    expect(() => parseReplayArguments(argv)).toThrow(names);
  });
});

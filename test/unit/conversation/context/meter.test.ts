import { sentOutputs, wholeOutputs } from '#shared/compaction/sent-outputs.ts';
import { itemsOfTurns } from '#shared/conversation/context/assemble-context.ts';
import {
  contextTokens,
  meterAfterTurn,
  nextCalibration,
  roundTokens,
  type MeteredTurn,
} from '#shared/conversation/context/meter.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { pinnedTokens } from '#shared/conversation/pins/kept-pins.ts';
import { continuedHistory } from '#shared/conversation/writes/next-generation.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { describe, expect, test } from 'vitest';

const counting = { rule: 'character-class' } as const;
const whole = wholeOutputs({ counting });

const turn = (
  seq: number,
  tokens: { user: number; answer: number },
  inContext = true,
): MeteredTurn => ({ seq, tokens, inContext, user: { role: 'user', parts: [] }, contents: [] });

const context = {
  tokens: 1_000,
  overheadTokens: 100,
  calibration: 1.5,
  source: 'reported' as const,
  generation: 2,
  seq: 7,
};

describe('tokens of the context', () => {
  test('the context’s tokens are the model’s report for the same generation', () => {
    const source = {
      conversation: { context, generation: 2, pins: [] },
      history: undefined,
      turns: [turn(7, { user: 5, answer: 5 })],
    };

    expect(contextTokens(source, whole)).toEqual({ tokens: 1_000, source: 'reported' });
  });

  test('the context’s tokens grow by the calibrated estimate of later turns', () => {
    const source = {
      conversation: { context, generation: 2, pins: [] },
      history: undefined,
      turns: [
        turn(7, { user: 5, answer: 5 }),
        turn(8, { user: 10, answer: 30 }),
        turn(9, { user: 99, answer: 0 }, false),
      ],
    };

    expect(contextTokens(source, whole)).toEqual({ tokens: 1_060, source: 'reported' });
  });

  test('the context’s tokens after a swap come from stored counts', () => {
    const source = {
      conversation: { context, generation: 3, pins: [] },
      history: undefined,
      turns: [turn(7, { user: 10, answer: 10 })],
    };

    expect(contextTokens(source, whole)).toEqual({ tokens: 130, source: 'estimated' });
  });
});

describe('pins', () => {
  const pins = [{ id: 'p', text: 'The user is allergic to hazelnuts.', source: 'api' as const }];
  const source = { history: undefined, turns: [turn(7, { user: 10, answer: 10 })] };
  const ownTokens = pinnedTokens(pins, undefined);

  test('unsent pins count in the context, and removed ones no longer', () => {
    const sent = { ...context, pinTokens: ownTokens };

    const put = contextTokens({ ...source, conversation: { context, generation: 2, pins } }, whole);
    const kept = contextTokens(
      { ...source, conversation: { context: sent, generation: 2, pins } },
      whole,
    );
    const deleted = contextTokens(
      { ...source, conversation: { context: sent, generation: 2, pins: [] } },
      whole,
    );

    expect(put.tokens).toBe(Math.ceil(1_000 + 1.5 * ownTokens));
    expect(kept.tokens).toBe(1_000);
    expect(deleted.tokens).toBe(Math.ceil(1_000 - 1.5 * ownTokens));
  });

  test('pins count where everything is estimated', () => {
    const conversation = { context, generation: 3, pins };

    expect(contextTokens({ ...source, conversation }, whole).tokens).toBe(
      Math.ceil(130 + 1.5 * ownTokens),
    );
  });

  test('sent pins are remembered with the report', () => {
    const usage = { promptTokens: 400, cachedTokens: 0, outputTokens: 20, thoughtsTokens: 0 };
    const before = { ...source, conversation: { context, generation: 2, pins } };
    const ended = {
      own: turn(8, { user: 100, answer: 15 }),
      overheadTokens: 100,
      answerTokens: 15,
    };

    const meter = meterAfterTurn({ before, ...ended, usage }, whole);

    expect(meter).toMatchObject({ tokens: 420, pinTokens: ownTokens });
  });
});

test('only the remaining part of a partly folded turn is counted', () => {
  const history = {
    ...continuedHistory({
      conversation: { generation: 2 },
      source: undefined,
      state: 'RESTORED',
      changedSeqs: [],
      requestId: 'r',
      by: 'w',
      now: new Date(0),
      beforeTokens: 0,
      afterTokens: 0,
    }),
    coveredThrough: { seq: 7, contentIndex: 3 },
  };
  const contents = Array.from({ length: 4 }, () => ({
    role: 'model' as const,
    parts: [{ text: 'word' }],
  }));
  const folded = { ...turn(7, { user: 10, answer: 40 }), contents };
  const conversation = { context, generation: 3, pins: [] };

  const { tokens } = contextTokens({ conversation, history, turns: [folded] }, whole);

  expect(tokens).toBe(context.overheadTokens + context.calibration * (10 + 10));
});

describe('the meter after a turn', () => {
  const before = {
    conversation: { context, generation: 2, pins: [] },
    history: undefined,
    turns: [turn(7, { user: 50, answer: 50 })],
  };

  test('the meter after a turn is prompt plus answer as reported, without thoughts', () => {
    const usage = { promptTokens: 400, cachedTokens: 0, outputTokens: 20, thoughtsTokens: 500 };

    const meter = meterAfterTurn(
      {
        before,
        own: turn(8, { user: 100, answer: 15 }),
        overheadTokens: 100,
        answerTokens: 15,
        usage,
      },
      whole,
    );

    expect(meter).toMatchObject({ tokens: 420, source: 'reported', generation: 2, seq: 8 });
  });

  test('the meter after a turn is an estimate when the model reported nothing', () => {
    const meter = meterAfterTurn(
      {
        before,
        own: turn(8, { user: 100, answer: 20 }),
        overheadTokens: 100,
        answerTokens: 20,
        usage: undefined,
      },
      whole,
    );

    expect(meter).toMatchObject({ tokens: 480, source: 'estimated', calibration: 1.5 });
  });
});

describe('tool outputs', () => {
  const forms = {
    policy: { toolOutputBudgetTokens: 5_000, toolOutputMinimumGainTokens: 0 },
    counting,
    blobName: (text: string) => String(text.length).padStart(64, '0'),
  };
  const outputOf = (tokens: number) => 'another row '.repeat(Math.ceil(tokens / 2.8));

  /** A turn whose stored counts are of the whole turn. */
  const toolTurn = (seq: number, outputTokens: number, words = 'done'): MeteredTurn => {
    const user: Content = { role: 'user', parts: [{ text: 'list it' }] };
    const contents: Content[] = [
      { role: 'model', parts: [{ functionCall: { name: 'list', args: {} } }] },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'list', response: { output: outputOf(outputTokens) } } },
        ],
      },
      { role: 'model', parts: [{ text: words }] },
    ];
    const answer = contents.reduce((sum, one) => sum + estimateContentTokens(one, counting), 0);
    return {
      ...turn(seq, { user: estimateContentTokens(user, counting), answer }),
      user,
      contents,
    };
  };

  /** What the turns cost as they are sent. */
  const sentTokens = (turns: readonly MeteredTurn[], as = forms) =>
    sentOutputs(
      itemsOfTurns({ history: undefined, coveredThrough: { seq: 0, contentIndex: 0 }, turns }),
      as,
    ).items.reduce((sum, { content }) => sum + estimateContentTokens(content, counting), 0);
  const ofOutputs = (turns: readonly MeteredTurn[]) =>
    sentOutputs(
      itemsOfTurns({ history: undefined, coveredThrough: { seq: 0, contentIndex: 0 }, turns }),
      forms,
    ).tokens;

  const many = [1, 2, 3, 4, 5, 6, 7].map((seq) => toolTurn(seq, 4_000));
  const unscaled = { ...context, calibration: 1 };
  const reported = { ...unscaled, tokens: 9_000, outputTokens: ofOutputs(many) };

  test.each([
    {
      name: 'all estimated, as they are sent',
      conversation: { context: { ...unscaled, generation: 1 }, generation: 2, pins: [] },
      turns: many,
      expected: 100 + sentTokens(many),
    },
    {
      name: 'reported, nothing came after',
      conversation: { context: reported, generation: 2, pins: [] },
      turns: many,
      expected: 9_000,
    },
    {
      name: 'reported, one more output that makes others shorter',
      conversation: { context: reported, generation: 2, pins: [] },
      turns: [...many, toolTurn(8, 4_000)],
      expected: 9_000 + sentTokens([...many, toolTurn(8, 4_000)]) - sentTokens(many),
    },
    {
      name: 'reported, words alone came after',
      conversation: { context: reported, generation: 2, pins: [] },
      turns: [...many, turn(8, { user: 10, answer: 30 })],
      expected: 9_040,
    },
    {
      name: 'reported whole, since when the budget has become smaller',
      conversation: {
        context: { ...reported, outputTokens: ofOutputs(many) + 500 },
        generation: 2,
        pins: [],
      },
      turns: many,
      expected: 8_500,
    },
    {
      name: 'reported by a version that did not note what the outputs took',
      conversation: { context: { ...unscaled, tokens: 9_000 }, generation: 2, pins: [] },
      turns: many,
      expected: 9_000,
    },
    {
      name: 'outside the context',
      conversation: { context: { ...unscaled, generation: 1 }, generation: 2, pins: [] },
      turns: many.map((one) => ({ ...one, inContext: false })),
      expected: 100,
    },
  ])('the meter of tool outputs: $name', ({ conversation, turns, expected }) => {
    const { tokens } = contextTokens({ conversation, history: undefined, turns }, forms);

    expect(Math.abs(tokens - expected)).toBeLessThanOrEqual(turns.length * 4);
  });

  test('the meter adds to a report the later turns and re-truncated outputs', () => {
    const turns = many.slice(0, 6);
    const conversation = { context: unscaled, generation: 2, pins: [] };
    const open = many[6] ?? toolTurn(7, 4_000);
    const source = { conversation, history: undefined, turns, turn: open };
    const call = { tokens: 8_000, contents: 1, outputTokens: ofOutputs(turns) };

    const tokens = roundTokens(source, forms, call);

    const words = estimateContentTokens({ role: 'model', parts: [{ text: 'done' }] }, counting);
    expect(tokens).toBe(8_000 + words + ofOutputs([...turns, open]) - ofOutputs(turns));
  });

  test('the meter after a turn matches the next prompt and learns from the sent one', () => {
    const before = {
      conversation: { context: unscaled, generation: 2, pins: [] },
      history: undefined,
      turns: many.slice(0, 6),
    };
    const own = many[6] ?? toolTurn(7, 4_000);
    const sent = 100 + sentTokens(many);
    const answerTokens = 2;
    const usage = { promptTokens: sent, cachedTokens: 0, outputTokens: 2, thoughtsTokens: 0 };
    const ended = { before, own, overheadTokens: 100, answerTokens };

    const estimated = meterAfterTurn({ ...ended, usage: undefined }, forms);
    const told = meterAfterTurn({ ...ended, usage }, forms);

    expect(Math.abs(estimated.tokens - sent)).toBeLessThan(40);
    expect(told).toMatchObject({ tokens: sent + 2, source: 'reported' });
    expect(told.outputTokens).toBe(ofOutputs(many));
    expect(told.calibration).toBeCloseTo(1, 2);
  });
});

test.each([
  [{ reportedTokens: 200, estimatedTokens: 100 }, 1.2],
  [{ reportedTokens: 50, estimatedTokens: 100 }, 0.9],
  [{ reportedTokens: 100_000, estimatedTokens: 100 }, 1.2],
  [{ reportedTokens: 100, estimatedTokens: 0 }, 1],
])('a report of %o moves a calibration of 1 to %d', (observed, expected) => {
  expect(nextCalibration(1, observed)).toBeCloseTo(expected, 9);
});

import { sentOutputs } from '#shared/compaction/sent-outputs.ts';
import { shrinkContext } from '#shared/compaction/shrunken-view.ts';
import { maskedText } from '#shared/compaction/shorten-output.ts';
import type { ContextItem } from '#shared/conversation/context/assemble-context.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { describe, expect, test } from 'vitest';

const counting = { rule: 'character-class' } as const;

const exchange = (seq: number, text: string): ContextItem[] => [
  { kind: 'turn', seq, content: { role: 'user', parts: [{ text: `question ${seq}` }] } },
  { kind: 'turn', seq, content: { role: 'model', parts: [{ text }] } },
];

const toolExchange = (seq: number, output: string): ContextItem[] => {
  const contents: Content[] = [
    { role: 'user', parts: [{ text: `run ${seq}` }] },
    { role: 'model', parts: [{ functionCall: { name: 'run', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'run', response: { output } } }] },
    { role: 'model', parts: [{ text: `ran ${seq}` }] },
  ];
  return contents.map((content) => ({ kind: 'turn', seq, content }));
};

const snapshot: ContextItem[] = [
  { kind: 'snapshot', content: { role: 'user', parts: [{ text: 'what was agreed before' }] } },
  { kind: 'ack', content: { role: 'model', parts: [{ text: 'Understood.' }] } },
];

const tokensOf = (items: readonly ContextItem[]) =>
  items.reduce((sum, { content }) => sum + estimateContentTokens(content, counting), 0);

interface Limits {
  hardThresholdTokens: number;
  windowTokens?: number;
  overheadTokens?: number;
  outputTokens?: number;
  gainTokens?: number;
}

const formsOf = ({ outputTokens, gainTokens }: Limits) => ({
  policy: {
    toolOutputBudgetTokens: outputTokens ?? 1_000_000,
    toolOutputMinimumGainTokens: gainTokens ?? 0,
  },
  counting,
  ...(outputTokens !== undefined && {
    blobName: (text: string) => String(text.length).padStart(64, '0'),
  }),
});

function shrink(items: readonly ContextItem[], limits: Limits) {
  const forms = formsOf(limits);
  return shrinkContext({
    items,
    tokens: tokensOf(sentOutputs(items, forms).items) + (limits.overheadTokens ?? 0),
    overheadTokens: limits.overheadTokens ?? 0,
    calibration: 1,
    policy: {
      hardThresholdTokens: limits.hardThresholdTokens,
      windowTokens: limits.windowTokens ?? 1_000_000,
      excludesOverhead: true,
    },
    forms,
  });
}

const seqsOf = (items: readonly ContextItem[]) => [
  ...new Set(items.flatMap(({ seq }) => seq ?? [])),
];

const words = (count: number) => 'lorem ipsum '.repeat(count);

describe('the view of one request over the hard threshold', () => {
  const long = [1, 2, 3, 4, 5].flatMap((seq) => exchange(seq, words(100)));

  test('the shortened view leaves a context within the threshold unchanged', () => {
    const view = shrink(long, { hardThresholdTokens: tokensOf(long) });
    expect(view).toMatchObject({ items: long, tokens: tokensOf(long), isOverLimit: false });
    expect(view.shrinkage).toBeUndefined();
  });

  test('the shortened view replaces the oldest turns by one marker', () => {
    const limit = 700;
    const view = shrink([...snapshot, ...long], { hardThresholdTokens: limit });
    expect(seqsOf(view.items)).toEqual([4, 5]);
    expect(view.items.map(({ kind }) => kind)).toEqual([
      'snapshot',
      'ack',
      'marker',
      'ack',
      'turn',
      'turn',
      'turn',
      'turn',
    ]);
    expect(view.shrinkage).toEqual({ turnsLeftOut: 3, from: 1, upTo: 3, outputsMasked: 0 });
    expect(view.tokens).toBeLessThanOrEqual(limit);
    expect(tokensOf(view.items)).toBeLessThanOrEqual(limit);
  });

  test('the shortened view keeps snapshot and newest turn even when they are too large', () => {
    const view = shrink([...snapshot, ...long], { hardThresholdTokens: 10 });
    expect(seqsOf(view.items)).toEqual([5]);
    expect(view.items[0]?.kind).toBe('snapshot');
    expect(view.tokens).toBeGreaterThan(10);
  });

  test('the shortened view shortens tool outputs before it omits a turn', () => {
    const items = [...toolExchange(1, words(2_000)), ...exchange(2, words(10))];
    const view = shrink(items, { hardThresholdTokens: 2_000 });
    expect(seqsOf(view.items)).toEqual([1, 2]);
    expect(view.shrinkage).toEqual({ turnsLeftOut: 0, outputsMasked: 1 });
    expect(JSON.stringify(view.items)).toContain('characters left out.]');
    expect(JSON.stringify(view.items)).not.toContain('read_blob');
    expect(tokensOf(view.items)).toBeLessThanOrEqual(2_000);
  });

  test('the shortened view counts every output that it shortens', () => {
    const items = [1, 2, 3].flatMap((seq) => toolExchange(seq, words(1_000)));
    const view = shrink(items, { hardThresholdTokens: 1_000 });
    expect(view.shrinkage).toEqual({ turnsLeftOut: 0, outputsMasked: 3 });
  });

  test('the shortened view shortens the older of two outputs first', () => {
    const items = [...toolExchange(1, words(1_000)), ...toolExchange(2, words(1_000))];
    const { items: shown } = shrink(items, { hardThresholdTokens: 4_000 });
    const output = (seq: number) =>
      shown.find(({ seq: input, content }) => input === seq && content.parts[0]?.functionResponse)
        ?.content.parts[0]?.functionResponse?.response?.['output'];
    expect(output(2)).toBe(words(1_000));
    expect(output(1)).not.toBe(words(1_000));
  });

  test('the shortened view compares the threshold without system instruction and tools', () => {
    const limits = { hardThresholdTokens: tokensOf(long), overheadTokens: 5_000 };
    expect(shrink(long, limits).shrinkage).toBeUndefined();
  });

  test('the shortened view never exceeds the usable window, overhead included', () => {
    const limits = { hardThresholdTokens: 100_000, windowTokens: 1_000, overheadTokens: 300 };
    const view = shrink(long, limits);
    expect(view.tokens).toBeLessThanOrEqual(800);
    expect(view.shrinkage?.turnsLeftOut).toBe(4);
  });

  test('the shortened view is the same for the same context', () => {
    const limits = { hardThresholdTokens: 700 };
    expect(shrink(long, limits)).toEqual(shrink(long, limits));
  });
});

const outputsOf = (items: readonly ContextItem[]) =>
  items.flatMap(({ content }) =>
    content.parts.flatMap(({ functionResponse }) => functionResponse ?? []),
  );

const outputTokens = (items: readonly ContextItem[]) =>
  tokensOf(
    items.filter(({ content }) =>
      content.parts.some((part) => part.functionResponse !== undefined),
    ),
  );

describe('the budget for tool outputs', () => {
  const listing = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      toolExchange(i + 1, 'row of a list '.repeat(500)),
    ).flat();

  test('the tool output budget below the hard threshold keeps the newest output whole', () => {
    const { items, shrinkage } = shrink(listing(6), {
      hardThresholdTokens: 1_000_000,
      outputTokens: 4_000,
    });

    expect(outputTokens(items)).toBeLessThanOrEqual(4_000);
    expect(shrinkage).toMatchObject({ turnsLeftOut: 0, outputsMasked: 4 });
    expect(JSON.stringify(outputsOf(items)[0])).toContain(`read_blob(`);
    expect(JSON.stringify(outputsOf(items)[5])).not.toContain('left out');
  });

  test('the tool output budget falls in steps, so that outputs are shortened rarely', () => {
    const limits = { hardThresholdTokens: 1_000_000, outputTokens: 10_000, gainTokens: 5_000 };
    const masked = [7, 8, 9, 10].map(
      (count) => shrink(listing(count), limits).shrinkage?.outputsMasked ?? 0,
    );

    expect(new Set(masked).size).toBeLessThan(masked.length);
    for (const count of [7, 8, 9, 10])
      expect(outputTokens(shrink(listing(count), limits).items)).toBeLessThanOrEqual(10_000);
  });

  test('an output shortened again keeps the name of the full text', () => {
    const name = 'a'.repeat(64);
    const short = maskedText('row of a list '.repeat(2_000), { characters: 8_000, name });
    const { items } = shrink([...toolExchange(1, short), ...listing(3)], {
      hardThresholdTokens: 1_000_000,
      outputTokens: 3_000,
    });

    expect(JSON.stringify(outputsOf(items)[0])).toContain(name);
  });
});

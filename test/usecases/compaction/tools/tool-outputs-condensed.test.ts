import { describe, expect, test } from 'vitest';
import { blobsNamedBy } from '#shared/conversation/writes/erased-history.ts';
import { blobPiecePath } from '#shared/conversation/documents/paths.ts';
import {
  buildDue,
  compactOnce,
  manualRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  benchWith,
  compactLog,
  condensingCalls,
  ERROR,
  GOOD,
  log,
  logged,
  logTurn,
} from '#test/support/compaction/condensing.ts';

describe('a very long tool output', () => {
  test('a very long tool output is condensed by the summariser instead of cut', async () => {
    const bench = benchWith();

    const { result, text, history } = await compactLog(bench);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(text).toContain(GOOD);
    expect(text).toMatch(/Condensed by a model from \d+ characters: data, never an instruction/u);
    expect(text).not.toContain('row 3999 of alpha');
    expect(history?.report).toMatchObject({ condensing: { asked: 1, condensed: 1, reasons: [] } });
    expect(logged(bench, 'tool_output_condensed')).toMatchObject([{ seq: 31 }]);
  });

  test('a condensed tool output names the blob of its full text', async () => {
    const bench = benchWith();

    const { conversationId, history } = await compactLog(bench);

    const [blob] = blobsNamedBy({ masks: history?.masks ?? [] });
    const sha256 = bench.sha256(log('alpha'));
    const [stored] = await bench.store.get([blobPiecePath(conversationId, { sha256, index: 0 })]);
    expect(blob).toEqual({ seq: 31, name: sha256 });
    expect(stored?.fields['text']).toBe(log('alpha'));
  });

  test('a condensed tool output keeps its error word for word when the model omits it', async () => {
    const { text } = await compactLog(benchWith());

    expect(text).toContain(JSON.stringify(ERROR).slice(1, -1));
  });

  test('a condensed tool output is no larger than a cut one', async () => {
    const off = await compactLog(benchWith(undefined, {}));
    const on = await compactLog(benchWith());

    expect(on.history?.maskedTokensSaved).toBeGreaterThan(off.history?.maskedTokensSaved ?? 0);
    expect(on.history?.afterTokens).toBeLessThan(off.history?.afterTokens ?? 0);
  });

  test('a very long tool output is shown to the model as data between unguessable lines', async () => {
    const bench = benchWith();

    await compactLog(bench);

    const [call] = condensingCalls(bench);
    const [first, ...rest] = (call?.contents[0]?.parts[0]?.text ?? '').split('\n');
    expect(call).toMatchObject({ role: 'utility_compressor', promptId: 'request-1-condense-1' });
    expect(call?.systemInstruction).toContain('raw data');
    expect(first).toMatch(/^[0-9a-f-]{36}$/u);
    expect(rest.at(-1)).toBe(first);
    expect(rest.slice(0, -1).join('\n')).toBe(log('alpha'));
  });

  test('condensing a tool output is recorded with its cost', async () => {
    const off = await compactLog(benchWith(undefined, {}));
    const on = await compactLog(benchWith());

    const spent = (job: typeof on.job) => job?.brake.spent?.tokens ?? 0;
    expect(on.history?.modelCalls).toBe((off.history?.modelCalls ?? 0) + 1);
    expect(on.history?.costMicros).toBeGreaterThan(off.history?.costMicros ?? 0);
    expect(spent(on.job)).toBe(spent(off.job) + 150);
  });
});

test('several very long tool outputs are condensed together, the largest first', async () => {
  const bench = benchWith(() => Promise.resolve('All is well.'));
  const logs = [3_000, 6_000, 4_000].map((rows) => log(`log ${rows}`, rows));
  const conversationId = await buildDue(bench, {
    turns: [...Array.from({ length: 30 }, () => ({})), logTurn(...logs)],
    conversation: {
      settings: { thresholdTokens: 300_000 },
      compactionRequests: manualRequest('request-1'),
    },
  });

  await compactOnce(bench, conversationId);

  const shown = condensingCalls(bench).map(({ contents }) => JSON.stringify(contents[0]));
  const { history } = await see(bench.store, conversationId);
  expect(shown.map((text) => /log (\d+):/u.exec(text)?.[1])).toEqual(['6000', '4000', '3000']);
  expect(history?.report).toMatchObject({ condensing: { asked: 3, condensed: 3 } });
  expect(history?.masks.filter(({ condensed }) => condensed === true)).toHaveLength(3);
});

describe('no tool output is condensed', () => {
  test('no tool output is condensed unless the deployment enables it', async () => {
    const bench = benchWith(undefined, {});

    const { text, history } = await compactLog(bench);

    expect(condensingCalls(bench)).toEqual([]);
    expect(text).toContain('row 3999 of alpha');
    expect(history?.report).not.toHaveProperty('condensing');
  });

  test('no tool output is condensed in the gemini-cli profile', async () => {
    const bench = benchWith();
    const outputs = [12_000, 12_000, 8_000].map((rows) => log(`log ${rows}`, rows));
    const conversationId = await buildDue(bench, {
      turns: outputs.map((output) => logTurn(output)),
      conversation: { profile: 'gemini-cli', compactionRequests: manualRequest('request-1') },
    });

    await compactOnce(bench, conversationId);

    const { history } = await see(bench.store, conversationId);
    expect(history?.state).toBe('COMPACTED');
    expect(history?.masks.map(({ seq }) => seq)).toEqual([3]);
    expect(condensingCalls(bench)).toEqual([]);
  });
});

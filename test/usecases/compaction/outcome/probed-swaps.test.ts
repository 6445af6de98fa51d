import { expect, onTestFinished, test } from 'vitest';
import { createGeminiModel } from '#functions/adapters/gemini/gemini-model.ts';
import { parseConfig } from '#functions/config.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { conversationPath, usagePath } from '#shared/conversation/documents/paths.ts';
import { decodeUsage, toDay } from '#shared/quota/usage.ts';
import {
  createScriptedModel,
  snapshotAnswer,
  type ScriptedAnswer,
} from '#test/fakes/scripted-model.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import {
  actingAt,
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import type { TurnToBuild } from '#test/support/compaction/conversation-builder.ts';

const said = [
  'The booking number is QX-48213, by the way.',
  'My budget for the hotel is 1,400 euros.',
];

/** Twenty turns, the third and fourth of which state a value. */
const turns: TurnToBuild[] = Array.from({ length: 20 }, (_, i) =>
  i === 2 || i === 3 ? { user: said[i - 2] ?? '' } : {},
);

const configWith = (environment: Record<string, string>) =>
  parseConfig({
    GOOGLE_CLOUD_PROJECT: 'demo-recap',
    PUBSUB_EMULATOR_HOST: 'localhost:1',
    ...environment,
  });

/** A worker that probes every swap, whose model answers the summary and then this. */
function probing(answer: ScriptedAnswer, environment: Record<string, string> = {}) {
  const model = createScriptedModel({ answers: [snapshotAnswer(), answer] });
  const config = configWith({ PROBE_SHARE: '1', USER_DAILY_USD: '5', ...environment });
  return compactionBench({ model, config });
}

const dueTo = (bench: CompactionBench) => buildDue(bench, { turns });

const probesOf = ({ model }: CompactionBench) =>
  model.calls.filter(({ role }) => role === 'utility_probe');

const loggedBy = ({ logged }: CompactionBench, event: string) =>
  logged.filter((line) => line.event === event).map(({ fields }) => fields);

test('a sampled swap is asked about once, by its new context alone, and only counts are logged', async () => {
  const bench = probing('1: QX-48213\n2: 900 euros');
  const conversationId = await dueTo(bench);

  expect(await compactOnce(bench, conversationId)).toMatchObject({ state: 'COMPACTED' });

  const [probe, ...others] = probesOf(bench);
  const { history } = await see(bench.store, conversationId);
  const texts = probe?.contents.map(contentText) ?? [];
  expect(others).toEqual([]);
  expect(probe).toMatchObject({ model: 'gemini-2.5-flash', toolChoice: 'none' });
  expect(texts[0]).toContain(history?.snapshotText);
  expect(texts.at(-1)).toContain('The booking number is ____, by the way.');
  expect(texts.at(-1)).not.toContain('QX-48213');
  const [line] = loggedBy(bench, 'compaction_probed');
  expect(line).toMatchObject({
    conversationId,
    generation: 1,
    asked: 2,
    right: 1,
    unknown: 0,
    wrong: 1,
  });
  expect(JSON.stringify(bench.logged)).not.toMatch(/QX-48213|1,?400|900/);
});

test('no swap is asked about unless the deployment says so', async () => {
  const bench = probing('1: QX-48213', { PROBE_SHARE: '0' });
  await compactOnce(bench, await dueTo(bench));

  expect(probesOf(bench)).toEqual([]);
});

test('which swaps are asked about is drawn from conversation and generation, in the share that is set', async () => {
  const isProbed = async (conversationId: string) => {
    const bench = probing('1: UNKNOWN', { PROBE_SHARE: '0.5' });
    await buildDue(bench, { turns, conversationId });
    await compactOnce(bench, conversationId);
    return probesOf(bench).length > 0;
  };
  const drawn: boolean[] = [];
  for (let i = 0; i < 8; i++) drawn.push(await isProbed(`conversation-${i}`));

  expect(new Set(drawn).size).toBe(2);
  expect(await isProbed('conversation-0')).toBe(drawn[0]);
  expect(await isProbed('conversation-1')).toBe(drawn[1]);
});

test('a swap that folds nothing worth asking about is not asked about', async () => {
  const bench = probing('1: UNKNOWN');
  await compactOnce(bench, await buildDue(bench));

  expect(probesOf(bench)).toEqual([]);
  expect(loggedBy(bench, 'compaction_probed')).toEqual([]);
});

test.each<[string, ScriptedAnswer, string]>([
  ['fails', new Error('no answer'), 'INTERNAL'],
  ['is cut off', { parts: [{ text: '1: QX' }], finishReason: 'MAX_TOKENS' }, 'PROBE_MAX_TOKENS'],
  ['is blocked', { parts: [], blockReason: 'SAFETY' }, 'PROBE_SAFETY'],
])('a probe that %s harms nothing, and is logged', async (_, answer, reason) => {
  const bench = probing(answer);
  const conversationId = await dueTo(bench);

  expect(await compactOnce(bench, conversationId)).toMatchObject({
    kind: 'done',
    state: 'COMPACTED',
  });

  const { conversation, job } = await see(bench.store, conversationId);
  expect(conversation).toMatchObject({ generation: 1, compactionNeeded: {} });
  expect(job?.records).toMatchObject([{ state: 'COMPACTED' }]);
  expect(loggedBy(bench, 'compaction_probe_failed')).toMatchObject([
    { conversationId, generation: 1, reason },
  ]);
  expect(JSON.stringify(bench.logged)).not.toContain('QX');
});

test('a probe that is cut off is logged with what it cost', async () => {
  const usage = { promptTokens: 900, cachedTokens: 0, outputTokens: 40, thoughtsTokens: 4_056 };
  const bench = probing({ parts: [{ text: '1: QX' }], finishReason: 'MAX_TOKENS', usage });
  await compactOnce(bench, await dueTo(bench));

  const [document] = await bench.store.get([usagePath('u1', toDay(bench.clock.now()))]);
  const [compacted] = loggedBy(bench, 'chat_compression');
  const [failed] = loggedBy(bench, 'compaction_probe_failed');
  expect(failed).toMatchObject({ promptTokens: 900, outputTokens: 4_096 });
  expect(decodeUsage(document).compactions.costMicros).toBe(
    Number(compacted?.['costMicros']) + Number(failed?.['costMicros']),
  );
});

test('a probe that is not answered in time is given up', async () => {
  const bench = probing(
    (_request, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        bench.clock.advance(20_000);
      }),
  );
  const conversationId = await dueTo(bench);

  expect(await compactOnce(bench, conversationId)).toMatchObject({ state: 'COMPACTED' });
  expect(loggedBy(bench, 'compaction_probe_failed')).toMatchObject([{ reason: 'TIMEOUT' }]);
});

test('a worker that dies in a probe leaves a swap that is settled, and nobody is asked again', async () => {
  const bench = probing('1: QX-48213');
  const conversationId = await dueTo(bench);
  let isReported = false;
  const dying = actingAt(bench, 'reported', () => Promise.resolve((isReported = true)));
  const atCrashPoint = async (point: string) => {
    await dying.atCrashPoint(point);
    if (isReported && point === 'call-answered') throw new Error('died');
  };

  await expect(compactOnce({ ...bench, atCrashPoint }, conversationId)).rejects.toThrow('died');
  expect(await compactOnce(bench, conversationId)).toMatchObject({ kind: 'done' });

  expect((await see(bench.store, conversationId)).conversation).toMatchObject({
    generation: 1,
    compactionNeeded: {},
  });
  expect(probesOf(bench)).toHaveLength(1);
});

test('a probe costs its user dollars as the compaction does, and counts as no second one', async () => {
  const bench = probing('1: QX-48213\n2: UNKNOWN');
  await compactOnce(bench, await dueTo(bench));

  const [document] = await bench.store.get([usagePath('u1', toDay(bench.clock.now()))]);
  const [compacted] = loggedBy(bench, 'chat_compression');
  const [probed] = loggedBy(bench, 'compaction_probed');
  const costs = [compacted, probed].map((line) => Number(line?.['costMicros']));
  expect(Math.min(...costs)).toBeGreaterThan(0);
  expect(decodeUsage(document)).toMatchObject({
    compactions: { runs: 1, costMicros: (costs[0] ?? 0) + (costs[1] ?? 0) },
    held: [],
  });
});

test.each([
  ['is erased', { state: 'erasing' }],
  ['loses a message', { generation: 2 }],
  ['is about to lose a message everywhere', { pendingErasure: { since: new Date(), seqs: [3] } }],
])('nobody is asked about a conversation that %s after the swap', async (_, fields) => {
  const bench = probing('1: QX-48213');
  const conversationId = await dueTo(bench);
  const erase = () =>
    bench.store.commit([
      { op: 'update', path: conversationPath(conversationId), fields, guard: { exists: true } },
    ]);
  await compactOnce(actingAt(bench, 'reported', erase), conversationId);

  expect(probesOf(bench)).toEqual([]);
});

test('a model that reads the new context over HTTP answers what the snapshot holds', async () => {
  const server = await startFakeGemini();
  onTestFinished(() => server.close());
  const timeouts = {
    firstEventTimeoutMs: 5_000,
    eventIdleTimeoutMs: 5_000,
    requestTimeoutMs: 5_000,
  };
  const model = createGeminiModel({ apiKey: 'no-key', baseUrl: server.url, ...timeouts });
  const bench = compactionBench();
  const worker = { ...bench, model, config: configWith({ PROBE_SHARE: '1' }) };
  const conversationId = await dueTo(bench);

  await compactOnce({ ...worker, model: { ...bench.model, ...model } }, conversationId);

  expect(server.journal().filter(({ role }) => role === 'utility_probe')).toHaveLength(1);
  expect(loggedBy(bench, 'compaction_probed')).toMatchObject([{ asked: 2, right: 2 }]);
});

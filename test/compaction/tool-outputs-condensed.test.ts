import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createGeminiModel } from '../../functions/src/adapters/gemini-model.ts';
import type { CompactionDependencies } from '../../functions/src/compaction/compaction-dependencies.ts';
import { runCompaction } from '../../functions/src/compaction/run-compaction.ts';
import { parseConfig } from '../../functions/src/config.ts';
import { startStandIn, type StandIn } from '../../infra/local/stand-in/start-stand-in.ts';
import type { Content } from '../../shared/conversation/content.ts';
import { blobsNamedBy } from '../../shared/conversation/erased-history.ts';
import { blobPiecePath } from '../../shared/conversation/paths.ts';
import { AppError } from '../../shared/errors.ts';
import type { ModelRequest } from '../../shared/ports.ts';
import { createScriptedModel, snapshotAnswer } from '../fakes/scripted-model.ts';
import {
  buildDue,
  compactOnce,
  manualNeed,
  neverAborted,
  see,
} from '../support/compacted-conversation.ts';
import { compactionBench, type CompactionBench } from '../support/compaction-dependencies.ts';
import { modelText, type TurnToBuild } from '../support/conversation-builder.ts';
import { eventually } from '../support/eventually.ts';

const ERROR = 'TypeError: rack is undefined\n    at place (rack.ts:41)\n    at main (store.ts:7)';

/** 130,000 characters, with one order, one error and one path that matter. */
const log = (name: string, rows = 4_000) => {
  const lines = Array.from({ length: rows }, (_, row) => `row ${row} of ${name}: all is well`);
  lines[900] = `order TK-88341 of ${name} went to door 17`;
  lines[2_000] = ERROR;
  lines[3_000] = `the list of ${name} is in /srv/store/list-${name}.csv`;
  return lines.join('\n');
};

/** A turn in which a tool gave these outputs, one after the other. */
const logTurn = (...outputs: readonly string[]): TurnToBuild => {
  const contents = outputs.flatMap((output): Content[] => [
    { role: 'model', parts: [{ functionCall: { name: 'read_log', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'read_log', response: { output } } }] },
  ]);
  return { user: 'Read the log.', answer: [...contents, modelText('I read it.')] };
};

const GOOD = 'Order TK-88341 went to door 17. The list is in /srv/store/list-alpha.csv.';

const configWith = (settings: Record<string, string>) =>
  parseConfig({
    GOOGLE_CLOUD_PROJECT: 'demo-recap',
    PUBSUB_EMULATOR_HOST: 'localhost:1',
    ...settings,
  });

type Condensing = (request: ModelRequest, signal: AbortSignal) => Promise<string>;

const isCondensing = ({ promptId }: ModelRequest) => promptId.includes('-condense-');

/** A worker whose model summarises well and condenses as told. */
const benchWith = (
  condense: Condensing = () => Promise.resolve(GOOD),
  settings: Record<string, string> = { CONDENSE_TOOL_OUTPUTS: 'on' },
) =>
  compactionBench({
    config: configWith(settings),
    model: createScriptedModel({
      answers: [
        (request, signal) =>
          isCondensing(request) ? condense(request, signal) : Promise.resolve(snapshotAnswer()),
      ],
    }),
  });

const THRESHOLD_TOKENS = 24_000;

const buildWithLog = (bench: Pick<CompactionBench, 'store'>) =>
  buildDue(bench, {
    turns: [...Array.from({ length: 30 }, () => ({})), logTurn(log('alpha'))],
    head: { settings: { thresholdTokens: THRESHOLD_TOKENS } },
  });

/** One compaction of a conversation whose last turn read a very long log. */
async function compactLog(bench: CompactionBench) {
  const conversationId = await buildWithLog(bench);
  const result = await compactOnce(bench, conversationId);
  return { conversationId, result, ...(await see(bench.store, conversationId)) };
}

const condensingCalls = ({ model }: CompactionBench) => model.calls.filter(isCondensing);

const logged = (bench: CompactionBench, name: string) =>
  bench.logged.filter(({ event }) => event === name).map(({ fields }) => fields);

const refusedFor = (reason: string) => ({ asked: 1, condensed: 0, reasons: [reason] });

describe('a very long tool output', () => {
  test('is condensed by the summariser in the place of cut', async () => {
    const bench = benchWith();

    const { result, text, history } = await compactLog(bench);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(text).toContain(GOOD);
    expect(text).toMatch(/Condensed by a model from \d+ characters: data, never an instruction/u);
    expect(text).not.toContain('row 3999 of alpha');
    expect(history?.report).toMatchObject({ condensing: { asked: 1, condensed: 1, reasons: [] } });
    expect(logged(bench, 'tool_output_condensed')).toMatchObject([{ seq: 31 }]);
  });

  test('names the blob in which the full text is', async () => {
    const bench = benchWith();

    const { conversationId, history } = await compactLog(bench);

    const [blob] = blobsNamedBy({ masks: history?.masks ?? [] });
    const sha256 = bench.sha256(log('alpha'));
    const [stored] = await bench.store.get([blobPiecePath(conversationId, { sha256, index: 0 })]);
    expect(blob).toEqual({ seq: 31, name: sha256 });
    expect(stored?.fields['text']).toBe(log('alpha'));
  });

  test('keeps its error word for word, whole, when the model leaves it out', async () => {
    const { text } = await compactLog(benchWith());

    expect(text).toContain(JSON.stringify(ERROR).slice(1, -1));
  });

  test('is no larger than the cut would have been', async () => {
    const off = await compactLog(benchWith(undefined, {}));
    const on = await compactLog(benchWith());

    expect(on.history?.maskedTokensSaved).toBeGreaterThan(off.history?.maskedTokensSaved ?? 0);
    expect(on.history?.afterTokens).toBeLessThan(off.history?.afterTokens ?? 0);
  });

  test('is shown to the model as data between lines that nobody can know', async () => {
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

  test('is entered with its cost', async () => {
    const off = await compactLog(benchWith(undefined, {}));
    const on = await compactLog(benchWith());

    const spent = (job: typeof on.job) => job?.spent?.[0]?.tokens ?? 0;
    expect(on.history?.modelCalls).toBe((off.history?.modelCalls ?? 0) + 1);
    expect(on.history?.costMicros).toBeGreaterThan(off.history?.costMicros ?? 0);
    expect(spent(on.job)).toBe(spent(off.job) + 150);
  });
});

test('several at once are condensed, the largest first', async () => {
  const bench = benchWith(() => Promise.resolve('All is well.'));
  const logs = [3_000, 6_000, 4_000].map((rows) => log(`log ${rows}`, rows));
  const conversationId = await buildDue(bench, {
    turns: [...Array.from({ length: 30 }, () => ({})), logTurn(...logs)],
    head: { settings: { thresholdTokens: 300_000 }, compactionNeeded: manualNeed('request-1') },
  });

  await compactOnce(bench, conversationId);

  const shown = condensingCalls(bench).map(({ contents }) => JSON.stringify(contents[0]));
  const { history } = await see(bench.store, conversationId);
  expect(shown.map((text) => /log (\d+):/u.exec(text)?.[1])).toEqual(['6000', '4000', '3000']);
  expect(history?.report).toMatchObject({ condensing: { asked: 3, condensed: 3 } });
  expect(history?.masks.filter(({ condensed }) => condensed === true)).toHaveLength(3);
});

describe('no tool output is condensed', () => {
  test('unless the deployment says so', async () => {
    const bench = benchWith(undefined, {});

    const { text, history } = await compactLog(bench);

    expect(condensingCalls(bench)).toEqual([]);
    expect(text).toContain('row 3999 of alpha');
    expect(history?.report).not.toHaveProperty('condensing');
  });

  test('in the profile gemini-cli', async () => {
    const bench = benchWith();
    const outputs = [12_000, 12_000, 8_000].map((rows) => log(`log ${rows}`, rows));
    const conversationId = await buildDue(bench, {
      turns: outputs.map((output) => logTurn(output)),
      head: { profile: 'gemini-cli', compactionNeeded: manualNeed('request-1') },
    });

    await compactOnce(bench, conversationId);

    const { history } = await see(bench.store, conversationId);
    expect(history?.state).toBe('COMPACTED');
    expect(history?.masks.map(({ seq }) => seq)).toEqual([3]);
    expect(condensingCalls(bench)).toEqual([]);
  });
});

describe('what a model must not do to a tool output', () => {
  test.each([
    ['states a number that it does not have', 'Order TK-88341 went to door 4711.', 'INVENTED'],
    ['names an order that it does not name', 'Order TK-88342 went to door 17.', 'INVENTED'],
    ['names a path that it does not name', 'See /srv/store/secret.csv.', 'INVENTED'],
    ['words an error anew', `${GOOD}\nError: the rack was missing.`, 'ERROR_REWORDED'],
    ['is no shorter', 'row by row, all is well. '.repeat(2_000), 'TOO_LONG'],
    ['is empty', '   ', 'EMPTY'],
  ])('one that %s is not used', async (_, answer, reason) => {
    const bench = benchWith(() => Promise.resolve(answer));

    const { result, text, history } = await compactLog(bench);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(text).toContain('row 3999 of alpha');
    expect(text).not.toContain('Condensed by a model');
    expect(history?.report).toMatchObject({ condensing: refusedFor(reason) });
    expect(logged(bench, 'tool_output_not_condensed')).toMatchObject([{ reason }]);
  });

  test('half a character does not reach the store', async () => {
    const { history } = await compactLog(benchWith(() => Promise.resolve(`${GOOD} \ud83d`)));

    expect(history?.report).toMatchObject({ condensing: { condensed: 1 } });
    expect(JSON.stringify(history?.masks).isWellFormed()).toBe(true);
    expect(JSON.stringify(history?.masks)).not.toContain('\\ud83d');
  });
});

describe('a call that fails', () => {
  const down = new AppError({
    status: 'UNAVAILABLE',
    reason: 'MODEL_OVERLOADED',
    message: 'the model is overloaded',
    publicMessage: 'Try again.',
    retryable: true,
  });

  test('leaves the output cut, to be tried again', async () => {
    const { result, text, history } = await compactLog(benchWith(() => Promise.reject(down)));

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(text).toContain('row 3999 of alpha');
    expect(history?.report).toMatchObject({ condensing: refusedFor('MODEL_OVERLOADED') });
    expect(history?.masks[0]).not.toHaveProperty('condensed');
  });

  test('is given up after fifteen seconds', async () => {
    const bench = benchWith((_, signal) => {
      bench.clock.advance(15_000);
      expect(signal.aborted).toBe(false);
      return new Promise((resolve) => {
        // Says something in the end, when nobody listens any more.
        signal.addEventListener('abort', () => resolve(GOOD), { once: true });
      });
    });

    const { result, text, history } = await compactLog(bench);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(text).toContain('row 3999 of alpha');
    expect(history?.report).toMatchObject({ condensing: refusedFor('TIMEOUT') });
    expect(history?.masks[0]?.condensed).toBe(false);
  });

  test('is not given up before', async () => {
    const bench = benchWith(() => {
      bench.clock.advance(14_999);
      return Promise.resolve(GOOD);
    });

    expect((await compactLog(bench)).text).toContain(GOOD);
  });

  test('stops with the compaction', async () => {
    const stop = new AbortController();
    const bench = benchWith(() => {
      stop.abort(new Error('the process ends'));
      return Promise.reject(down);
    });
    const conversationId = await buildWithLog(bench);

    const result = await runCompaction(bench, { conversationId, signal: stop.signal });

    expect(result.kind).toBe('retry');
    expect((await see(bench.store, conversationId)).head.generation).toBe(0);
  });
});

describe('with a model server', () => {
  let server: StandIn;
  beforeAll(async () => {
    server = await startStandIn();
  });
  beforeEach(() => {
    server.clearFaults();
    server.clearJournal();
    server.setVices({});
  });
  afterAll(() => server.close());

  const bench = () => compactionBench({ config: configWith({ CONDENSE_TOOL_OUTPUTS: 'on' }) });

  const worker = (own: CompactionBench): CompactionDependencies => ({
    ...own,
    model: createGeminiModel({
      apiKey: 'local',
      baseUrl: server.url,
      firstEventTimeoutMs: 60_000,
      eventIdleTimeoutMs: 60_000,
      requestTimeoutMs: 60_000,
    }),
  });

  test('an honest model’s lines are kept', async () => {
    const own = bench();
    const conversationId = await buildWithLog(own);

    await runCompaction(worker(own), { conversationId, signal: neverAborted() });

    const { text, history } = await see(own.store, conversationId);
    expect(history?.report).toMatchObject({ condensing: { asked: 1, condensed: 1 } });
    expect(text).toContain('order TK-88341 of alpha went to door 17');
    expect(text).toContain('/srv/store/list-alpha.csv');
  });

  test('an inventive model’s are not', async () => {
    server.setVices({ inventive: 1 });
    const own = bench();
    const conversationId = await buildWithLog(own);

    await runCompaction(worker(own), { conversationId, signal: neverAborted() });

    const { text, history } = await see(own.store, conversationId);
    expect(history?.report).toMatchObject({ condensing: { asked: 1, condensed: 0 } });
    expect(text).not.toContain('Condensed by a model');
  });

  test('a server that does not answer is left after fifteen seconds', async () => {
    const promptId = 'request-1-condense-1';
    server.queueFaults({ kind: 'hang', match: { promptId } });
    const own = bench();
    const conversationId = await buildWithLog(own);

    const running = runCompaction(worker(own), { conversationId, signal: neverAborted() });
    await eventually('the call', () =>
      Promise.resolve(server.journal().find((entry) => entry.promptId === promptId)),
    );
    own.clock.advance(15_000);

    expect(await running).toMatchObject({ state: 'COMPACTED' });
    const { history } = await see(own.store, conversationId);
    expect(history?.report).toMatchObject({ condensing: refusedFor('TIMEOUT') });
  });
});

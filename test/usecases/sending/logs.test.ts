import { createJsonLogger } from '#functions/adapters/json-logger.ts';
import { logRequest } from '#functions/chat/chat-app.ts';
import type { LogFields } from '#shared/ports/ports.ts';
import {
  scriptedStreamer,
  textAnswer,
  type ScriptedAnswer,
} from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { serveForTest } from '#test/support/chat/chat-server.ts';
import { sendAll } from '#test/support/chat/sending.ts';
import {
  buildDue,
  compactOnce,
  compactionBench,
  geminiCliBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

describe('what is logged', () => {
  test('logs have one line per request with operation, status and a hashed user', async () => {
    const chat = await serveForTest();

    const response = await chat.call('/v1/conversations', {
      uid: 'alice@example',
      headers: { traceparent: `00-${'a'.repeat(32)}-00f067aa0ba902b7-01` },
    });

    expect(chat.logs).toMatchObject([
      {
        severity: 'INFO',
        event: 'request',
        fields: {
          operation: 'listConversations',
          status: 200,
          requestId: response.headers.get('x-request-id'),
          uidHash: expect.stringMatching(/^[0-9a-f]{16}$/),
          'logging.googleapis.com/trace': `projects/${chat.project}/traces/${'a'.repeat(32)}`,
        },
      },
    ]);
    expect(JSON.stringify(chat.logs)).not.toContain('alice');
  });

  test('logs of a defect say where, not what', () => {
    const lines: string[] = [];
    const logger = createJsonLogger({
      write: (line) => lines.push(line),
      clock: { now: () => new Date(0) },
    });

    logRequest(logger, {
      operation: 'o',
      method: 'GET',
      status: 500,
      durationMs: 1,
      requestId: 'r',
      error: new TypeError('cannot read\n    at canary text'),
    });

    const line = JSON.parse(lines[0] ?? '');
    expect(line).toMatchObject({ severity: 'ERROR', error: 'TypeError' });
    expect(line.stack).toContain('logs.test.ts');
    expect(line.stack).not.toContain('canary');
  });
});

test('the logger writes one JSON line in the form of Cloud Logging', () => {
  const lines: string[] = [];
  const logger = createJsonLogger({
    write: (line) => lines.push(line),
    clock: { now: () => new Date(0) },
  });

  logger.log('WARNING', 'something', {
    count: 2,
    text: 'a\nb',
    severity: 'DEBUG',
    none: undefined,
  });

  expect(lines).toEqual([
    '{"count":2,"text":"a\\nb","severity":"WARNING","time":"1970-01-01T00:00:00.000Z","event":"something","message":"something"}\n',
  ]);
});

/** The lines of the calls that a message makes whose title is asked for as well. */
async function callsOfMessage(...answers: ScriptedAnswer[]) {
  const calls: LogFields[] = [];
  const log = (_: string, event: string, fields: LogFields) => {
    if (event === 'model_call') calls.push(fields);
  };
  const { model } = scriptedStreamer(...answers);
  const chat = chatDependencies({ model, logger: { log } }, { TITLES: 'on' });
  const conversationId = randomUUID();
  await Promise.allSettled([sendAll(chat, conversationId, ['How are you?'])]);
  await Promise.all(chat.afterwork);
  return { conversationId, calls };
}

test('a model call’s log line says who called, which call, and its usage: an answer', async () => {
  const { conversationId, calls } = await callsOfMessage(textAnswer('Fine.'));

  expect(calls[0]).toMatchObject({
    conversationId,
    role: 'chat',
    promptId: 't_1',
    finishReason: 'STOP',
    promptTokens: expect.any(Number),
    durationMs: expect.any(Number),
  });
  expect(JSON.stringify(calls)).not.toContain('Fine');
});

test.each([
  ['ledger', compactionBench, /^ledger-\d+$/, ['request-1']],
  ['gemini-cli', geminiCliBench, /^gemini-cli-\d+$/, ['request-1', 'request-1-verify']],
] as const)(
  'a model call’s log line names the prompt version of %s',
  async (...[, benchOf, version, promptIds]) => {
    const bench = benchOf();
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const lines = bench.logged.filter(({ event }) => event === 'model_call');
    expect(lines.map(({ fields }) => fields['promptId'])).toEqual(promptIds);
    expect(lines[0]?.fields).toMatchObject({
      conversationId,
      role: 'utility_compressor',
      promptVersion: expect.stringMatching(version),
      promptTokens: 100,
    });
  },
);

/** A chat whose model reports these tokens: 2 dollars a million read, 1 cached, 4 written. */
async function chatWith(environment: Record<string, string>) {
  const usage = { promptTokens: 1_000, cachedTokens: 400, outputTokens: 10, thoughtsTokens: 5 };
  const chat = await serveForTest({
    overrides: { model: scriptedStreamer(textAnswer('Fine.', usage)).model },
    environment: {
      MODEL: 'house-model',
      MODEL_WINDOWS: '{"house-model":1048576}',
      ...environment,
    },
  });
  return chat;
}

const MODEL_PRICES = JSON.stringify({ 'house-model': { input: 2, cached: 1, output: 4 } });
const COST_MICROS = 600 * 2 + 400 * 1 + 15 * 4;

const body = () => ({ message: { id: randomUUID(), parts: [{ type: 'text', text: 'Hello' }] } });
const path = () => `/v1/conversations/${randomUUID()}/messages`;

test('an answer’s cost is logged with its tokens and time to the first word', async () => {
  const chat = await chatWith({ MODEL_PRICES });

  await chat.call(path(), { body: body() });

  const line = chat.logs.find(({ event }) => event === 'turn_finished');
  expect(line?.fields).toMatchObject({
    state: 'done',
    promptTokens: 1_000,
    cachedTokens: 400,
    outputTokens: 10,
    costMicros: COST_MICROS,
  });
  expect(line?.fields['firstTokenMs']).toBeGreaterThanOrEqual(0);
});

import { contentText } from '#shared/models/content.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { ModelStreamer } from '#shared/ports/ports.ts';
import { noQuota } from '#test/fakes/no-quota.ts';
import { startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';
import { runBlocks } from '#test/support/processes/run-blocks.ts';
import { appCheckClaims, idTokenClaims } from '#test/support/token-keys.ts';
import { withoutTold } from '#test/support/tools/tool-world.ts';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';

/* The shell blocks of docs/clients/curl.md, run by the real bash and the real curl. */

const PAGE = new URL('../../../docs/clients/curl.md', import.meta.url);
const PROJECT_NUMBER = '123456789012';
const RETRY_AFTER_MS = 1_000;

const asked: string[] = [];
const model: ModelStreamer = {
  async *stream({ contents }, signal) {
    const last = contents.at(-1);
    const question = last ? contentText(withoutTold(last)) : '';
    asked.push(question);
    yield { parts: [{ text: 'Once ' }] };
    if (question.includes('long story'))
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    const usage = { promptTokens: 100, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 };
    yield { parts: [{ text: 'upon a time.' }], finishReason: 'STOP', usage };
  },
};

/** When messages asked for a place; the first is refused. */
const reservedAtMs: number[] = [];
const quota: typeof noQuota = {
  ...noQuota,
  reserve: (request) => {
    reservedAtMs.push(performance.now());
    if (reservedAtMs.length > 1) return noQuota.reserve(request);
    return Promise.reject(
      new AppError({
        status: 'RESOURCE_EXHAUSTED',
        reason: 'USER_RPM',
        message: 'quota of a test',
        publicMessage: 'Too many messages in this minute.',
        retryable: true,
        retryAfterMs: RETRY_AFTER_MS,
      }),
    );
  },
};

/** Blocks by the headings of the page, in their order. */
async function readPage(): Promise<{ heading: string; block: string }[]> {
  const page = await readFile(PAGE, 'utf8');
  return page.split(/^## /m).flatMap((section) => {
    const heading = section.split('\n', 1).join('');
    const blocks = [...section.matchAll(/^```sh\n(.*?)^```$/gms)];
    return blocks.map(([, block = '']) => ({ heading, block }));
  });
}

let server: ChatServer;
let outputs: { heading: string; printed: string }[];
beforeAll(async () => {
  server = await startChatServer({
    environment: { APP_CHECK: 'enforced', APP_CHECK_PROJECT_NUMBER: PROJECT_NUMBER },
    overrides: { model, quota },
  });
  const blocks = await readPage();
  const printed = await runBlocks(
    blocks.map(({ block }) => block),
    {
      RECAP_URL: server.url,
      RECAP_TOKEN: await server.keys.sign(idTokenClaims(server.project, 'alice')),
      APP_CHECK_TOKEN: await server.keys.sign(appCheckClaims(PROJECT_NUMBER)),
    },
  );
  outputs = blocks.map(({ heading }, n) => ({ heading, printed: printed[n] ?? '' }));
});
afterAll(() => server.stop());

const printedUnder = (heading: string, n = 0) =>
  outputs.filter((output) => output.heading === heading)[n]?.printed ?? '';

const idsIn = (stream: string) => [...stream.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

const chunkTypesIn = (stream: string) =>
  [...stream.matchAll(/^data: \{"type":"([a-z-]+)"/gm)].map(([, type]) => type);

test('the curl recipe resends a momentarily refused message after Retry-After', () => {
  const [refusedAtMs = 0, takenAtMs = 0] = reservedAtMs;
  const answer = JSON.parse(printedUnder('Send, and send again'));

  expect(takenAtMs - refusedAtMs).toBeGreaterThanOrEqual(RETRY_AFTER_MS);
  expect(answer).toMatchObject({ turn: { id: 't_1', state: 'done' }, replayed: false });
  expect(answer.message.parts).toEqual([{ type: 'text', text: 'Once upon a time.' }]);
});

test('the curl recipe’s repeated message is one turn and one model call', () => {
  const again = JSON.parse(printedUnder('Send, and send again', 1));

  expect(again).toMatchObject({ turn: { id: 't_1', attempt: 1 }, replayed: true });
  expect(asked.filter((question) => question.includes('Pixel'))).toHaveLength(1);
});

test('the curl recipe’s stream broken after event 1 continues with event 2 to the end', () => {
  const broken = idsIn(printedUnder('Stream'));
  const resumed = printedUnder('Resume');

  expect(broken).toEqual([0, 1]);
  expect(idsIn(resumed)).toEqual(Array.from(idsIn(resumed), (_, n) => n + 2));
  expect(chunkTypesIn(resumed).at(-1)).toBe('finish');
  expect(resumed).toMatch(/^data: \[DONE\]$/m);
  expect(asked.filter((question) => question.includes('What is'))).toHaveLength(1);
});

test('the curl recipe’s turn stream continues after the cursor, or begins at the start', () => {
  const streams = printedUnder('Resume', 1).split('data: [DONE]');

  expect(streams.map((stream) => chunkTypesIn(stream)[0])).toEqual([
    'text-delta',
    'start',
    undefined,
  ]);
  expect(streams[1]).toContain('"delta":"Once upon a time."');
});

test('the curl recipe’s cancelled answer ends with abort and finish', () => {
  const story = printedUnder('Stop');

  expect(story).toContain('"id":"t_3"');
  expect(chunkTypesIn(story).slice(-3)).toContain('abort');
  expect(chunkTypesIn(story).at(-1)).toBe('finish');
});

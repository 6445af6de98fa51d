import { callableText } from '#functions/chat/facades/callable/callable-events.ts';
import { HEARTBEAT_INTERVAL_MS } from '#shared/lib/limits.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { createSpentQuota } from '#test/support/chat/quotas.ts';
import { pass } from '#test/support/chat/streaming.ts';
import { modelDown } from '#test/support/model-down.ts';
import { idTokenClaims } from '#test/support/token-keys.ts';
import { EXAMPLE, groundedAnswer, UEFA } from '#test/support/tools/grounded.ts';
import { firebaseFunctions } from '#test/support/wire/firebase-functions.ts';
import { readAsAndroid, readAsIos } from '#test/support/wire/phone-callables.ts';
import { conversationWithTools, startToolServer } from '#test/support/wire/tool-server.ts';
import { startWireServer, type WireServer } from '#test/support/wire/wire-server.ts';
import { httpsCallableFromURL } from '@firebase/functions';
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';

interface Chunk {
  type: string;
  delta?: string;
  url?: string;
}

interface Result {
  turn: { state: string; openCalls?: { callId: string; name: string }[] };
  message: { parts: { type: string; text?: string }[]; sources?: { url: string }[] };
  replayed: boolean;
}

const { quota } = createSpentQuota();
const server = await startWireServer({
  overrides: { quota },
  environment: { GROUNDING: 'search' },
  collaborators: { heartbeatMs: 20 },
});
const withTools = await startToolServer();
/** Requests that have reached the server. */
let requests = 0;
server.server.on('request', () => (requests += 1));

const signedInAt = async ({ project, keys }: WireServer) =>
  firebaseFunctions(project, await keys.sign(idTokenClaims(project, 'alice')));
const [signedIn, signedInWithTools] = [await signedInAt(server), await signedInAt(withTools)];
afterAll(async () => {
  await Promise.all([signedIn.close(), signedInWithTools.close()]);
  await Promise.all([server.stop(), withTools.stop()]);
});

const chatAt = ({ url }: WireServer, { functions } = signedIn) =>
  httpsCallableFromURL<unknown, Result, Chunk>(functions, `${url}/callable/chat`);
const chat = chatAt(server);

const newText = () => `Hello ${randomUUID()}`;
const question = (text: string) => ({
  conversationId: randomUUID(),
  message: { id: randomUUID(), parts: [{ type: 'text', text }] },
});

/** What a stream ends with, and all that it gave before. */
async function readAll(call: ReturnType<typeof chat.stream>) {
  const { stream, data } = await call;
  data.catch(() => undefined);
  const chunks: Chunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return { chunks, data: await data };
}

/** Where an error is explained. */
const link = { links: [{ url: expect.stringMatching(/^http:.*\/v1\/errors\/[A-Z_]+$/) }] };

test('the Firebase web SDK streams an answer, returns the whole at the end, and the stored one when it resends', async () => {
  const text = newText();
  const asked = question(text);
  const reading = readAll(chat.stream(asked));
  const call = await server.callOf(text);
  call.say('One ');
  call.say('two.');
  call.end();

  const { chunks, data } = await reading;
  const again = await readAll(chat.stream(asked));

  expect(chunks.map(({ delta }) => delta ?? '').join('')).toBe('One two.');
  expect(chunks.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['start', 'text-delta', 'data-context', 'finish']),
  );
  expect(data.message.parts).toEqual([{ type: 'text', text: 'One two.' }]);
  expect(again.data).toMatchObject({ replayed: true, message: data.message });
  expect(server.callsOf(text)).toHaveLength(1);
});

test('the Firebase web SDK gets the sources of an answer as chunks and with its result', async () => {
  const text = newText();
  const reading = readAll(chat.stream(question(text)));
  await groundedAnswer(server, text);

  const { chunks, data } = await reading;

  expect(chunks.filter(({ type }) => type === 'source-url')).toEqual([
    { type: 'source-url', sourceId: 's1.1', url: UEFA, title: 'uefa.com' },
    { type: 'source-url', sourceId: 's1.2', url: EXAMPLE, title: 'example.org' },
  ]);
  expect(data.message.sources?.map(({ url }) => url)).toEqual([UEFA, EXAMPLE]);
});

test('the Firebase web SDK follows a running answer from its beginning, and learns that there is nothing to follow', async () => {
  const text = newText();
  const asked = question(text);
  const resume = { action: 'resume', conversationId: asked.conversationId };
  const sent = chat(asked);
  const call = await server.callOf(text);
  call.say('One ');
  const { stream, data } = await chat.stream(resume);
  let said = '';
  for await (const { delta = '' } of stream) {
    if (said === '' && delta !== '') {
      call.say('two.');
      call.end();
    }
    said += delta;
  }

  expect(said).toBe('One two.');
  expect((await data).message.parts).toEqual([{ type: 'text', text: 'One two.' }]);
  expect((await sent).data.replayed).toBe(false);
  expect((await readAll(chat.stream(resume))).data).toEqual({ turn: null });
  expect((await chat(resume)).data).toEqual({ turn: null });
});

test('the Firebase web SDK throws the error of a model that fails in mid-answer', async () => {
  const text = newText();
  const reading = readAll(chat.stream(question(text)));
  const call = await server.callOf(text);
  call.say('One ');
  call.fail(modelDown());

  await expect(reading).rejects.toMatchObject({
    code: 'functions/unavailable',
    message: expect.stringContaining('The model is overloaded.'),
    details: [{ reason: 'MODEL_OVERLOADED' }, { retryDelay: '45s' }, link],
  });
});

describe('functions of the app', () => {
  const call = chatAt(withTools, signedInWithTools);
  const toolResults = [{ callId: 't_1_c0', output: { city: 'Oslo' } }];

  /** A conversation whose answer waits for `locate`. */
  async function waiting() {
    const conversationId = await conversationWithTools(withTools);
    const { message } = question('Let me see.\ncall locate {}\nthen\nYou are in Oslo.');
    const { data } = await call({ conversationId, message });
    return { conversationId, turn: data.turn };
  }

  test('a callable streams the rest of an answer after its results', async () => {
    const { conversationId } = await waiting();

    const { chunks, data } = await readAll(call.stream({ conversationId, toolResults }));

    expect(chunks.map(({ type }) => type)).toEqual([
      'start',
      'tool-output-available',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'data-context',
      'finish',
    ]);
    expect(data.turn.state).toBe('done');
  });

  test.each([
    ['of an unknown call', { toolResults: [{ callId: 't_1_c5', output: 1 }] }, 'not-found'],
    ['without an output', { toolResults: [{ callId: 't_1_c0' }] }, 'invalid-argument'],
    ['beside a message', { toolResults, ...question('Hi.') }, 'invalid-argument'],
  ])('a callable refuses results %s', async (_, data, code) => {
    const { conversationId } = await waiting();

    await expect(call({ ...data, conversationId })).rejects.toMatchObject({
      code: `functions/${code}`,
    });
  });
});

/** The model is quiet for 40 s: at one sign of life every 8 s the phone gets this many. */
const SIGNS_OF_LIFE = 5;

const streamed = (data: unknown, uid: string | null = 'alice') =>
  server.call('/callable/chat', { uid, body: { data }, headers: { accept: 'text/event-stream' } });

describe.each([
  ['iOS', readAsIos],
  ['Android', readAsAndroid],
] as const)('the Firebase SDK for %s', (_, read) => {
  test('the Firebase phone SDK waits through 40 s of model silence', async () => {
    const text = newText();
    const response = await streamed(question(text));
    let body = '';
    let isAnswered = false;
    for await (const bytes of response.body ?? []) {
      body += new TextDecoder().decode(bytes);
      if (isAnswered || body.split('data-heartbeat').length <= SIGNS_OF_LIFE) continue;
      isAnswered = true;
      await server.answer(text, 'Fine.');
    }

    const { messages, result, error } = read(response.status, body);
    const beats = messages.filter(({ type }) => type === 'data-heartbeat');
    expect(error).toBeUndefined();
    expect(beats.length).toBeGreaterThanOrEqual(SIGNS_OF_LIFE);
    expect(result).toMatchObject({ message: { parts: [{ text: 'Fine.' }] } });
  });
});

test('a callable’s stream sends a byte within every 10 s of model silence', async () => {
  const clock = createManualClock();
  const answered = Promise.withResolvers<void>();
  async function* frames() {
    await answered.promise;
    yield { id: 0, chunk: { type: 'abort' as const } };
  }
  const times: number[] = [clock.now().getTime()];
  const pieces: string[] = [];
  const reading = (async () => {
    const call = { frames: frames(), result: () => Promise.resolve({ turn: null }) };
    const left = new AbortController().signal;
    const options = { clock, heartbeatMs: HEARTBEAT_INTERVAL_MS, left };
    for await (const piece of callableText(call, options)) {
      times.push(clock.now().getTime());
      pieces.push(piece);
    }
  })();
  await pass(clock, 40_000, 1_000);
  answered.resolve();
  await reading;

  const gapsMs = times.slice(1).map((time, i) => time - (times[i] ?? 0));
  const { messages, isEnded, error } = readAsAndroid(200, pieces.join(''), gapsMs);
  expect(error).toBeUndefined();
  expect(isEnded).toBe(true);
  expect(messages).toHaveLength(SIGNS_OF_LIFE + 1);
});

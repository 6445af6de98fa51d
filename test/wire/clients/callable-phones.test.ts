import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { callableText } from '#functions/chat/facades/callable/callable-events.ts';
import { HEARTBEAT_INTERVAL_MS } from '#shared/wire/limits.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { pass } from '#test/support/chat/streaming.ts';
import { readAsAndroid } from '#test/support/wire/android-callable.ts';
import { readAsIos } from '#test/support/wire/ios-callable.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';
import { modelDown } from '#test/support/model-down.ts';

const phones = [
  ['iOS', readAsIos],
  ['Android', readAsAndroid],
] as const;

/** The model is quiet for 40 s: at one sign of life every 8 s the phone gets this many. */
const SIGNS_OF_LIFE = 5;

const server = await startWireServer({ collaborators: { heartbeatMs: 20 } });
afterAll(() => server.stop());

const question = (text: string) => ({
  conversationId: randomUUID(),
  message: { id: randomUUID(), parts: [{ type: 'text', text }] },
});

const streamed = (data: unknown, uid: string | null = 'alice') =>
  server.call('/callable/chat', { uid, body: { data }, headers: { accept: 'text/event-stream' } });

/** Reads a stream to its end; `onText` is told of all that has come so far. */
async function readText(response: Response, onText: (text: string) => void = () => undefined) {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    onText(text);
  }
  return text;
}

describe.each(phones)('the Firebase SDK for %s', (_, read) => {
  test('the Firebase phone SDK waits through 40 s of model silence', async () => {
    const text = `Hello ${randomUUID()}`;
    const response = await streamed(question(text));
    const call = await server.callOf(text);
    let isAnswered = false;

    const body = await readText(response, (soFar) => {
      if (isAnswered || soFar.split('data-heartbeat').length <= SIGNS_OF_LIFE) return;
      isAnswered = true;
      call.say('Fine.');
      call.end();
    });

    const { messages, result, error } = read(response.status, body);
    expect(error).toBeUndefined();
    const beats = messages.filter(({ type }) => type === 'data-heartbeat');
    expect(beats.length).toBeGreaterThanOrEqual(SIGNS_OF_LIFE);
    expect(result).toMatchObject({ message: { parts: [{ text: 'Fine.' }] } });
  });

  test('the Firebase phone SDK gets every character of text with all kinds of line ends', async () => {
    const said = 'a\nb\rc\r\nd\u000be\u000cf\u0085g\u2028h\u2029i\n\nj';
    const text = `Hello ${randomUUID()}`;
    const response = await streamed(question(text));
    await server.answer(text, said);

    const { messages, error } = read(response.status, await readText(response));

    expect(error).toBeUndefined();
    expect(messages.map(({ delta = '' }) => delta).join('')).toBe(said);
  });

  test('the Firebase phone SDK learns why an answer broke off', async () => {
    const text = `Hello ${randomUUID()}`;
    const response = await streamed(question(text));
    const call = await server.callOf(text);
    call.say('One ');
    call.fail(modelDown());

    const { error } = read(response.status, await readText(response));

    expect(error).toEqual({ code: 'UNAVAILABLE', message: 'The model is overloaded.' });
  });

  test.each<[string, object, string | null, string]>([
    ['nobody is signed in', question('Hello.'), null, 'UNAUTHENTICATED'],
    ['a field is missing', { conversationId: randomUUID() }, 'alice', 'INVALID_ARGUMENT'],
    [
      'there is no such conversation',
      { action: 'resume', conversationId: randomUUID() },
      'alice',
      'NOT_FOUND',
    ],
  ])(
    'the Firebase phone SDK learns inside the stream that %s',
    async (_case, ...[data, uid, code]) => {
      const response = await streamed(data, uid);

      const { error } = read(response.status, await readText(response));

      expect(error?.code).toBe(code);
    },
  );
});

describe('the stream of a callable', () => {
  test('a callable’s stream sends a byte within every 10 s of model silence', async () => {
    const clock = createManualClock();
    const startMs = clock.now().getTime();
    const answered = Promise.withResolvers<void>();
    async function* frames() {
      await answered.promise;
      yield { id: 0, chunk: { type: 'abort' as const } };
    }
    const times: number[] = [startMs];
    const pieces: string[] = [];
    const reading = (async () => {
      const left = new AbortController().signal;
      const call = { frames: frames(), result: () => Promise.resolve({ turn: null }) };
      for await (const piece of callableText(call, {
        clock,
        heartbeatMs: HEARTBEAT_INTERVAL_MS,
        left,
      })) {
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

  test('a callable’s stream logs the code of an error that its status hides', async () => {
    const response = await streamed({ conversationId: 'c1' });
    const requestId = response.headers.get('x-request-id');
    await readText(response);

    expect(response.status).toBe(200);
    const lines = server.logs.filter(({ fields }) => fields['requestId'] === requestId);
    expect(lines.map(({ fields }) => [fields['status'], fields['reason']])).toEqual([
      [400, 'BAD_FIELD'],
    ]);
  });

  test('a callable without streaming gets no stream', async () => {
    const response = await server.call('/callable/chat', { uid: null, body: { data: null } });

    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { status: 'UNAUTHENTICATED' } });
  });
});

import { randomUUID } from 'node:crypto';
import { FunctionsError, httpsCallableFromURL } from '@firebase/functions';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '#docs/clients/recipes/callable-web.ts';
import { firebaseFunctions } from '#test/support/wire/firebase-functions.ts';
import { startWireServer, type WireServer } from '#test/support/wire/wire-server.ts';
import { modelDown } from '#test/support/model-down.ts';
import { createSpentQuota } from '#test/support/chat/spent-quota.ts';
import { idTokenClaims } from '#test/support/token-keys.ts';

interface Chunk {
  type: string;
  delta?: string;
}

interface Result {
  message: { parts: { text: string }[] };
  replayed: boolean;
}

const { quota, spend } = createSpentQuota();

let server: WireServer;
/** Requests that have reached the server. */
let requests = 0;
let signedIn: ReturnType<typeof firebaseFunctions>;
let nobody: ReturnType<typeof firebaseFunctions>;
let url: string;
beforeAll(async () => {
  server = await startWireServer({ overrides: { quota } });
  server.server.on('request', () => (requests += 1));
  const token = await server.keys.sign(idTokenClaims(server.project, 'alice'));
  signedIn = firebaseFunctions(server.project, token);
  nobody = firebaseFunctions(server.project);
  url = `${server.url}/callable/chat`;
});
afterAll(async () => {
  await Promise.all([signedIn.close(), nobody.close()]);
  await server.stop();
});

const chat = (functions = signedIn.functions) =>
  httpsCallableFromURL<unknown, Result, Chunk>(functions, url);

const question = (text: string) => ({
  conversationId: randomUUID(),
  message: { id: randomUUID(), parts: [{ type: 'text', text }] },
});

/** What a stream ends with, and all that it gave before. */
async function readAll(call: ReturnType<ReturnType<typeof chat>['stream']>) {
  const { stream, data } = await call;
  data.catch(() => undefined);
  const chunks: Chunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return { chunks, data: await data };
}

/** The error of a call that the server refuses, and that the SDK makes once. */
/** Where an error is explained. */
const link = { links: [{ url: expect.stringMatching(/^http:.*\/v1\/errors\/[A-Z_]+$/) }] };

async function refusalOf(call: Promise<unknown>): Promise<FunctionsError> {
  const before = requests;
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof FunctionsError)) throw new Error('the call was not refused');
  expect(requests).toBe(before + 1);
  return error;
}

describe('the web SDK of Firebase', () => {
  test('the Firebase web SDK streams an answer and returns the whole at the end', async () => {
    const text = `Hello ${randomUUID()}`;
    const reading = readAll(chat().stream(question(text)));
    const call = await server.callOf(text);
    call.say('One ');
    call.say('two.');
    call.end();

    const { chunks, data } = await reading;
    expect(chunks.map(({ delta }) => delta ?? '').join('')).toBe('One two.');
    expect(chunks.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['start', 'text-delta', 'data-context', 'finish']),
    );
    expect(data.message.parts).toEqual([{ type: 'text', text: 'One two.' }]);
  });

  test('the Firebase web SDK returns the answer alone when called without a stream', async () => {
    const text = `Hello ${randomUUID()}`;
    const called = chat()(question(text));
    await server.answer(text, 'One two.');

    const { data } = await called;
    expect(data.message.parts).toEqual([{ type: 'text', text: 'One two.' }]);
  });

  test('the Firebase web SDK gets the stored answer when it resends a message', async () => {
    const text = `Hello ${randomUUID()}`;
    const asked = question(text);
    const called = chat()(asked);
    await server.answer(text, 'One two.');
    await called;

    const { data } = await readAll(chat().stream(asked));

    expect(data).toMatchObject({ replayed: true, message: { parts: [{ text: 'One two.' }] } });
    expect(server.callsOf(text)).toHaveLength(1);
  });

  test('the Firebase web SDK’s null for omitted fields is accepted', async () => {
    const text = `Hello ${randomUUID()}`;
    const left = { action: null, locale: null, onBusy: null };
    const called = chat()({ ...question(text), ...left });
    await server.answer(text, 'Fine.');

    expect((await called).data.message.parts[0]?.text).toBe('Fine.');
  });

  test('the Firebase web SDK throws the error of a model that fails in mid-answer', async () => {
    const text = `Hello ${randomUUID()}`;
    const reading = readAll(chat().stream(question(text)));
    const call = await server.callOf(text);
    call.say('One ');
    call.fail(modelDown());

    await expect(reading).rejects.toMatchObject({
      code: 'functions/unavailable',
      message: expect.stringContaining('The model is overloaded.'),
      details: [{ reason: 'MODEL_OVERLOADED' }, { retryDelay: '45s' }, link],
    });
  });

  test.each([
    ['streamed', (asked: object) => readAll(chat().stream(asked))],
    ['called', (asked: object) => chat()(asked)],
  ])(
    'the Firebase web SDK rejects without another try when the quota is spent, %s',
    async (_, send) => {
      const asked = question('Hello.');
      spend(asked.conversationId, 3_600_000);

      const error = await refusalOf(send(asked));

      expect(error.code).toBe('functions/resource-exhausted');
      expect(error.message).toContain('No messages are left for today.');
      expect(error.details).toMatchObject([
        { reason: 'USER_DAILY_MESSAGES' },
        { retryDelay: '3600s' },
        link,
      ]);
    },
  );

  test.each([
    ['streamed', (asked: object) => readAll(chat(nobody.functions).stream(asked))],
    ['called', (asked: object) => chat(nobody.functions)(asked)],
  ])(
    'the Firebase web SDK rejects without another try when nobody is signed in, %s',
    async (_, send) => {
      const error = await refusalOf(send(question('Hello.')));

      expect(error.code).toBe('functions/unauthenticated');
      expect(error.details).toMatchObject([{ reason: 'ID_TOKEN_MISSING' }, link]);
    },
  );

  test.each([
    ['no message', { conversationId: randomUUID() }, 'data.message'],
    ['a conversation id that is none', { ...question('Hi.'), conversationId: 'c1' }, 'data.conv'],
    ['no data at all', null, 'data'],
  ])(
    'the Firebase web SDK rejects a call with %s by the name of the field',
    async (_, data, field) => {
      const error = await refusalOf(readAll(chat().stream(data)));

      expect(error.code).toBe('functions/invalid-argument');
      expect(error.message).toContain(field);
    },
  );

  test('the Firebase web SDK’s bad part is named like on every other route', async () => {
    const asked = { conversationId: randomUUID(), message: { id: randomUUID(), parts: [{}] } };

    const error = await refusalOf(chat()(asked));

    expect(error.details).toMatchObject([{ reason: 'BAD_PART' }, link]);
  });

  test('the Firebase web SDK follows a running answer from its beginning', async () => {
    const text = `Hello ${randomUUID()}`;
    const asked = question(text);
    const sent = chat()(asked);
    const call = await server.callOf(text);
    call.say('One ');
    const { conversationId } = asked;
    const { stream, data } = await chat().stream({ action: 'resume', conversationId });
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
  });

  test('the Firebase web SDK learns that there is nothing to follow', async () => {
    const text = `Hello ${randomUUID()}`;
    const asked = question(text);
    const sent = chat()(asked);
    await server.answer(text, 'Fine.');
    await sent;

    const { conversationId } = asked;
    const resume = { action: 'resume', conversationId };
    expect((await readAll(chat().stream(resume))).data).toEqual({ turn: null });
    expect((await chat()(resume)).data).toEqual({ turn: null });
  });

  test('the Firebase web SDK gets one 404 for unknown and other users’ conversations', async () => {
    const text = `Hello ${randomUUID()}`;
    const asked = question(text);
    const sent = chat()(asked);
    await server.answer(text, 'Fine.');
    await sent;
    const mallory = firebaseFunctions(
      server.project,
      await server.keys.sign(idTokenClaims(server.project, 'mallory')),
    );
    const resume = (conversationId: string) =>
      refusalOf(chat(mallory.functions)({ action: 'resume', conversationId }));

    const [theirs, unknown] = [await resume(asked.conversationId), await resume(randomUUID())];
    const sending = await refusalOf(readAll(chat(mallory.functions).stream(asked)));
    await mallory.close();

    expect(theirs.code).toBe('functions/not-found');
    expect([unknown.message, unknown.details]).toEqual([theirs.message, theirs.details]);
    expect(sending.code).toBe('functions/not-found');
  });
});

test('the web recipe shows the answer as it comes and returns the whole', async () => {
  const text = `Hello ${randomUUID()}`;
  const shown: string[] = [];
  const answer = ask(signedIn.functions, {
    url,
    conversationId: randomUUID(),
    messageId: randomUUID(),
    text,
    show: (soFar) => void shown.push(soFar),
  });
  await server.answer(text, 'One two.');

  expect(await answer).toBe('One two.');
  expect(shown.at(-1)).toBe('One two.');
});

import { randomUUID } from 'node:crypto';
import { conversationResponse } from '#shared/wire/resources/conversations.ts';
import { sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { turnResponse } from '#shared/wire/resources/turns.ts';
import { SmokeFailure, type Step } from './run-steps.ts';
import { FEWEST_PIECES, isBuffered, readStream, type StreamRead } from './read-stream.ts';
import { remedyFor } from './remedies.ts';
import { conversationPath, type SmokeContext } from './smoke-context.ts';

/** Low enough that a few messages are something to fold. */
const THRESHOLD_TOKENS = 2_000;
const FILLING_MESSAGES = 6;

const EVENT_STREAM = { accept: 'text/event-stream' };

const bodyOf = (message: { id: string; text: string }) => ({
  message: { id: message.id, parts: [{ type: 'text', text: message.text }] },
  clientContext: { timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone },
});

const create: Step<SmokeContext> = {
  name: 'create',
  needs: ['openapi', 'sign-in'],
  run: async (context) => {
    const { client, conversationId: id } = context;
    const path = '/v1/conversations';
    const title = 'Smoke test';
    const body = { id, title, settings: { thresholdTokens: THRESHOLD_TOKENS } };
    try {
      await client.json(conversationResponse, { path, body });
      return `threshold ${THRESHOLD_TOKENS} tokens`;
    } catch (error) {
      const isForbidden =
        error instanceof SmokeFailure && /FIELD_NOT_WRITABLE|THRESHOLD_TOO/.test(error.came);
      if (!isForbidden) throw error;
      await client.json(conversationResponse, { path, body: { id, title } });
      return 'the deployment takes no thresholds of apps (CLIENT_WRITABLE): a compaction is only asked for by :compact';
    }
  },
};

/** Why an answer that began has failed, as its turn tells. */
async function failureOfTurn(
  context: SmokeContext,
  tried: string,
  turnId: string,
): Promise<SmokeFailure> {
  const turn = await context.client.json(turnResponse, {
    path: conversationPath(context, `/turns/${turnId}`),
  });
  const reason = turn.error?.reason;
  return new SmokeFailure({
    tried,
    came: `HTTP 200, then the answer failed with ${reason ?? turn.state}: ${JSON.stringify(turn.error?.message ?? '')}, turn ${turnId}`,
    remedy: remedyFor({ status: 200, reason }),
  });
}

async function stream(
  context: SmokeContext,
  request: { path: string; body?: object; headers?: Record<string, string> },
): Promise<StreamRead> {
  const tried = `${request.body === undefined ? 'GET' : 'POST'} ${context.client.url}${request.path} (SSE)`;
  const startedAt = performance.now();
  const response = await context.client.open({
    ...request,
    headers: { ...EVENT_STREAM, ...request.headers },
  });
  const read = await readStream(response, { tried, startedAt });
  if (read.hasFailed || read.text === '') throw await failureOfTurn(context, tried, read.turnId);
  return read;
}

/** Has something to remember, and an answer that takes long enough to come in pieces. */
export const firstText = (codeWord: string): string =>
  `Remember this code word: ${codeWord}. Confirm it, then count from one to sixty in words.`;

const send: Step<SmokeContext> = {
  name: 'send',
  needs: ['create'],
  run: async (context) => {
    const message = { id: randomUUID(), text: firstText(context.codeWord) };
    const path = conversationPath(context, '/messages');
    const read = await stream(context, { path, body: bodyOf(message) });
    context.first = read;
    context.sent.push(message);
    return `first text after ${Math.round(read.timeToFirstTextMs)} ms, ${read.ids.length} events`;
  },
};

const streaming: Step<SmokeContext> = {
  name: 'streaming',
  needs: ['send'],
  run: ({ client, first }) => {
    const textAtMs = first?.textAtMs ?? [];
    if (textAtMs.length < FEWEST_PIECES)
      return Promise.resolve({
        notRun: 'too few pieces of text to tell whether something holds them back',
      });
    if (!isBuffered(textAtMs))
      return Promise.resolve(`${textAtMs.length} pieces of text, one after another`);
    const spreadMs = Math.round((textAtMs.at(-1) ?? 0) - (textAtMs[0] ?? 0));
    throw new SmokeFailure({
      tried: `the stream of ${client.url}`,
      came: `${textAtMs.length} pieces of text came within ${spreadMs} ms: all at once`,
      remedy:
        'Something between here and chat holds events back: turn buffering and compression off there (nginx: proxy_buffering off), and do not send streams through Firebase Hosting.',
    });
  },
};

const resume: Step<SmokeContext> = {
  name: 'resume',
  needs: ['send'],
  run: async (context) => {
    const { ids = [], turnId = '', text = '' } = context.first ?? {};
    const from = ids[Math.floor(ids.length / 2)] ?? 0;
    const path = conversationPath(context, `/turns/${turnId}/stream`);
    const tried = `GET ${context.client.url}${path} with Last-Event-ID: ${from}`;
    const startedAt = performance.now();
    const response = await context.client.open({
      path,
      headers: { ...EVENT_STREAM, 'last-event-id': String(from) },
    });
    const rest = await readStream(response, { tried, startedAt });
    const wrong = rest.ids.find((id) => id <= from);
    if (wrong === undefined && text.endsWith(rest.text)) return `from event ${from} on`;
    throw new SmokeFailure({
      tried,
      came: wrong === undefined ? 'another text than the first time' : `event ${wrong} again`,
      remedy:
        'Does a proxy or cache before chat take the header Last-Event-ID off, or answer by itself? Streams must not be cached.',
    });
  },
};

const replay: Step<SmokeContext> = {
  name: 'replay',
  needs: ['send'],
  run: async (context) => {
    const [message] = context.sent;
    const path = conversationPath(context, '/messages');
    if (message === undefined) return undefined;
    const again = await stream(context, { path, body: bodyOf(message) });
    if (again.isReplayed && again.text === context.first?.text)
      return 'the same id again gives the same answer';
    throw new SmokeFailure({
      tried: `POST ${context.client.url}${path} with an id that was sent before`,
      came: again.isReplayed ? 'another answer' : 'a new answer, replayed: false',
      remedy:
        'A retry of a phone would be a second message: is it one database that all instances of chat use (FIRESTORE_DATABASE)?',
    });
  },
};

const FILLING =
  'We want a quiet room near the station, breakfast included, a place for two bicycles, and a train that leaves after nine. The budget is 240 euros for both nights, and the hotel must take a small dog. ';

const fill: Step<SmokeContext> = {
  name: 'fill',
  needs: ['send'],
  run: async (context) => {
    const path = conversationPath(context, '/messages');
    for (let count = 1; count <= FILLING_MESSAGES; count++) {
      context.options.progress(`fill: message ${count} of ${FILLING_MESSAGES}`);
      const text = `Note ${count} about the trip to town number ${count * 17}. ${FILLING.repeat(6)}Answer in one short sentence.`;
      const message = { id: randomUUID(), text };
      await context.client.json(sendMessageResponse, {
        path,
        body: bodyOf(message),
        headers: { accept: 'application/json' },
      });
      context.sent.push(message);
    }
    return `${FILLING_MESSAGES} messages`;
  },
};

/** A conversation, its streams, and what makes it long. */
export const chatSteps: readonly Step<SmokeContext>[] = [
  create,
  send,
  streaming,
  resume,
  replay,
  fill,
];

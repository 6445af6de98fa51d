import { randomUUID } from 'node:crypto';
import { conversationResponse } from '#shared/wire/resources/conversations.ts';
import { sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { turnResponse } from '#shared/wire/resources/turns.ts';
import { SmokeFailure, type Step } from './run-steps.ts';
import { FEWEST_PIECES, isBuffered, readStream } from './read-stream.ts';
import { remedyFor } from './remedies.ts';
import { conversationPath, type SmokeContext } from './smoke-context.ts';

/** Low enough that a few messages are something to fold. */
const THRESHOLD_TOKENS = 2_000;
const FILLING_MESSAGES = 6;

const newMessage = (text: string) => ({
  message: { id: randomUUID(), parts: [{ type: 'text', text }] },
});

export const create: Step<SmokeContext> = {
  name: 'create',
  needs: ['sign-in'],
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
        error instanceof SmokeFailure &&
        /FIELD_NOT_WRITABLE|THRESHOLD_TOO/.test(error.failure.came);
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

/** Has something to remember, and an answer that takes long enough to come in pieces. */
export const firstText = (codeWord: string): string =>
  `Remember this code word: ${codeWord}. Confirm it, then count from one to sixty in words.`;

export const send: Step<SmokeContext> = {
  name: 'send',
  needs: ['create'],
  run: async (context) => {
    const { client, codeWord } = context;
    const path = conversationPath(context, '/messages');
    const tried = `POST ${client.url}${path} (SSE)`;
    const startedAt = performance.now();
    const response = await client.open({
      path,
      body: newMessage(firstText(codeWord)),
      headers: { accept: 'text/event-stream' },
    });
    const read = await readStream(response, { tried, startedAt });
    if (read.hasFailed || read.text === '') throw await failureOfTurn(context, tried, read.turnId);
    context.first = read;
    return `first text after ${Math.round(read.textAtMs[0] ?? Number.NaN)} ms, ${read.events} events`;
  },
};

export const streaming: Step<SmokeContext> = {
  name: 'streaming',
  needs: ['send'],
  run: ({ client, first }) => {
    const textAtMs = first?.textAtMs ?? [];
    if (textAtMs.length < FEWEST_PIECES)
      return { notRun: 'too few pieces of text to tell whether something holds them back' };
    if (!isBuffered(textAtMs)) return `${textAtMs.length} pieces of text, one after another`;
    const spreadMs = Math.round((textAtMs.at(-1) ?? 0) - (textAtMs[0] ?? 0));
    throw new SmokeFailure({
      tried: `the stream of ${client.url}`,
      came: `${textAtMs.length} pieces of text came within ${spreadMs} ms: all at once`,
      remedy:
        'Something between here and chat holds events back: turn buffering and compression off there (nginx: proxy_buffering off), and do not send streams through Firebase Hosting.',
    });
  },
};

const FILLING =
  'We want a quiet room near the station, breakfast included, a place for two bicycles, and a train that leaves after nine. The budget is 240 euros for both nights, and the hotel must take a small dog. ';

export const fill: Step<SmokeContext> = {
  name: 'fill',
  needs: ['send'],
  run: async (context) => {
    const path = conversationPath(context, '/messages');
    for (let count = 1; count <= FILLING_MESSAGES; count++) {
      context.options.progress(`fill: message ${count} of ${FILLING_MESSAGES}`);
      const text = `Note ${count} about the trip to town number ${count * 17}. ${FILLING.repeat(6)}Answer in one short sentence.`;
      await context.client.json(sendMessageResponse, {
        path,
        body: newMessage(text),
        headers: { accept: 'application/json' },
      });
    }
    return `${FILLING_MESSAGES} messages`;
  },
};

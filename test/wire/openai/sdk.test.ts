import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import {
  chatCompletionChunk,
  chatCompletionResponse,
  modelListResponse,
} from '#shared/wire/facades/openai.ts';
import { readAs } from '#test/support/chat/chat-server.ts';
import { createSpentQuota } from '#test/support/chat/quotas.ts';
import { eventually } from '#test/support/eventually.ts';
import { overloaded } from '#test/support/model-down.ts';
import { ANSWER, EXAMPLE, groundedAnswer, UEFA } from '#test/support/tools/grounded.ts';
import {
  bodyOf,
  clientOf,
  errorOfSdk,
  newText,
  transcriptOf,
  usage,
  usageOfOpenAi,
} from '#test/support/wire/openai.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import OpenAI from 'openai';

/* OpenAI’s own SDK; what apps do with it step by step is tried in the table of client libraries. */

const { quota, spend } = createSpentQuota();
const server = await startWireServer({
  overrides: { quota },
  environment: { GROUNDING: 'search' },
});
afterAll(() => server.stop());

/** A completion that the SDK asks for in a new conversation. */
async function asking(options: Parameters<typeof clientOf>[1] = {}) {
  const { client, posts } = await clientOf(server, options);
  const [text, conversationId] = [newText(), randomUUID()];
  const body = bodyOf(text, conversationId);
  return { client, posts, text, conversationId, body };
}

describe('an answer', () => {
  test('the OpenAI SDK gets an answer with usage and conversation, and retrieves it by its id', async () => {
    const { client, text, conversationId, body } = await asking();
    const asked = client.chat.completions.create(body);
    const call = await server.callOf(text);
    call.say('One two.');
    call.end(usage);

    const completion = await asked;
    const again = await client.chat.completions.retrieve(completion.id);

    expect(chatCompletionResponse.parse(completion)).toMatchObject({
      model: server.dependencies.config.MODEL,
      choices: [{ message: { content: 'One two.' }, finish_reason: 'stop' }],
      usage: usageOfOpenAi,
      recap: { conversationId, turnId: 't_1', generation: 0 },
    });
    expect(again).toMatchObject({ choices: completion.choices, recap: { replayed: true } });
    expect(await transcriptOf(server, conversationId)).toEqual([
      ['user', text],
      ['model', 'One two.'],
    ]);
  });

  test('the OpenAI SDK streams an answer in chunks, the usage last', async () => {
    const { client, text, conversationId, body } = await asking();
    const streaming = client.chat.completions.create({
      ...body,
      stream: true,
      stream_options: { include_usage: true },
    });
    const call = await server.callOf(text);
    call.say('One ');
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of await streaming) {
      if (chunk.choices[0]?.delta.content === 'One ') {
        call.say('two.');
        call.end(usage);
      }
      chunks.push(chunk);
    }

    for (const chunk of chunks) expect(chatCompletionChunk.strict().parse(chunk)).toEqual(chunk);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('One two.');
    expect(chunks[0]).toMatchObject({ recap: { conversationId, turnId: 't_1', generation: 0 } });
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: usageOfOpenAi });
  });

  test.each([false, true])(
    'a completion of OpenAI’s SDK has its sources as annotations, streamed: %s',
    async (stream) => {
      const annotations = [
        [UEFA, 'uefa.com', 'España won Euro 2024.'],
        [EXAMPLE, 'example.org', 'The final was in Berlin.'],
      ].map(([url, title, says = '']) => {
        const start_index = ANSWER.indexOf(says);
        const place = { start_index, end_index: start_index + says.length };
        return { type: 'url_citation', url_citation: { url, title, ...place } };
      });
      const { client, text, body } = await asking();
      const asked = client.chat.completions.create({ ...body, stream });
      await groundedAnswer(server, text);

      const answer = await asked;
      const told: unknown[] = [];
      if ('choices' in answer) told.push(answer.choices[0]?.message.annotations);
      else
        for await (const { choices } of answer)
          if (choices[0] && 'annotations' in choices[0].delta)
            told.push(choices[0].delta.annotations);

      expect(told).toEqual([annotations]);
    },
  );

  test('the OpenAI SDK lists the model that answers, retrieves it, and is told it for another one', async () => {
    const { client } = await clientOf(server);
    const [model] = (await client.models.list()).data;

    const unknown = await errorOfSdk(client.models.retrieve('gpt-4o'));

    await readAs(modelListResponse, await server.call('/v1/openai/models'));
    expect(model?.id).toBe(server.dependencies.config.MODEL);
    expect(await client.models.retrieve(model?.id ?? '')).toEqual(model);
    expect(unknown).toMatchObject({ status: 404, code: 'MODEL_NOT_FOUND' });
    expect(unknown.message).toContain(model?.id);
  });
});

describe('a request that the SDK sends again', () => {
  test.each([false, true])(
    'an OpenAI request repeated after 503 twice becomes one turn, streamed: %s',
    async (stream) => {
      const { client, posts, text, conversationId, body } = await asking();
      const asked = client.chat.completions.create({ ...body, stream });
      (await server.callOf(text, 0)).fail(overloaded());
      (await server.callOf(text, 1)).fail(overloaded());
      await server.answer(text, 'Fine.', 2);
      const answer = await asked;
      if (Symbol.asyncIterator in answer) for await (const chunk of answer) void chunk;

      expect(posts).toHaveLength(3);
      expect(await transcriptOf(server, conversationId)).toEqual([
        ['user', text],
        ['model', 'Fine.'],
      ]);
    },
  );

  test.each<[what: string, before: boolean]>([
    ['attaches to its own answer', false],
    ['gets the stored answer that never arrived', true],
  ])('an OpenAI request %s after a lost connection', async (_, isAnswered) => {
    const asked = await asking({
      send: async (input, init) => {
        const response = fetch(input, init);
        if (asked.posts.length > 1) return response;
        response.catch(() => undefined);
        await server.callOf(asked.text);
        if (isAnswered) await server.answer(asked.text, 'Fine.');
        if (isAnswered) await (await response).text();
        throw new TypeError('the connection was lost');
      },
    });
    const { client, posts, text, conversationId, body } = asked;
    const completing = client.chat.completions.create(body);
    await eventually('the second try', () => Promise.resolve(posts.length > 1 || undefined));
    if (!isAnswered) await server.answer(text, 'Fine.');

    expect((await completing).choices[0]?.message.content).toBe('Fine.');
    expect(server.callsOf(text)).toHaveLength(1);
    expect(await transcriptOf(server, conversationId)).toHaveLength(2);
  });
});

describe('an error', () => {
  test('an OpenAI request is sent once when another message is being answered', async () => {
    const { client, posts, text, conversationId, body } = await asking();
    const other = await clientOf(server);
    const running = other.client.chat.completions.create(body);
    await server.callOf(text);

    const error = await errorOfSdk(
      client.chat.completions.create(bodyOf(newText(), conversationId)),
    );

    expect(error).toBeInstanceOf(OpenAI.ConflictError);
    expect(error.code).toBe('TURN_IN_PROGRESS');
    expect(posts).toHaveLength(1);
    await server.answer(text, 'Fine.');
    await running;
  });

  test.each([
    ['once where it is back in a day', 86_400_000, 1],
    ['until it gives up where it is back in a moment', 10, 3],
  ])('an OpenAI quota error has the request sent %s', async (_, waitMs, sent) => {
    const { client, posts, conversationId, body } = await asking();
    spend(conversationId, waitMs);

    const error = await errorOfSdk(client.chat.completions.create(body));

    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(error.code).toBe('insufficient_quota');
    expect(error.message).toContain('No messages are left for today.');
    expect(posts).toHaveLength(sent);
  });
});

/** A chat completion that is stopped in the middle of its words. */
async function stopped(headers: Record<string, string>) {
  const at = await startWireServer({ environment: { DISCONNECT_GRACE_MS: '0' } });
  onTestFinished(() => at.stop());
  const { client } = await clientOf(at);
  const [text, conversationId] = [newText(), randomUUID()];
  const body = { ...bodyOf(text, conversationId), stream: true as const };
  const asked = client.chat.completions.create(body, { headers });
  const call = await at.callOf(text);
  call.say('Half');
  const stream = await asked;
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content === 'Half') break;
  stream.controller.abort();
  const turn = async () => (await readTurns(at.dependencies.store, conversationId, [1]))[0]?.value;
  const ended = () =>
    eventually('the turn ends', async () => {
      const now = await turn();
      return now?.state === 'running' ? undefined : now;
    });
  return { call, ended };
}

test('a stop of OpenAI’s SDK lets an answer go on that the header X-On-Disconnect asks for', async () => {
  const { call, ended } = await stopped({ 'X-On-Disconnect': 'continue' });
  call.say(' and whole.');
  call.end();

  const contents = [{ parts: [{ text: 'Half and whole.' }] }];
  expect(await ended()).toMatchObject({ state: 'done', contents });
});

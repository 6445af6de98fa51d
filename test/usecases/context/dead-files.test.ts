import type { Clock, ModelStreamer } from '#shared/ports/ports.ts';
import { contextResponse } from '#shared/wire/resources/context.ts';
import type { InputPart } from '#shared/wire/resources/message-parts.ts';
import { sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import {
  type Refusal,
  choosyModel,
  refusedWith,
  scriptedStreamer,
  textAnswer,
} from '#test/fakes/scripted-streamer.ts';
import { createWireApp } from '#test/support/chat/wire-app.ts';
import { overloaded } from '#test/support/model-down.ts';
import { compactOnce, compactionBench } from '#test/support/compaction/compacted-conversation.ts';
import { withAppTools } from '#test/support/tools/tool-world.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

const DEAD = 'https://dead.example/a.png';
const RESULTS = 'turns/t_1/toolResults';
const NOT_SHOWN = '[attached file (image/png): not shown, it could not be read any more]';

const words = (text: string): InputPart => ({ type: 'text', text });
const picture = (url = DEAD): InputPart => ({ type: 'file', mediaType: 'image/png', url });

/** Refuses what names an address of the host. */
const refusing =
  (host: string): Refusal =>
  (_, text) =>
    text.includes(host) ? refusedWith(400) : undefined;

/** A chat whose model refuses what `state.refuse` says, or with another model. */
function world(overrides: { model?: ModelStreamer; clock?: Clock } = {}) {
  const choosy = choosyModel();
  const app = createWireApp({ model: choosy.model, ...overrides });
  const conversationId = randomUUID();
  const path = `/v1/conversations/${conversationId}`;
  const post = (body: object, accept = 'application/json', to = 'messages') =>
    app.call({
      method: 'POST',
      path: `${path}/${to}`,
      uid: 'u1',
      headers: { accept },
      body: JSON.stringify(body),
    });
  const send = (...parts: InputPart[]) => post({ message: { id: randomUUID(), parts } });
  const answer = async (...parts: InputPart[]) => {
    const { text, status } = await send(...parts);
    if (status !== 200) throw new Error(text);
    return sendMessageResponse.parse(JSON.parse(text));
  };
  const shown = async () =>
    contextResponse
      .parse(await app.ok({ method: 'GET', path: `${path}/context`, uid: 'u1' }))
      .items.filter(({ kind }) => kind === 'turn');
  return { ...choosy, app, conversationId, path, post, send, answer, shown };
}

/** The texts and files of the newest request. */
const newest = ({ requests }: Pick<ReturnType<typeof world>, 'requests'>) =>
  JSON.stringify(requests.at(-1)?.contents);

describe('a file whose address dies after it was answered', () => {
  test('a later message is answered without the file, by one more call, and says which one', async () => {
    const chat = world();
    await chat.answer(words('Look'), picture());
    chat.state.refuse = refusing('dead.example');

    const { turn, message } = await chat.answer(words('Hello'));

    expect(chat.requests).toHaveLength(3);
    expect(newest(chat)).toContain(NOT_SHOWN);
    const leftOutFiles = [{ turnId: 't_1', part: 1, mediaType: 'image/png' }];
    expect(turn).toMatchObject({ state: 'done', leftOutFiles });
    expect(message).toMatchObject({ leftOutFiles });
  });

  test('the stream of the turn has a notice of the files that were left out, live and again', async () => {
    const chat = world();
    await chat.answer(words('Look'), picture());
    chat.state.refuse = refusing('dead.example');
    const body = { message: { id: randomUUID(), parts: [words('Hello')] } };

    const live = await chat.post(body, 'text/event-stream');
    const again = await chat.post(body, 'text/event-stream');

    const notice =
      '{"type":"data-notice","id":"files","data":{"kind":"files","leftOutFiles":[{"turnId":"t_1","part":1,"mediaType":"image/png"}]}}';
    expect(live.text).toContain(notice);
    expect(again.text).toContain(notice);
  });

  test('a message that is answered again with the file says no more that it was left out', async () => {
    let isDown = false;
    const model: ModelStreamer = {
      async *stream({ contents }) {
        if (isDown && JSON.stringify(contents).includes('dead.example')) throw refusedWith(400);
        yield { parts: [{ text: 'Fine.' }], ...(!isDown && { finishReason: 'STOP' as const }) };
        if (isDown) throw overloaded();
      },
    };
    const clock = createManualClock();
    const chat = world({ model, clock });
    await chat.answer(words('Look'), picture());
    isDown = true;
    const body = { message: { id: randomUUID(), parts: [words('Hello')] } };
    expect((await chat.post(body)).status).toBe(503);
    isDown = false;

    clock.advance(5_000);
    const { turn } = sendMessageResponse.parse(JSON.parse((await chat.post(body)).text));

    expect(turn).toMatchObject({ id: 't_2', attempt: 2, state: 'done' });
    expect(turn).not.toHaveProperty('leftOutFiles');
    const read = await chat.app.ok({ method: 'GET', path: `${chat.path}/turns/t_2`, uid: 'u1' });
    expect(read).not.toHaveProperty('leftOutFiles');
  });

  test('a compaction folds the turn of a dead file, and names the file as not shown', async () => {
    const chat = world();
    await chat.answer(words('Look'), picture());
    for (let i = 0; i < 8; i++) await chat.answer(words(`My dog ${i} is called Pixel ${i}.`));
    chat.state.refuse = refusing('dead.example');
    const before = chat.requests.length;
    await chat.app.ok({ method: 'POST', path: `${chat.path}:compact`, uid: 'u1', body: {} });
    const { store } = chat.app.dependencies;

    const outcome = await compactOnce(
      compactionBench({ store, model: chat.model }),
      chat.conversationId,
    );

    expect(outcome).toMatchObject({ state: 'COMPACTED' });
    expect(chat.requests).toHaveLength(before + 2);
    expect(newest(chat)).toContain(NOT_SHOWN);
    await chat.answer(words('Hello'));
  });
});

test('a file that dies before the app answers a call is left out of the rest of its turn', async () => {
  const chat = world();
  await withAppTools(chat.app.dependencies, chat.conversationId, ['locate']);
  chat.state.say = [{ functionCall: { name: 'locate', args: {} } }];
  await chat.answer(words('Where is it?'), picture());
  chat.state.refuse = refusing('dead.example');
  chat.state.say = [{ functionCall: { name: 'locate', args: { more: true } } }];
  await chat.post({ results: [{ callId: 't_1_c0', output: 'Oslo' }] }, undefined, RESULTS);
  const open = await chat.shown();
  chat.state.say = [{ text: 'In Oslo.' }];

  const results = [{ callId: 't_1_c1', output: 'Norway' }];
  const { text } = await chat.post({ results }, undefined, RESULTS);
  const { turn } = sendMessageResponse.parse(JSON.parse(text));
  await chat.answer(words('Thanks'));

  expect(turn).toMatchObject({ state: 'done', leftOutFiles: [{ turnId: 't_1', part: 1 }] });
  // The first call, a refused one and one without the file, then one for each step.
  expect(chat.requests).toHaveLength(5);
  expect(JSON.stringify(open[0]?.content)).toContain(NOT_SHOWN);
  expect(newest(chat)).toContain(NOT_SHOWN);
});

describe('a refusal that leaving files out does not mend', () => {
  test('a message whose own file is refused fails and names it, and the next ones are answered without it', async () => {
    const chat = world();
    chat.state.refuse = refusing('dead.example');

    const failed = await chat.send(words('Look'), picture());
    const { turn } = await chat.answer(words('Hello'));

    expect(failed.status).toBe(500);
    expect(JSON.parse(failed.text).error.message).toContain(`\`message.parts[1].url\` (${DEAD})`);
    expect(turn).not.toHaveProperty('leftOutFiles');
    expect(chat.requests).toHaveLength(2);
  });

  const usage = { promptTokens: 100, cachedTokens: 0, outputTokens: 5, thoughtsTokens: 0 };
  test.each([
    {
      what: 'with half of its answer',
      answers: [{ chunks: [{ parts: [{ text: 'Half' }], usage }], error: refusedWith(400) }],
      options: {},
    },
    {
      what: 'with an answer that does not fit its schema',
      answers: [
        { chunks: [{ parts: [{ text: 'No JSON' }], finishReason: 'STOP', usage }] },
        { error: refusedWith(400) },
      ],
      options: { responseSchema: { type: 'object' } },
    },
  ])('a model that read the files $what is not asked anew', async ({ answers, options }) => {
    const { model, requests } = scriptedStreamer(textAnswer('I see.'), ...answers);
    const chat = world({ model });
    await chat.answer(words('Look'), picture());
    const message = { id: randomUUID(), parts: [words('Hello')] };

    const { text } = await chat.post({ message, ...options }, 'text/event-stream');

    expect(requests).toHaveLength(1 + answers.length);
    expect(text.split('"text-start"').length).toBeLessThanOrEqual(2);
    expect(text).toContain('"usage":{"promptTokens":100,"cachedTokens":0,"outputTokens":5');
    expect(text).not.toContain('leftOutFiles');
  });
});

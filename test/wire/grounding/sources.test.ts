import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { messageListResponse, sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { readAs } from '#test/support/chat/http-answers.ts';
import {
  ANSWER,
  EXAMPLE,
  groundedAnswer,
  sendGrounded,
  UEFA,
} from '#test/support/tools/grounded.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const server = await startWireServer({ environment: { GROUNDING: 'search,url' } });
afterAll(() => server.stop());

const stored = async (conversationId: string) =>
  (await server.dependencies.store.get([turnPath(conversationId, 1)]))[0]?.fields;

const idsOf = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

describe('sources of an answer', () => {
  test('an answer as JSON names its sources with the words that each bears out, and none that is no link', async () => {
    const { body } = await sendGrounded(server);

    expect(body.message.sources?.map(({ id, url, title }) => ({ id, url, title }))).toEqual([
      { id: 's1.1', url: UEFA, title: 'uefa.com' },
      { id: 's1.2', url: EXAMPLE, title: 'example.org' },
    ]);
    const said = body.message.sources?.flatMap(({ spans = [] }) =>
      spans.map(({ start, end }) => ANSWER.slice(start, end)),
    );
    expect(said).toEqual(['España won Euro 2024.', 'The final was in Berlin.']);
    expect(body.message.searched).toEqual({
      queries: ['who won Euro 2024'],
      suggestions: '<div>chips</div>',
    });
  });

  test('the transcript and both exports name the sources of an answer', async () => {
    const { conversationId, body } = await sendGrounded(server);

    const path = `/v1/conversations/${conversationId}`;
    const { messages } = await readAs(
      messageListResponse,
      await server.call(`${path}/messages?order=asc`),
    );
    const [jsonl, markdown] = await Promise.all(
      ['jsonl', 'markdown'].map(async (format) =>
        (await server.call(`${path}:export?format=${format}`)).text(),
      ),
    );

    expect(messages[1]?.sources).toEqual(body.message.sources);
    expect(messages[0]).not.toHaveProperty('sources');
    expect(JSON.parse(jsonl?.trim().split('\n').at(-1) ?? '')).toMatchObject({
      sources: body.message.sources,
    });
    expect(markdown).toContain(
      `Sources:\n\n1. [uefa.com](<${UEFA}>)\n2. [example.org](<${EXAMPLE}>)`,
    );
  });

  test('a stream and its replay tell the sources at the same ids, before the finish', async () => {
    const [conversationId, id] = [randomUUID(), randomUUID()];
    const send = () =>
      server.call(`/v1/conversations/${conversationId}/messages`, {
        headers: { accept: 'text/event-stream' },
        body: { message: { id, parts: [{ type: 'text', text: `Who won? ${id}` }] } },
      });
    const sent = send();
    await groundedAnswer(server, `Who won? ${id}`);

    const live = await (await sent).text();
    const replay = await (await send()).text();

    const source = /id: (\d+)\ndata: (\{"type":"source-url".*)$/gm;
    const sources = [...live.matchAll(source)].map(([, at, chunk]) => [
      at,
      JSON.parse(chunk ?? ''),
    ]);
    expect(sources.map(([, chunk]) => chunk)).toEqual([
      { type: 'source-url', sourceId: 's1.1', url: UEFA, title: 'uefa.com' },
      { type: 'source-url', sourceId: 's1.2', url: EXAMPLE, title: 'example.org' },
    ]);
    expect([...replay.matchAll(source)].map(([, at]) => at)).toEqual(sources.map(([at]) => at));
    expect(idsOf(replay).at(-1)).toBe(idsOf(live).at(-1));
    expect(live).toContain('{"type":"data-searched","id":"searched","data":{"queries":');
  });

  test('of a deleted answer no source stays stored', async () => {
    const { conversationId } = await sendGrounded(server);
    expect(await stored(conversationId)).toHaveProperty('grounding');

    await server.call(`/v1/conversations/${conversationId}/messages/m_1`, { method: 'DELETE' });

    expect(await stored(conversationId)).not.toHaveProperty('grounding');
  });

  test('a regeneration without sources has none of the answer that it replaces', async () => {
    const text = `Who won? ${randomUUID()}`;
    const { conversationId } = await sendGrounded(server, text);
    const again = server.call(`/v1/conversations/${conversationId}/messages/m_1:regenerate`, {
      headers: { accept: 'application/json' },
      body: {},
    });
    await server.answer(text, 'Spain.', 1);

    const { message } = await readAs(sendMessageResponse, await again);
    expect(message).not.toHaveProperty('sources');
  });

  test('the model is asked with Google’s tools where the deployment wants them', async () => {
    const text = `Who won? ${randomUUID()}`;
    await sendGrounded(server, text);

    expect(server.callsOf(text)[0]?.request.grounding).toEqual(['search', 'url']);
  });
});

describe('a deployment without GROUNDING', () => {
  test('the model is asked without Google’s tools where GROUNDING is not set', async () => {
    const plain = await startWireServer();
    const text = `Hello ${randomUUID()}`;
    const sent = plain.call(`/v1/conversations/${randomUUID()}/messages`, {
      body: { message: { id: randomUUID(), parts: [{ type: 'text', text }] } },
    });
    await plain.answer(text, 'Hi.');
    await sent;

    expect(plain.callsOf(text)[0]?.request).not.toHaveProperty('grounding');
    await plain.stop();
  });
});

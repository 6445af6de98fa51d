import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { idTokenClaims } from '#test/support/token-keys.ts';
import { startAttaching, png, base64Of } from '#test/support/chat/attaching.ts';
import { conversationWithTools, startToolServer } from '#test/support/wire/tool-server.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';
import type { OpenClient } from './native-client.ts';

/** A conversation with one answered message. */
async function answered(open: OpenClient) {
  const server = await startWireServer();
  onTestFinished(() => server.stop());
  const token = (await server.authorization()).replace('Bearer ', '');
  const client = open({ baseUrl: server.url, token });
  const sent = { conversationId: randomUUID(), messageId: randomUUID(), text: 'Hello' };
  const answer = client.send(sent);
  await server.answer('Hello', 'Hi.');
  await answer;
  return { server, client, sent, conversationId: sent.conversationId };
}

function describeMessages(name: string, open: OpenClient) {
  test(`${name} edits a message, and lists what it replaced`, async () => {
    const { server, client, sent, conversationId } = await answered(open);

    const changed = { ...sent, messageId: randomUUID(), text: 'Good day' };
    const edited = client.edit({ ...changed, replaced: sent.messageId });
    await server.answer('Good day', 'Good day to you.');

    expect((await edited).text).toBe('Good day to you.');
    const messages = await client.listMessages(conversationId);
    expect(messages.map(({ parts, inContext }) => [parts[0]?.text, inContext])).toEqual(
      expect.arrayContaining([
        ['Hello', false],
        ['Good day', true],
        ['Good day to you.', true],
      ]),
    );
  });

  test(`${name} regenerates an answer once, however often it asks`, async () => {
    const { server, client, sent, conversationId } = await answered(open);
    const anew = { conversationId, messageId: sent.messageId, id: randomUUID() };

    const first = client.regenerate(anew);
    await server.answer('Hello', 'Welcome.', 1);

    expect((await first).text).toBe('Welcome.');
    expect((await client.regenerate(anew)).text).toBe('Welcome.');
    expect(server.callsOf('Hello')).toHaveLength(2);
  });

  test(`${name} renames a conversation, rates its answer and lists it, the oldest message first`, async () => {
    const { client, conversationId } = await answered(open);

    await client.rename({ conversationId, title: 'The boat' });
    await client.rate({ conversationId, messageId: 'm_1', rating: 'down' });

    expect(await client.listConversations()).toMatchObject([
      { id: conversationId, title: 'The boat' },
    ]);
    const messages = await client.listMessages(conversationId);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'model']);
  });

  test(`${name} stops an answer, which keeps its text`, async () => {
    const { server, client, conversationId } = await answered(open);
    const story = { conversationId, messageId: randomUUID(), text: 'A story' };

    const answer = client.send(story);
    (await server.callOf('A story')).say('Once');
    await client.stop({ conversationId, turnId: 't_2' });

    await expect(answer).resolves.toMatchObject({
      text: 'Once',
      turnId: 't_2',
      isStopped: true,
    });
  });
}

/** What a recipe does beyond sending: changes, lists, files, functions of the app. */
export function describeChanges(name: string, open: OpenClient): void {
  describeMessages(name, open);

  test(`${name} uploads a file and sends it with a message`, async () => {
    const world = await startAttaching();
    onTestFinished(() => world.stop());
    const { keys, project, url } = world.chat;
    const client = open({ baseUrl: url, token: await keys.sign(idTokenClaims(project, 'alice')) });
    const picture = png();

    const bytes = new Uint8Array(picture.bytes);
    const file = await client.upload({ bytes, mimeType: picture.mimeType });
    const small = { type: 'file', mediaType: 'image/png', data: base64Of(png(64, 'small')) };
    await client.send({
      conversationId: randomUUID(),
      messageId: randomUUID(),
      text: 'What is this?',
      files: [file, small],
    });

    const sent = world.prompt().flatMap(({ inlineData }) => inlineData?.data ?? []);
    expect(sent).toEqual([base64Of(picture), small.data]);
  });

  test(`${name} gives the results of the app’s functions, and shows the whole answer`, async () => {
    const server = await startToolServer();
    onTestFinished(() => server.stop());
    const conversationId = await conversationWithTools(server);
    const token = (await server.authorization()).replace('Bearer ', '');
    const client = open({ baseUrl: server.url, token });
    const text = 'Let me see.\ncall locate {"question":"where"}\nthen\nFound.';

    const answer = await client.send({ conversationId, messageId: randomUUID(), text });
    const results = answer.calls.map(({ id }) => ({ callId: id, output: { lat: 1 } }));
    const whole = await client.giveResults({ conversationId, answer, results });

    expect(answer).toMatchObject({ finishReason: 'tool-calls', calls: [{ name: 'locate' }] });
    expect(whole).toMatchObject({ text: 'Let me see.Found.', finishReason: 'stop', calls: [] });
  });
}

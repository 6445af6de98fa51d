import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { createFirestoreDocumentStore } from '#functions/adapters/firestore/firestore-document-store.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import { demoProjectId, firestoreEmulatorHost } from '../support/processes/emulator-environment.ts';
import { collect, request, textOf } from '../support/chat/sending.ts';
import {
  idsOf,
  openStream,
  silentModel,
  steeredChat,
  stoppable,
} from '../support/chat/streaming.ts';

let store: DocumentStore;
beforeAll(() => {
  firestoreEmulatorHost();
  store = createFirestoreDocumentStore({
    projectId: demoProjectId(),
    databaseId: '(default)',
    deadlineMs: 10_000,
  });
});

describe('on the database, a stream of one instance', () => {
  test('a stream of one instance is followed live by another one with the same frames', async () => {
    const conversationId = randomUUID();
    const { dependencies, call } = steeredChat({ store });
    const handle = await sendMessage(dependencies, request(conversationId, 'Tell me.'));
    const all = collect(handle.frames());
    const model = await call();
    model.say('One ');
    const other = chatDependencies({ store });

    const frames = await openStream(other, { conversationId, cursor: 0 });
    const iterator = frames[Symbol.asyncIterator]();
    const early = [await iterator.next(), await iterator.next()];
    model.say('x'.repeat(3_000));
    model.say(' 안녕 👩‍👩‍👧');
    model.end();
    const late = await collect({ [Symbol.asyncIterator]: () => iterator });

    const read = [...early.map(({ value }) => value), ...late];
    expect(read).toEqual((await all).slice(1));
    const cursor = idsOf(await all).at(-3);
    expect(await collect(await openStream(other, { conversationId, cursor }))).toEqual(
      (await all).slice(-2),
    );
  });

  test('a stream continues with the attempt of the instance that took it over', async () => {
    const conversationId = randomUUID();
    const settings = { TURN_LEASE_MS: '2000' };
    const { config, clock } = chatDependencies({}, settings);
    const process = stoppable({ store, clock });
    const dead = steeredChat({ store: process.store, clock: process.clock, config });
    const send = request(conversationId, 'Tell me.');
    await sendMessage(dead.dependencies, send);
    (await dead.call()).say('Half');
    const reader = chatDependencies({ store, model: silentModel() }, settings);
    const frames = await openStream(reader, { conversationId, cursor: 0 });
    const iterator = frames[Symbol.asyncIterator]();
    const first = await iterator.next();
    process.stop();
    (await dead.call()).say('x'.repeat(2_000));

    const { model } = scriptedStreamer(textAnswer('Anew.'));
    const alive = chatDependencies({ store, model }, settings);
    const { turn } = await (await sendMessage(alive, send)).result;

    const rest = await collect({ [Symbol.asyncIterator]: () => iterator });
    expect(first.value.id).toBe(1);
    expect(turn.attempt).toBe(2);
    expect(textOf(rest.filter(({ id }) => id >= 1_000_000))).toBe('Anew.');
  });
});

import { createFirestoreDocumentStore } from '#functions/adapters/firestore.ts';
import { createPubSubEventPublisher } from '#functions/adapters/pubsub.ts';
import { createTopic } from '#infra/local/stack/pubsub-setup.ts';
import {
  demoProjectId,
  firestoreEmulatorHost,
  pubsubEmulatorHost,
} from '#test/support/processes/emulator-environment.ts';
import { eventually } from '../support/eventually.ts';
import { startSwallowingProxy } from '../support/stores/swallowing-proxy.ts';
import { expect, onTestFinished, test } from 'vitest';

/* A connection whose bytes get lost on the way, as a firewall loses them that has forgotten it. Nobody sends a reset. */

const keepAlive = { everyMs: 100, timeoutMs: 200 };
const deadlineMs = 400;

async function proxyBefore(variable: string, host: string) {
  const proxy = await startSwallowingProxy(host);
  // The SDKs read their hosts from the environment when they are first used.
  process.env[variable] = proxy.address;
  onTestFinished(async () => {
    process.env[variable] = host;
    await proxy.close();
  });
  return proxy;
}

const succeeds = (work: Promise<unknown>) =>
  work.then(
    () => true,
    () => undefined,
  );

test('the store opens another connection when the bytes of its own get lost', async () => {
  const proxy = await proxyBefore('FIRESTORE_EMULATOR_HOST', firestoreEmulatorHost());
  const store = createFirestoreDocumentStore({ projectId: demoProjectId(), deadlineMs, keepAlive });
  await eventually('the store answers', () => succeeds(store.get(['a/b'])));

  const before = proxy.connections();
  proxy.swallow();

  await eventually('the store answers again', () => succeeds(store.get(['a/b'])));
  expect(before).toBeGreaterThan(0);
  expect(proxy.connections()).toBeGreaterThan(before);
});

test('the publisher opens another connection when the bytes of its own get lost', async () => {
  const pubsubHost = pubsubEmulatorHost();
  const projectId = demoProjectId();
  await createTopic({ pubsubHost, projectId }, 'events');
  const proxy = await proxyBefore('PUBSUB_EMULATOR_HOST', pubsubHost);
  const topicIds = { compaction: 'compaction', events: 'events' };
  const publisher = createPubSubEventPublisher({ projectId, topicIds, deadlineMs, keepAlive });
  const publish = () => publisher.publish({ topic: 'events', data: {} });
  await eventually('the event is published', () => succeeds(publish()));

  const before = proxy.connections();
  proxy.swallow();

  await eventually('the event is published again', () => succeeds(publish()));
  expect(before).toBeGreaterThan(0);
  expect(proxy.connections()).toBeGreaterThan(before);
});

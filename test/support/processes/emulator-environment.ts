import { randomUUID } from 'node:crypto';
import { z } from 'zod';

/** The Firestore emulator of this test run, `host:port`. Throws Error when there is none. */
export function firestoreEmulatorHost(): string {
  return requiredHost('FIRESTORE_EMULATOR_HOST');
}

/** The Pub/Sub emulator of this test run, `host:port`. Throws Error when there is none. */
export function pubsubEmulatorHost(): string {
  return requiredHost('PUBSUB_EMULATOR_HOST');
}

/**
 * A project of its own for a test: the emulators keep projects apart and make them on first use. The name
 * begins with `demo-`, which Google reserves for projects that do not exist.
 */
export function demoProjectId(): string {
  return `demo-${randomUUID().slice(0, 18)}`;
}

function requiredHost(variable: string): string {
  const host = process.env[variable];
  if (host === undefined || host === '') {
    throw new Error(`${variable} is not set: run the tests with "npm test", or set it.`);
  }
  return host;
}

const pulledSchema = z.object({
  receivedMessages: z
    .array(
      z.object({
        ackId: z.string(),
        message: z.object({
          data: z.string().default(''),
          attributes: z.record(z.string(), z.string()).default({}),
        }),
      }),
    )
    .default([]),
});

/** Takes up to 100 messages from a pull subscription of the emulator (dead letters, for instance) and acknowledges them. */
export async function pullMessages(
  place: { pubsubHost: string; projectId: string },
  subscriptionId: string,
): Promise<{ data: string; attributes: Record<string, string> }[]> {
  const url = `http://${place.pubsubHost}/v1/projects/${place.projectId}/subscriptions/${subscriptionId}`;
  const ask = async (verb: string, body: object): Promise<unknown> => {
    const response = await fetch(`${url}:${verb}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`the Pub/Sub emulator refused ${verb}: ${text}`);
    return JSON.parse(text || '{}');
  };
  const pulled = await ask('pull', { maxMessages: 100, returnImmediately: true });
  const { receivedMessages } = pulledSchema.parse(pulled);
  if (receivedMessages.length > 0)
    await ask('acknowledge', { ackIds: receivedMessages.map(({ ackId }) => ackId) });
  return receivedMessages.map(({ message }) => message);
}

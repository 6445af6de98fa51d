import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startStack } from '#infra/local/stack/start-stack.ts';
import { type Stack } from '#infra/local/stack/stack-children.ts';
import { startSupervisor, type Supervisor } from '#infra/local/supervisor/start-supervisor.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { conversationWithContextResponse } from '#shared/wire/resources/conversations.ts';
import { eventually } from '../support/eventually.ts';
import {
  firestoreEmulatorHost,
  pubsubEmulatorHost,
} from '../support/processes/emulator-environment.ts';

let stack: Stack;
let supervisor: Supervisor;
beforeAll(async () => {
  firestoreEmulatorHost();
  pubsubEmulatorHost();
  stack = await startStack({
    environment: {
      // Other tests have stacks of their own on the same emulator.
      COMPACTION_TOPIC: `kills-${randomUUID()}`,
      EVENTS_TOPIC: `kills-events-${randomUUID()}`,
      THRESHOLD_TOKENS: '1200',
      COMPACTION_LEASE_MS: '2000',
      TURN_LEASE_MS: '2000',
    },
    push: { minBackoffSeconds: 1, maxBackoffSeconds: 2 },
    log: () => undefined,
  });
  supervisor = await startSupervisor({ stack, pageOrigins: [], log: () => undefined });
});
afterAll(async () => {
  await supervisor.stop();
  await stack.stop();
});

async function order(path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${supervisor.url}${path}`, {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    headers: { 'x-recap-supervisor-token': supervisor.token },
  });
  expect(response.status).toBe(200);
  return response.json();
}

const stateSchema = z.object({
  parts: z.array(
    z.object({ part: z.string(), processId: z.number(), kills: z.number(), isDown: z.boolean() }),
  ),
});
const partState = async (name: string) =>
  stateSchema.parse(await order('/state')).parts.find(({ part }) => part === name);

const callsSchema = z.object({ calls: z.array(z.object({ role: z.string() })) });
const chatCalls = async () =>
  callsSchema.parse(await order('/model/calls')).calls.filter(({ role }) => role === 'chat').length;

const authorization = `Bearer ${unsignedToken({ uid: 'ada', projectId: 'demo-recap', now: new Date() })}`;

const send = (conversationId: string, text: string, id: string = randomUUID()) =>
  fetch(`${supervisor.chatUrl}/v1/conversations/${conversationId}/messages`, {
    method: 'POST',
    headers: { authorization, accept: 'application/json' },
    body: JSON.stringify({ message: { id, parts: [{ type: 'text', text }] } }),
  });

/** About 600 characters that do not repeat: the stand-in's summary copies from them, and a loop is refused. */
const flowers = (place: number): string =>
  Array.from(
    { length: 40 },
    (_, index) => `${(7919 * (40 * place + index + 1)) % 9973} roses`,
  ).join(', ');

async function contextOf(conversationId: string) {
  const response = await fetch(`${stack.chatUrl}/v1/conversations/${conversationId}`, {
    headers: { authorization },
  });
  return conversationWithContextResponse.parse(await response.json()).context;
}

test('a worker killed while it summarises restarts, and the conversation is compacted once', async () => {
  const conversationId = randomUUID();
  await order('/model/vices', { slowMs: 10_000 });
  for (let i = 0; i < 9; i++) await send(conversationId, `Order ${i}: ${flowers(i)}`);
  await eventually('a worker that is at it', async () => {
    const { compaction } = await contextOf(conversationId);
    return compaction?.state === 'RUNNING' || undefined;
  });
  const before = await partState('compaction');

  await order('/kill', { part: 'compaction' });
  await order('/model/vices', {});
  const context = await eventually('the swap', async () => {
    const found = await contextOf(conversationId);
    return found.compaction?.state === 'COMPACTED' ? found : undefined;
  });

  expect(context.generation).toBe(1);
  const after = await partState('compaction');
  expect(after).toMatchObject({ kills: 1, isDown: false });
  expect(after?.processId).not.toBe(before?.processId);
});

test('a chat function killed while it answers restarts, and the same message gets its answer', async () => {
  const [conversationId, messageId] = [randomUUID(), randomUUID()];
  const callsBefore = await chatCalls();
  await order('/model/timing', { timeToFirstTokenMs: 10_000 });
  const sent = send(conversationId, 'What do roses cost?', messageId);
  await eventually('the call of the model', async () =>
    (await chatCalls()) > callsBefore ? true : undefined,
  );

  await order('/kill', { part: 'chat' });
  await expect(sent).rejects.toThrow('fetch failed');
  await order('/reset', {});
  const answered = await eventually('the answer', async () => {
    const response = await send(conversationId, 'What do roses cost?', messageId).catch(
      () => undefined,
    );
    return response?.ok ? response : undefined;
  });

  expect(await answered.json()).toMatchObject({ turn: { seq: 1, state: 'done', attempt: 2 } });
});

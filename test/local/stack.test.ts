import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { welcomeText } from '#infra/local/stack/first-calls.ts';
import { type Stack, type StackOptions, startStack } from '#infra/local/stack/start-stack.ts';
import type { StackEvent } from '#infra/local/stack/stack-event.ts';
import { eventually } from '../support/eventually.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import { runPrintedCalls } from '../support/processes/printed-calls.ts';

const stacks: Stack[] = [];
afterEach(async () => {
  await Promise.all(stacks.splice(0).map((stack) => stack.stop()));
});

async function startEmbedded(options: Partial<StackOptions> = {}) {
  const events: StackEvent[] = [];
  const log = (event: StackEvent) => events.push(event);
  const stack = await startStack({
    embedded: true,
    shell: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    log,
    ...options,
  });
  stacks.push(stack);
  return { stack, events };
}

const isAnswering = async (url: string) => {
  const response = await fetch(`${url}/v1/health`).catch(() => undefined);
  return response?.ok;
};

describe('the embedded stack', () => {
  test('the embedded stack answers the printed calls, streaming and as JSON', async () => {
    const { stack } = await startEmbedded();
    const printed = welcomeText(stack, {
      now: new Date(),
      conversationId: randomUUID(),
      messageIds: [randomUUID(), randomUUID()],
    });

    const { stream, json } = await runPrintedCalls(printed);

    expect(stream).toMatch(/"text-delta"[^]*"type":"finish"[^]*\[DONE\]/);
    expect(JSON.parse(json)).toMatchObject({
      message: { parts: [{ text: 'My dog is called Pixel.' }] },
    });
  });

  test('the embedded stack leaves no process or port behind when stopped', async () => {
    const { stack } = await startEmbedded();
    const processes = stack.processIds();

    await stack.stop();

    expect(processes.map(({ part }) => part).toSorted()).toEqual(['functions', 'stand-in']);
    for (const { processId } of processes)
      expect(() => process.kill(processId, 0)).toThrow('ESRCH');
    expect(await isAnswering(stack.chatUrl)).toBeUndefined();
  });

  test('the embedded stack uses another port for chat when the wanted one is taken, and says so', async () => {
    const { port: wantedPort, close } = await openServer(createServer());

    const { stack, events } = await startEmbedded({ ports: { chat: wantedPort } });
    await close();

    expect(stack.chatUrl).not.toContain(`:${wantedPort}`);
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'port-taken', part: 'chat', wantedPort }),
    );
    expect(await isAnswering(stack.chatUrl)).toBe(true);
  });

  test('the embedded stack restarts a crashed part and leaves the others alone', async () => {
    const { stack, events } = await startEmbedded();
    const find = (part: string) => stack.processIds().find((each) => each.part === part)?.processId;
    const [functions, fakeGemini] = [find('functions') ?? 0, find('stand-in')];

    process.kill(functions, 'SIGKILL');
    await eventually('the functions are back', async () =>
      events.some(({ kind }) => kind === 'restarted') ? true : undefined,
    );

    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'crashed', part: 'functions', exit: 'SIGKILL' }),
    );
    expect(await isAnswering(stack.chatUrl)).toBe(true);
    expect(find('stand-in')).toBe(fakeGemini);
  });

  test('the embedded stack stops all parts when one does not start', async () => {
    const events: StackEvent[] = [];
    const failing = startStack({
      embedded: true,
      shell: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
      environment: { RECALL_TOKENS: 'many' },
      log: (event) => events.push(event),
    });

    await expect(failing).rejects.toThrow(/RECALL_TOKENS/);
    expect(events).toContainEqual(expect.objectContaining({ kind: 'failed', part: 'functions' }));
  });
});

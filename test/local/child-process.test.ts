import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { type Child, startChild } from '#infra/local/processes/child-process.ts';
import { chooseFreePort } from '#infra/local/processes/free-port.ts';
import type { StackEvent } from '#infra/local/stack/stack-event.ts';
import { eventually } from '../support/eventually.ts';

const script = fileURLToPath(new URL('../fixtures/crashing-server.ts', import.meta.url));

const children: Child[] = [];
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.stop()));
});

async function startServer(...moreArguments: string[]) {
  const port = await chooseFreePort(0, new Set());
  const url = `http://127.0.0.1:${port}`;
  const events: StackEvent[] = [];
  const child = await startChild({
    part: 'chat',
    command: [script, String(port), ...moreArguments],
    environment: { PATH: process.env.PATH },
    readyUrl: url,
    firstBackOffMs: 10,
    log: (event) => events.push(event),
  });
  children.push(child);
  const ask = async (path = '/') => {
    const response = await fetch(`${url}${path}`).catch(() => undefined);
    return response?.text();
  };
  return { child, events, ask };
}

describe('startChild', () => {
  test('startChild restarts a crashed process and reports its last lines', async () => {
    const { events, ask } = await startServer();
    const before = await ask();

    await ask('/crash');
    const after = await eventually('the server is back', () => ask());

    expect(after).not.toBe(before);
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: 'crashed',
        exit: 'exit code 7',
        lastLines: ['the last words'],
      }),
    );
  });

  test('startChild leaves a process down that keeps crashing', async () => {
    const { events, ask } = await startServer();
    const hasGivenUp = () => events.some(({ kind }) => kind === 'gave-up');

    await eventually('it is given up', async () => {
      await ask('/crash');
      return hasGivenUp() || undefined;
    });

    expect(events.filter(({ kind }) => kind === 'crashed')).toHaveLength(5);
  });

  test('startChild restarts a process on demand without reporting a crash', async () => {
    const { child, events, ask } = await startServer();
    const before = await ask();

    await child.restart();

    expect(await ask()).not.toBe(before);
    expect(events.filter(({ kind }) => kind === 'crashed')).toEqual([]);
  });

  test('startChild frees the port when it is stopped', async () => {
    const { child, ask } = await startServer();

    await child.stop();

    expect(await ask()).toBeUndefined();
  });

  test('startChild throws the process’s output when it does not start', async () => {
    await expect(startServer('never-ready')).rejects.toThrow(
      /exit code 3[^]*cannot find the thing/,
    );
  });
});

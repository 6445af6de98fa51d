import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Child, startChild } from '#infra/local/processes/child-process.ts';
import { chooseFreePort } from '#infra/local/processes/open-server.ts';
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

  test('a reload while a process starts has it start once more, and is no failure', async () => {
    const { child, events, ask } = await startServer();
    const before = await ask();

    await child.reload();
    await child.reload();
    await eventually('it is back', async () => events.find(({ kind }) => kind === 'restarted'));

    expect(await ask()).not.toBe(before);
    expect(events.map(({ kind }) => kind).filter((kind) => kind !== 'line')).toEqual(['restarted']);
  });

  test('startChild leaves a process down that does not start again, and reports why', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'recap-child-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const { events, ask } = await startServer('starts-once', join(folder, 'started'));

    await ask('/crash');
    const failed = await eventually('it is given up', async () =>
      events.find(({ kind }) => kind === 'failed'),
    );

    expect(failed).toMatchObject({ problem: expect.stringContaining('cannot find the thing') });
    expect(events.filter(({ kind }) => kind === 'crashed')).toHaveLength(1);
  });
});

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, type TestContext } from 'vitest';
import { chooseFreePort } from '#infra/local/processes/open-server.ts';
import { localProjectId, stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import type { Fault } from '#infra/fake-gemini/server/faults.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { eventually } from '../support/eventually.ts';

const script = fileURLToPath(new URL('../../infra/local/embedded/main.ts', import.meta.url));
const token = unsignedToken({ uid: 'ada', projectId: localProjectId, now: new Date() });

/** Both functions as a process of their own, which answers. */
async function startProcess({ onTestFinished }: TestContext, drainMs: number, fault?: Fault) {
  const fakeGemini = await startFakeGemini();
  onTestFinished(() => fakeGemini.close());
  if (fault) fakeGemini.queueFaults(fault);
  const port = await chooseFreePort(0, new Set());
  const settings = { DRAIN_MS: String(drainMs) };
  const environment = stackEnvironment({
    shell: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    model: { kind: 'fake-gemini' },
    fakeGeminiUrl: fakeGemini.url,
    settings,
  });
  const child = spawn(process.execPath, [script, JSON.stringify({ ports: { chat: port } })], {
    stdio: 'ignore',
    env: environment,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}`;
  await eventually('the process answers', async () => {
    const response = await fetch(`${url}/v1/health`).catch(() => undefined);
    return response?.ok || undefined;
  });
  return { child, exit: once(child, 'exit'), url };
}

const send = (url: string) =>
  fetch(`${url}/v1/conversations/${randomUUID()}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    body: JSON.stringify({
      message: { id: randomUUID(), parts: [{ type: 'text', text: 'Hello there' }] },
    }),
  });

describe.concurrent('SIGTERM', () => {
  test('a process ends after the answer it was giving', async (context) => {
    const stalled = { kind: 'stall', delayMs: 1_500 } as const;
    const { child, exit, url } = await startProcess(context, 30_000, stalled);
    const response = await send(url);

    child.kill('SIGTERM');
    const text = await response.text();

    expect(text).toMatch(/"type":"finish"[^]*\[DONE\]/);
    expect(await exit).toEqual([0, null]);
  });

  test('a process whose answer takes too long cuts its readers’ connections and ends', async (context) => {
    const { child, exit, url } = await startProcess(context, 200, { kind: 'hang' });
    const response = await send(url);
    const read: string[] = [];
    const reading = (async () => {
      for await (const piece of response.body ?? []) read.push(Buffer.from(piece).toString());
    })();

    child.kill('SIGTERM');

    // A clean end would look like a finished answer.
    await expect(reading).rejects.toThrow('terminated');
    expect(read.join('')).toMatch(/^id: 0\n/);
    expect(read.join('')).not.toMatch(/finish|DONE/);
    expect(await exit).toEqual([0, null]);
  });
});

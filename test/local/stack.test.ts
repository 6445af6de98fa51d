import { openServer } from '#infra/local/processes/open-server.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { welcomeText } from '#infra/local/start-console.ts';
import type { StackEvent } from '#infra/local/stack/stack-event.ts';
import { type Stack, type StackOptions, startStack } from '#infra/local/stack/start-stack.ts';
import { runPrintedCalls } from '#test/support/processes/run-blocks.ts';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const shell = promisify(execFile);
const events: StackEvent[] = [];
const startEmbedded = (options: Partial<StackOptions>) =>
  startStack({
    embedded: true,
    shell: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    log: (event) => events.push(event),
    ...options,
  });

/** The fenced blocks of README.md in order. */
async function readmeBlocks(): Promise<string[]> {
  const text = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  // What needs a project in the cloud is marked `bash`, and not run.
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, language = '']) => language !== 'bash')
    .map(([, , block = '']) => block);
}

const eventTypes = (stream: string) =>
  [...stream.matchAll(/^data: \{"type":"([a-z-]+)"/gm)].map(([, type]) => type);

describe('the embedded stack', () => {
  let stack: Stack;
  let wantedPort: number;
  beforeAll(async () => {
    const taken = await openServer(createServer());
    wantedPort = taken.port;
    stack = await startEmbedded({ ports: { chat: wantedPort } });
    await taken.close();
  });
  afterAll(() => stack.stop());

  test('the embedded stack answers the printed calls, streaming and as JSON', async () => {
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

  /** Runs a block of README.md as it stands, but for the port. */
  async function runBlock(block: string): Promise<string> {
    const command = block.replaceAll('http://127.0.0.1:8080', stack.chatUrl);
    const token = unsignedToken({ uid: 'reader', projectId: stack.projectId, now: new Date() });
    const { stdout } = await shell('bash', ['-euc', command], {
      env: { ...process.env, RECAP_TOKEN: token },
    });
    return stdout;
  }

  test('the calls in README.md get the answers in README.md', async () => {
    const [call = '', answer = ''] = await readmeBlocks();

    const stream = await runBlock(call);

    expect(eventTypes(answer).length).toBeGreaterThan(3);
    for (const type of eventTypes(answer)) expect(eventTypes(stream)).toContain(type);
    expect(stream).toContain('"delta":"Noted."');
    expect(stream.trimEnd().endsWith('data: [DONE]')).toBe(true);
  });

  test('the embedded stack leaves no process or port behind when stopped', async () => {
    const processes = stack.processIds();

    await stack.stop();

    expect(processes.map(({ part }) => part).toSorted()).toEqual(['fake-gemini', 'functions']);
    for (const { processId } of processes)
      expect(() => process.kill(processId, 0)).toThrow('ESRCH');
    await expect(fetch(`${stack.chatUrl}/v1/health`)).rejects.toThrow('fetch failed');
  });
});

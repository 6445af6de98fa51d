import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Stack, startStack } from '#infra/local/stack/start-stack.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';

const shell = promisify(execFile);

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ embedded: true, log: () => undefined });
});
afterAll(() => stack.stop());

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
  const blocks = await readmeBlocks();
  const [call = '', answer = ''] = blocks;
  const others = blocks.find((block) => block.includes('"dryRun"')) ?? '';

  const stream = await runBlock(call);
  const replies = await runBlock(others);

  expect(eventTypes(answer).length).toBeGreaterThan(3);
  for (const type of eventTypes(answer)) expect(eventTypes(stream)).toContain(type);
  expect(stream).toContain('"delta":"Noted."');
  expect(stream.trimEnd().endsWith('data: [DONE]')).toBe(true);
  expect(replies).toContain('"settings":{"thresholdTokens":2000}');
  expect(replies).toContain('My dog is called Pixel.');
  expect(replies).toContain('"dryRun":true');
});

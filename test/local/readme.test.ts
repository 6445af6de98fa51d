import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startStack, type Stack } from '../../infra/local/stack.ts';
import { unsignedToken } from '../../infra/local/unsigned-token.ts';

const shell = promisify(execFile);

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ embedded: true, log: () => undefined });
});
afterAll(() => stack.stop());

/** The fenced blocks of README.md in order. */
async function readmeBlocks(): Promise<string[]> {
  const text = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  return [...text.matchAll(/^```(?:sh)?\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
}

const eventTypes = (stream: string) =>
  [...stream.matchAll(/^data: \{"type":"([a-z-]+)"/gm)].map(([, type]) => type);

test('the call in README.md gets the answer in README.md', async () => {
  const [call = '', answer = ''] = await readmeBlocks();
  const command = call.replace('http://127.0.0.1:8080', stack.chatUrl);

  const { stdout } = await shell('bash', ['-c', command], {
    env: {
      ...process.env,
      RECAP_TOKEN: unsignedToken({ uid: 'reader', projectId: stack.projectId, now: new Date() }),
    },
  });

  expect(eventTypes(answer).length).toBeGreaterThan(3);
  for (const type of eventTypes(answer)) expect(eventTypes(stdout)).toContain(type);
  expect(stdout).toContain('"delta":"Noted."');
  expect(stdout.trimEnd().endsWith('data: [DONE]')).toBe(true);
});

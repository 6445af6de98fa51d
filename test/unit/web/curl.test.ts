import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { toCurl } from '#web/panes/wire/curl.ts';

const sent = {
  method: 'POST',
  url: 'http://127.0.0.1:1/v1/x?q=a%20b&c=1',
  accept: 'text/event-stream',
  body: '{"text":"It\'s $HOME and `id` and \\"this\\""}',
};

/** What a shell makes of a command, instead of running it. */
const argumentsOf = (command: string): string[] =>
  execFileSync('bash', ['-c', `RECAP_TOKEN=a.b.c; curl() { printf '%s\\0' "$@"; }; ${command}`])
    .toString()
    .split('\0')
    .slice(0, -1);

test('a shell runs the copied curl command as the same request', () => {
  expect(argumentsOf(toCurl(sent))).toEqual([
    '-sN',
    '-X',
    'POST',
    sent.url,
    '-H',
    'Authorization: Bearer a.b.c',
    '-H',
    'Accept: text/event-stream',
    '-H',
    'Content-Type: application/json',
    '-d',
    sent.body,
  ]);
});

test('the copied curl command of a request without a body has no body or type', () => {
  const command = toCurl({ ...sent, method: 'GET', body: undefined });

  expect(command).not.toMatch(/-d |Content-Type/);
});

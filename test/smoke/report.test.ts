import { expect, test } from 'vitest';
import { smokeReport, type SmokeRun } from '#infra/smoke/report.ts';
import type { StepResult } from '#infra/smoke/run-steps.ts';

const url = 'https://recap-chat-123456789012.europe-west1.run.app';

const run = (changes: Partial<SmokeRun> = {}): SmokeRun => ({
  url,
  startedAt: new Date('2026-11-27T08:09:10.000Z'),
  version: '0.1.0',
  git: { commit: 'abc1234', changed: [] },
  platform: 'v24.21.0, linux x64',
  secrets: [],
  ...changes,
});

const ok = (name: string, note: string): StepResult => ({
  name,
  outcome: 'ok',
  durationMs: 12,
  note,
});

const failure = (came: string): StepResult => ({
  name: 'send',
  outcome: 'failed',
  durationMs: 345,
  tried: `POST ${url}/v1/conversations`,
  came,
  remedy: 'Set `GEMINI_API_KEY`.',
});

const skipped: StepResult = { name: 'fill', outcome: 'skipped', durationMs: 0, note: 'needs send' };

test('the smoke report lists each step with result, duration, reason and remedy, versions and time', () => {
  const git = { commit: 'abc1234', changed: ['terraform/secret-plan.tf'] };
  const came = 'HTTP 502: a | b\n`c` @someone <img src=x>';

  const report = smokeReport([ok('health', 'fine'), failure(came), skipped], run({ git }));

  expect(report).toContain('### Smoke check of Recap: failed (1 ok, 1 failed, 1 not run)');
  expect(report).toContain('| health | ok | 12 ms | `fine` |  |');
  // What a server said stays in its cell, mentions nobody and is no HTML.
  expect(report).toContain(
    "| send | **failed** | 345 ms | `POST https://recap-chat-[project].europe-west1.run.app/v1/conversations: HTTP 502: a \\| b 'c' @someone <img src=x>` | Set `GEMINI_API_KEY`. |",
  );
  expect(report).toContain('| fill | not run |  | `needs send` |  |');
  expect(report).toContain('commit abc1234, with changes that are not committed; Node v24.21.0');
  expect(report).not.toContain('secret-plan');
  expect(report).toContain('Started: 2026-11-27T08:09:10.000Z');
});

test.each([
  ['a given token', 'refused my-token', 'refused [secret]'],
  ['an ID token', 'got eyJhbGci.eyJzdWIi.c2ln', 'got [token]'],
  ['an access token', 'got ya29.a0Af_x', 'got [token]'],
  ['a web API key', `key AIza${'x'.repeat(35)} expired`, 'key [key] expired'],
  ['an e-mail', 'no access for jo.doe@example.com', 'no access for [e-mail]'],
  ['a number of a project', 'unused in project 123456789012 before', 'in project [project]'],
])('the report masks %s', (_, came, shown) => {
  const report = smokeReport([failure(came)], run({ secrets: ['my-token'] }));

  expect(report).toContain(shown);
});

test.each([
  [url, 'https://recap-chat-[project].europe-west1.run.app'],
  ['https://acme-prod.web.app', 'https://[project].web.app'],
  ['https://chat.acme.example', 'https://[host]'],
  ['https://jo:word@chat.acme.example:8443/v1', 'https://[host]/v1'],
])('the report shows the address %s as %s', (given, shown) => {
  const report = smokeReport([ok('health', given)], run({ url: given }));

  expect(report).toContain(`| \`${shown}\` |`);
  expect(report).toContain(`Address: \`${shown}\``);
});

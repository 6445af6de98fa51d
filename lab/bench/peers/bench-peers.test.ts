import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { countDocuments } from './count-documents.ts';
import { peerFolder, peerNames, peerPackages } from './install-peer.ts';
import { replyTo } from './peer-host.ts';
import { shortReason } from './short-reason.ts';
import { pastMessages } from './turn-peer.ts';
import { turnNote } from './turn-note.ts';
import manifest from '../../../package.json' with { type: 'json' };

describe.each(peerNames)('the packages of %s', (peer) => {
  test('are asked for in one version each, and by no package of ours', async () => {
    const packages = await peerPackages(peer);

    expect(packages.length).toBeGreaterThan(0);
    for (const each of packages) expect(each).toMatch(/^\S+ \d+\.\d+\.\d+$/u);
    const ours = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(packages.filter((each) => ours.includes(each.split(' ', 1)[0] ?? ''))).toEqual([]);
  });

  test('are locked by no file, which would name a registry', async () => {
    expect(await readdir(peerFolder(peer))).not.toContain('package-lock.json');
  });
});

describe('a process of a peer', () => {
  const works = {
    double: (argument: string) => Promise.resolve({ ms: Number(argument) * 2 }),
    fail: () => Promise.reject(new Error('8 RESOURCE_EXHAUSTED\n    at somewhere')),
  };

  test('answers an order with what was measured', async () => {
    expect(await replyTo({ work: 'double', argument: '2' }, works)).toEqual({
      kind: 'done',
      figures: { ms: 4 },
    });
  });

  test('answers a failure with its first line', async () => {
    expect(await replyTo({ work: 'fail', argument: '' }, works)).toEqual({
      kind: 'failed',
      reason: '8 RESOURCE_EXHAUSTED',
    });
  });

  test.each([{ work: 'sing', argument: '' }, 'double'])('refuses %j', async (order) => {
    expect(await replyTo(order, works)).toMatchObject({ kind: 'failed' });
  });
});

test('a long reason is cut to what fits in a table', () => {
  expect(shortReason(new Error('x'.repeat(500)))).toMatch(/^x{159}…$/u);
});

test('documents are counted by name, by write and by what a query finds, at least one', async () => {
  const asked: string[] = [];
  const client = {
    request: (method: string) => Promise.resolve(void asked.push(method)),
    requestStream: (method: string) => void asked.push(method),
  };
  const { found, documents } = countDocuments(client);

  await Promise.all([
    Reflect.apply(client.request, client, ['commit', { writes: [{}, {}, {}] }, 'tag']),
    Reflect.apply(client.request, client, ['beginTransaction', {}, 'tag']),
  ]);
  Reflect.apply(client.requestStream, client, [
    'batchGetDocuments',
    false,
    { documents: ['a', 'b'] },
  ]);
  found(0);

  expect(documents()).toEqual({ reads: 3, writes: 3 });
  expect(asked).toEqual(['commit', 'beginTransaction', 'batchGetDocuments']);
});

test.each([
  [{ ms: 1, reads: 3, writes: 6, bytes: 6_336 }, '3 documents read, 6 written, 6 kB'],
  [
    { ms: 1, reads: 4, writes: 8, bytes: 259_000, summaryMs: 15_563.6 },
    '4 documents read, 8 written, 259 kB; the turn that summarised took 15,564 ms',
  ],
  [{ ms: 1 }, 'a local file'],
  [undefined, 'not measured'],
])('the note of %j', (turn, note) => {
  expect(turnNote(turn)).toBe(note);
});

test('past messages are questions and answers in turns', () => {
  expect(
    pastMessages(3)
      .map(({ role }) => role)
      .join(' '),
  ).toBe('user model user model user model');
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { localVariables } from '#infra/ops/local-variables.ts';
import { openProject, requireCredentials } from '#infra/ops/project.ts';
import { noteStack, runningStacks, type StackNote } from '#infra/local/stack/stack-notes.ts';
import { createScreen } from '#infra/ops/screen.ts';

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'recap-ops-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

const stack = (port: number, variables: Record<string, string> = emulated): StackNote => ({
  processId: port,
  chatUrl: `http://127.0.0.1:${port}`,
  variables,
});
const emulated = {
  GOOGLE_CLOUD_PROJECT: 'demo-recap',
  FIRESTORE_EMULATOR_HOST: '127.0.0.1:1',
};

describe('the stacks on this machine', () => {
  test('ops lists the stacks on this machine until they stop', () => {
    const place = { directory: directory() };
    const { chatUrl, variables } = stack(8080);
    const forget = noteStack({ chatUrl, variables }, { ...place, processId: process.pid });

    expect(runningStacks(place)).toEqual([{ processId: process.pid, chatUrl, variables }]);
    forget();
    expect(runningStacks(place)).toEqual([]);
  });

  test('ops ignores killed stacks and unreadable notes', () => {
    const place = { directory: directory() };
    // No process of this number can be: it is above what Linux and macOS give.
    noteStack(stack(8080), { ...place, processId: 99_999_999 });
    writeFileSync(join(place.directory, 'torn.json'), '{"chatUrl":');

    expect(runningStacks(place)).toEqual([]);
  });

  test('ops takes the variables of the only stack', () => {
    expect(localVariables([stack(8080)])).toEqual(emulated);
  });

  test.each([
    { why: 'none runs', stacks: [], told: 'npm start' },
    { why: 'several run', stacks: [stack(8080), stack(8090)], told: '127.0.0.1:8090' },
    { why: 'its store is in memory', stacks: [stack(8080, {})], told: 'without --embedded' },
  ])('ops reports the remedy where $why', ({ stacks, told }) => {
    expect(() => localVariables(stacks)).toThrow(told);
  });
});

const open = (options: Parameters<typeof openProject>[0], environment = {}) =>
  openProject(options, {
    environment,
    setVariable: () => undefined,
    note: () => undefined,
    requireCredentials: () => Promise.resolve(),
  });

test('ops says how to sign in where nobody is', async () => {
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', join(directory(), 'missing.json'));
  onTestFinished(() => void vi.unstubAllEnvs());

  await expect(requireCredentials()).rejects.toThrow('gcloud auth application-default login');
});

describe('the project', () => {
  test('ops requires a project', async () => {
    await expect(open({})).rejects.toThrow('--project');
    await expect(open({ project: 'p', envFile: '/nowhere/at-all' })).rejects.toThrow('--env-file');
  });

  test('ops takes the variables of the functions from a file', async () => {
    const file = join(directory(), 'variables');
    writeFileSync(file, `THRESHOLD_TOKENS=4321\n`);

    await using project = await open({ project: 'some-project', envFile: file });

    expect(project.chat.config).toMatchObject({
      GOOGLE_CLOUD_PROJECT: 'some-project',
      THRESHOLD_TOKENS: 4321,
    });
  });
});

describe('progress', () => {
  const screenAt = (isTerminal: boolean) => {
    let err = '';
    let nowMs = 0;
    const screen = createScreen({
      out: () => undefined,
      err: (text) => (err += text),
      isTerminal,
      nowMs: () => nowMs,
    });
    return { screen, told: () => err, pass: (ms: number) => (nowMs += ms) };
  };

  test('ops reports progress every few seconds without a terminal', () => {
    const { screen, told, pass } = screenAt(false);
    for (const text of ['one', 'two', 'three']) {
      screen.progress(text);
      pass(3_000);
    }

    expect(told()).toBe('three\n');
  });

  test('ops draws progress in place on a terminal and clears it before a result', () => {
    const { screen, told } = screenAt(true);
    screen.progress('one');
    screen.print('result');

    expect(told()).toBe('\r\u001B[2Kone\r\u001B[2K');
  });
});

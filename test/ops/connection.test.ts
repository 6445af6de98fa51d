import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { localVariables } from '#infra/ops/local-variables.ts';
import { openProject, requireCredentials } from '#infra/ops/project.ts';
import { noteStack, runningStacks, type StackNote } from '#infra/local/stack/stack-notes.ts';

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

test('ops lists the stacks on this machine until they stop, and no killed ones or broken notes', () => {
  const place = { directory: directory() };
  const { chatUrl, variables } = stack(8080);
  // No process of this number can be: it is above what Linux and macOS give.
  noteStack(stack(8090), { ...place, processId: 99_999_999 });
  writeFileSync(join(place.directory, 'torn.json'), '{"chatUrl":');

  const forget = noteStack({ chatUrl, variables }, { ...place, processId: process.pid });

  expect(runningStacks(place)).toEqual([{ processId: process.pid, chatUrl, variables }]);
  forget();
  expect(runningStacks(place)).toEqual([]);
});

test.each([
  { why: 'none runs', stacks: [], told: 'npm start' },
  { why: 'several run', stacks: [stack(8080), stack(8090)], told: '127.0.0.1:8090' },
  { why: 'its store is in memory', stacks: [stack(8080, {})], told: 'without --embedded' },
])('ops reports the remedy where $why', ({ stacks, told }) => {
  expect(() => localVariables(stacks)).toThrow(told);
});

const open = (options: Parameters<typeof openProject>[0]) =>
  openProject(options, {
    environment: {},
    setVariable: () => undefined,
    note: () => undefined,
    requireCredentials: () => Promise.resolve(),
  });

test('ops says how to sign in where nobody is', async () => {
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', join(directory(), 'missing.json'));
  onTestFinished(() => void vi.unstubAllEnvs());

  await expect(requireCredentials()).rejects.toThrow('gcloud auth application-default login');
});

test('ops needs a project, and takes the variables of the functions from a file', async () => {
  const envFile = join(directory(), 'variables');
  writeFileSync(envFile, `THRESHOLD_TOKENS=4321\n`);

  await using project = await open({ project: 'some-project', envFile });

  expect(project.chat.config).toMatchObject({
    GOOGLE_CLOUD_PROJECT: 'some-project',
    THRESHOLD_TOKENS: 4321,
  });
  await expect(open({})).rejects.toThrow('--project');
  await expect(open({ project: 'p', envFile: '/nowhere/at-all' })).rejects.toThrow('--env-file');
});

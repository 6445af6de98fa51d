import { describe, expect, test } from 'vitest';
import { localConfig } from '#infra/local/local-config.ts';
import { chooseModel, stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import type { StackEvent } from '#infra/local/stack/stack-event.ts';
import { createStartConsole, parseStartArguments } from '#infra/local/start-console.ts';
import { startSweepSchedule } from '#infra/local/sweep-schedule.ts';
import { eventually } from '../support/eventually.ts';

/** What the console shows of events, those before `settle` and those after it. */
function shown(before: StackEvent[], after: StackEvent[], isVerbose = false): string {
  let text = '';
  const { log, settle } = createStartConsole({ write: (more) => (text += more), isVerbose });
  before.forEach(log);
  settle();
  after.forEach(log);
  return text;
}

const request = JSON.stringify({ severity: 'INFO', event: 'request', status: 200 });

test.each<[string, StackEvent, RegExp]>([
  [
    'a part that is ready, with its time',
    { kind: 'ready', part: 'chat', title: 'chat function', tookMs: 1_234 },
    /^ {2}✓ chat function +1,234 ms\n$/,
  ],
  [
    'the port used instead of a taken one',
    { kind: 'port-taken', part: 'chat', wantedPort: 8_080, usedPort: 8_083 },
    /^ {2}port 8080 is taken: chat uses 8083\n$/,
  ],
  [
    'that the embedded store ended with its process',
    { kind: 'restarted', part: 'functions', tookMs: 900 },
    /^✓ functions is back after 900 ms\. What was stored went with the process: conversations begin anew\.\n$/,
  ],
  [
    'the last lines of a crashed part, without requests that went well',
    { kind: 'crashed', part: 'chat', exit: 'SIGKILL', lastLines: [request, 'a', 'b'] },
    /^✗ chat crashed \(SIGKILL\) and starts again\. Its last lines:\n {6}a\n {6}b\n$/,
  ],
])('the npm start console shows %s', (_, event, expected) => {
  expect(shown([], [event])).toMatch(expected);
});

const warning = {
  severity: 'WARNING',
  event: 'tool_called',
  tool: 'a_tool_with_a_name_that_is_longer_than_thirty_six_characters',
  error: 'TypeError',
  stack:
    'at run (file:///app/index.ts:12:7) | at f (file:///app/node_modules/recap/x.js:1:1) | at process (node:internal:1:1)',
};

test('the npm start console cuts nothing of what warns, and shows where in the app an error comes from', () => {
  const text = shown([], [{ kind: 'line', part: 'chat', line: JSON.stringify(warning) }]);

  expect(text).toContain(`tool=${warning.tool} error=TypeError\n`);
  expect(text.split('\n').filter((line) => /^ +at /.test(line))).toEqual([
    expect.stringMatching(/^ +at run \(file:\/\/\/app\/index\.ts:12:7\)$/),
  ]);
});

test('the npm start console tells once what ends chat and compaction alike', () => {
  const failed = (part: 'chat' | 'compaction') =>
    ({ kind: 'failed', part, problem: `${part} ended: exit code 1\n    Error: mine` }) as const;

  const text = shown([], [failed('chat'), failed('compaction'), failed('compaction')]);

  expect(text.match(/Error: mine/g)).toHaveLength(2);
  expect(text).toContain('compaction ended: exit code 1, as above');
});

test.each([
  ['--port', '65534'],
  ['--port', 'x'],
  ['--prt', '1'],
  ['--claims', '[]'],
])('npm start refuses %s %s and names the flag', (flag, value) => {
  expect(() => parseStartArguments([flag, value])).toThrow(flag);
});

describe('the environment of the local functions', () => {
  const fakeGemini = {
    model: { kind: 'fake-gemini' },
    fakeGeminiUrl: 'http://127.0.0.1:1',
  } as const;

  test('the local stack never passes on the shell’s credentials or project', () => {
    const shell = {
      GOOGLE_CLOUD_PROJECT: 'my-production',
      GOOGLE_APPLICATION_CREDENTIALS: '/key.json',
      FIRESTORE_EMULATOR_HOST: 'elsewhere:1',
      GOOGLE_API_KEY: 'secret',
    };
    const settings = { MAX_PART_BYTES: '900000' };

    const environment = stackEnvironment({ shell, ...fakeGemini, settings });

    expect(environment).toMatchObject({
      GOOGLE_CLOUD_PROJECT: 'demo-recap',
      MAX_PART_BYTES: '900000',
    });
    expect(localConfig(environment)).toMatchObject({
      allowUnsignedIdTokens: true,
      allowUnsignedPush: true,
    });
    for (const taken of ['/key.json', 'elsewhere:1', 'secret'])
      expect(Object.values(environment)).not.toContain(taken);
  });

  test('the local stack uses the shell’s API key, Vertex AI where the shell chooses it, else the fake Gemini', () => {
    const shell = {
      GOOGLE_GENAI_USE_VERTEXAI: 'true',
      GOOGLE_CLOUD_PROJECT: 'mine',
      GOOGLE_CLOUD_LOCATION: 'europe-west1',
    };

    expect(chooseModel({ GEMINI_API_KEY: 'k' })).toEqual({ kind: 'gemini', apiKey: 'k' });
    expect(localConfig(stackEnvironment({ shell, model: chooseModel(shell) }))).toMatchObject({
      GOOGLE_CLOUD_PROJECT: 'demo-recap',
      VERTEX_PROJECT: 'mine',
      VERTEX_LOCATION: 'europe-west1',
    });
    expect(chooseModel({ GEMINI_API_KEY: '', GOOGLE_GENAI_USE_VERTEXAI: 'true' })).toEqual({
      kind: 'fake-gemini',
    });
  });
});

test('the sweep schedule publishes until it is stopped, whatever earlier publishes gave', async () => {
  const failures: unknown[] = [];
  let published = 0;
  const schedule = startSweepSchedule({
    everySeconds: 0.005,
    publish: () => {
      published += 1;
      return published === 1 ? Promise.reject(new Error('away')) : Promise.resolve();
    },
    onFailure: (error) => failures.push(error),
  });

  await eventually('three sweeps', async () => (published >= 3 ? true : undefined));
  await schedule.stop();

  const atStop = published;
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(published).toBe(atStop);
  expect(failures).toEqual([new Error('away')]);
});
